package index

import (
	"context"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// SearchRequest is a question to Search. The zero value asks for the newest
// prompts, all of them.
type SearchRequest struct {
	Query        Query
	Role         Role     // "" is RoleUser
	Cwd, Project string   // only from there; "" is anywhere
	Session      string   // only in the session file of this path; "" is any
	Sources      []Source // of prompts; nil: any
	Since, Until time.Time
	Limit        int // 0: all
	// Repeats gives a prompt at each place where it was typed, not once; see
	// SearchFilter. What the database doesn't hold is given once all the same.
	Repeats bool
}

// wants reports whether prompts of that source are asked for.
func (r *SearchRequest) wants(s Source) bool {
	return r.Sources == nil || slices.Contains(r.Sources, s)
}

// Found is what a search gave. Failed are files that could not be searched.
type Found struct {
	Hits   []Hit
	Failed []Failure
}

// Search finds texts by the search rule, the newest first, equal texts once.
// What was typed is answered from the database, and from the files that are not
// in it; other roles by reading the files that the request leaves.
//
// A prompt that was deleted from history is not among what was typed, though a
// transcript may still hold it, unless it was typed again afterwards. Other
// roles, RoleAny too, are what the files say.
func (x *Index) Search(ctx context.Context, r SearchRequest) (Found, error) {
	if r.Role != "" && r.Role != RoleUser {
		return x.scanFiles(ctx, &r, nil, nil)
	}
	r.Role = RoleUser
	hidden, err := x.hidden(ctx)
	if err != nil {
		return Found{}, err
	}
	var found Found
	asked := false
	err = x.retrying(ctx, func(db *migrations.DB) error {
		if db == nil {
			return nil
		}
		f := SearchFilter{Since: r.Since, Until: r.Until, Sources: r.Sources, Repeats: r.Repeats, hidden: hidden}
		if r.Session != "" {
			p, err := x.place(ctx, db, r.Session)
			if err != nil {
				return err
			}
			f.SessionID = p.ID
		}
		if err := x.workspaces(ctx, db, &r, &f); err != nil {
			return err
		}
		hits, err := SearchPrompts(ctx, db.DB, x.root(), r.Query, f, r.Limit)
		found.Hits, asked = hits, err == nil
		return err
	})
	if err != nil {
		return found, err
	}
	p := x.unstored()
	switch {
	case !asked || p != nil && p.all:
		return x.searchUnindexed(ctx, &r, hidden)
	case p != nil && len(p.new) > 0 && r.wants(SourceSession):
		more, err := x.scanFiles(ctx, &r, p.names(), hidden)
		found.Hits = mergeHits(found.Hits, more.Hits, &r)
		found.Failed = more.Failed
		return found, err
	}
	return found, nil
}

// workspaces narrows a filter to the request's workspaces.
func (x *Index) workspaces(ctx context.Context, db *migrations.DB, r *SearchRequest, f *SearchFilter) error {
	if r.Cwd != "" {
		f.Cwds = []string{r.Cwd}
	}
	if r.Project == "" {
		return nil
	}
	all := f.Cwds
	if all == nil {
		if err := db.SelectContext(ctx, &all, `SELECT DISTINCT cwd FROM prompts`); err != nil {
			return err
		}
	}
	project := x.opt.Project(r.Project)
	f.Cwds = slices.DeleteFunc(append([]string{}, all...), func(cwd string) bool { return x.opt.Project(cwd) != project })
	return nil
}

// scanFiles searches the files that the request leaves; only those of some, if
// that is not nil.
func (x *Index) scanFiles(ctx context.Context, r *SearchRequest, some map[string]bool, hidden *hidden) (Found, error) {
	var found Found
	rows, _, err := x.Sessions(ctx, Filter{Cwd: r.Cwd, Project: r.Project, Children: true})
	if err != nil {
		return found, err
	}
	var files []ScanFile
	for row, err := range rows {
		if err != nil {
			return found, err
		}
		old := !r.Since.IsZero() && row.Modified.Before(r.Since) && row.Active.Before(r.Since)
		if old || r.Session != "" && row.Path != r.Session || some != nil && !some[row.Path] {
			continue
		}
		files = append(files, ScanFile{Path: row.Path, SessionID: row.ID, Cwd: row.Cwd})
	}
	opt := ScanOptions{Role: r.Role, Since: r.Since, Until: r.Until, Limit: r.Limit, MaxLine: x.opt.MaxLine, hidden: hidden}
	hits, failed, err := Scan(ctx, x.fsys, files, r.Query, opt)
	found.Hits = hits
	for _, f := range failed {
		found.Failed = append(found.Failed, Failure{Path: f.Path, Reason: reasonOf(f.Err)})
	}
	return found, err
}
