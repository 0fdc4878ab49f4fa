package index

import (
	"context"
	"errors"

	"github.com/gajae-code/gjc-index/migrations"
)

// maxTries bounds how often an operation that finds damage is tried.
const maxTries = 3

// retrying runs an operation; if it finds the database damaged, that is set
// aside and the operation runs again on a fresh one. Errors are in plain words.
func (x *Index) retrying(ctx context.Context, fn func(db *migrations.DB) error) error {
	for try := 1; ; try++ {
		op, err := x.begin(ctx)
		if err != nil {
			return err
		}
		err = fn(op.db)
		ruined := err != nil && op.db != nil && x.ruined(ctx, op.db, err)
		op.done()
		if !ruined || ctx.Err() != nil || try == maxTries {
			return inWords(err)
		}
		x.spoiled(ctx)
	}
}

// ruined reports whether an error says that the database must be made anew: its
// bytes are bad, or its tables are not those that it should have.
func (x *Index) ruined(ctx context.Context, db *migrations.DB, err error) bool {
	if migrations.Damaged(err) || errors.Is(err, migrations.ErrSchema) {
		return true
	}
	if !migrations.BadStatement(err) {
		return false
	}
	bad := db.CheckSchema(ctx)
	return errors.Is(bad, migrations.ErrSchema) || migrations.Damaged(bad)
}
