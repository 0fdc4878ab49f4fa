package index

import (
	"context"

	"github.com/gajae-code/gjc-index/migrations"
)

// Search finds what was typed: see SearchPrompts. ErrNoIndex if there is no
// database to ask; then the texts must be looked for in the files.
func (x *Index) Search(ctx context.Context, q Query, f SearchFilter, limit int) ([]Hit, error) {
	var hits []Hit
	err := x.retrying(ctx, func(db *migrations.DB) (err error) {
		if db == nil {
			return ErrNoIndex
		}
		hits, err = SearchPrompts(ctx, db.DB, x.home.Sessions(), q, f, limit)
		return err
	})
	return hits, err
}
