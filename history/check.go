package history

import (
	"context"
	"fmt"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// Check reports whether the full-text table agrees with the prompts, by FTS5's
// own test; it reads all of both. The plain integrity check of SQLite can't see
// this. The store must be writable.
func (s *Store) Check(ctx context.Context) (inStep bool, err error) {
	if s.readOnly != nil {
		return false, fmt.Errorf("check history: %w", s.readOnly)
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error { return checkText(ctx, tx) })
	if migrations.OutOfStep(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check history: %w", plain(err))
	}
	return true, nil
}

func checkText(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO history_fts(history_fts, rank) VALUES('integrity-check', 1)`)
	return err
}

// Heal rebuilds the full-text table if Check finds it out of step, and reports
// whether it did.
func (s *Store) Heal(ctx context.Context) (rebuilt bool, err error) {
	inStep, err := s.Check(ctx)
	if err != nil || inStep {
		return false, err
	}
	return true, s.Rebuild(ctx)
}

// Rebuild makes the full-text table again from the prompts. No prompt is
// touched.
func (s *Store) Rebuild(ctx context.Context) error {
	if s.readOnly != nil {
		return fmt.Errorf("rebuild history search: %w", s.readOnly)
	}
	err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, rebuildText)
		return err
	})
	if migrations.Damaged(err) {
		// Its own records are bad: make it anew.
		err = s.db.Write(ctx, func(tx *sqlx.Tx) error { return remakeText(ctx, tx) })
	}
	if err != nil {
		return fmt.Errorf("rebuild history search: %w", plain(err))
	}
	return nil
}

// remakeText drops the full-text table and makes it again.
func remakeText(ctx context.Context, tx *sqlx.Tx) error {
	for _, sql := range []string{`DROP TABLE IF EXISTS history_fts`, createText, rebuildText} {
		if _, err := tx.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// catchUp rebuilds the full-text table when the newest prompt is not in it: some
// program added rows without the trigger. That costs nothing to see; the rest is
// Heal's.
func (s *Store) catchUp(ctx context.Context) error {
	var behind bool
	err := s.db.GetContext(ctx, &behind, `
		SELECT coalesce((SELECT max(id) FROM history), 0) > coalesce((SELECT max(id) FROM history_fts_docsize), 0)`)
	if err == nil && !behind {
		return nil
	}
	return s.Rebuild(ctx)
}
