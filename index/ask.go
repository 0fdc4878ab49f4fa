package index

import (
	"context"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// Role says whose texts a search looks at.
type Role string

// The roles of a search.
const (
	RoleUser      Role = "user" // what was typed: answered from the database
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleAny       Role = "any"
)

// SearchRequest is a question to Search. The zero value asks for the newest
// prompts, all of them.
type SearchRequest struct {
	Query        Query
	Role         Role   // "" is RoleUser
	Cwd, Project string // only from there; "" is anywhere
	Session      string // only in the session file of this path; "" is any
	Since, Until time.Time
	Limit        int // 0: all
}

// Found is what a search gave. Failed are files that could not be searched.
type Found struct {
	Hits   []Hit
	Failed []Failure
}

// Search finds texts by the search rule, the newest first, equal texts once.
// What was typed is answered from the database; other roles by reading the
// files that the request leaves.
func (x *Index) Search(ctx context.Context, r SearchRequest) (Found, error) {
	var found Found
	err := x.retrying(ctx, func(db *migrations.DB) error {
		if db == nil {
			return errNoIndex
		}
		hits, err := SearchPrompts(ctx, db.DB, x.home.Sessions(), r.Query, SearchFilter{Since: r.Since, Until: r.Until}, r.Limit)
		found.Hits = hits
		return err
	})
	return found, err
}
