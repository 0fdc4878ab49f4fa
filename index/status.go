package index

import (
	"context"
	"strconv"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// Status says what the database holds and how it is kept.
func (x *Index) Status(ctx context.Context) (Status, error) {
	var s Status
	err := x.retrying(ctx, func(db *migrations.DB) error {
		s = Status{}
		if db == nil {
			return nil
		}
		s.Path, s.Journal, s.ReadOnly = x.home.IndexDB(), string(db.Journal()), db.ReadOnly()
		for _, name := range []string{s.Path, s.Path + "-wal"} {
			if info, err := x.fsys.Lstat(name); err == nil {
				s.Size += info.Size
			}
		}
		return s.ask(ctx, db)
	})
	s.Notes = x.Notes()
	return s, err
}

func (s *Status) ask(ctx context.Context, db *migrations.DB) error {
	var err error
	if s.Schema, err = db.Version(ctx); err != nil {
		return err
	}
	var meta []struct {
		Name  string `db:"name"`
		Value string `db:"value"`
	}
	if err := db.SelectContext(ctx, &meta, `SELECT name, value FROM meta`); err != nil {
		return err
	}
	for _, m := range meta {
		n, err := strconv.ParseInt(m.Value, 10, 64)
		switch {
		case err != nil:
		case m.Name == "extract":
			s.Extract = int(n)
		case m.Name == "built":
			s.Built = time.UnixMilli(n).UTC()
		}
	}
	row := db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(state = 'ok' AND child = 0), 0), coalesce(sum(state = 'ok' AND child = 1), 0),
		       coalesce(sum(state NOT IN ('ok', 'empty')), 0), coalesce(sum(state = 'empty'), 0), coalesce(sum(size), 0), coalesce(sum(entries), 0)
		FROM sessions`)
	if err := row.Scan(&s.Files, &s.Sessions, &s.Children, &s.Damaged, &s.Empty, &s.FileBytes, &s.Entries); err != nil {
		return err
	}
	row = db.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM prompts), (SELECT count(*) FROM labels), (SELECT count(*) FROM usage)`)
	return row.Scan(&s.Prompts, &s.Labels, &s.Usage)
}
