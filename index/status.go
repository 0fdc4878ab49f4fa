package index

import (
	"context"
	"errors"
	"fmt"
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
			return x.statusOfFiles(ctx, &s)
		}
		s.Path, s.Journal, s.ReadOnly = x.home.IndexDB(), string(db.Journal()), db.ReadOnly()
		for _, name := range []string{s.Path, s.Path + "-wal"} {
			if info, err := x.fsys.Lstat(name); err == nil {
				s.Size += info.Size
			}
		}
		if x.unstored().sessions() {
			return errors.Join(s.askMeta(ctx, db), x.statusOfFiles(ctx, &s))
		}
		hidden, err := x.sourceKeys(ctx, db)
		if err != nil {
			return err
		}
		return errors.Join(s.askMeta(ctx, db), s.ask(ctx, db, hidden))
	})
	if err != nil && ctx.Err() == nil {
		x.note("index can't be read now (" + reasonOf(err) + "): sessions are read from the files")
		s = Status{}
		err = x.statusOfFiles(ctx, &s)
	}
	s.Notes, s.Watcher = x.Notes(), x.watchedBy()
	return s, err
}

// statusOfFiles counts what the database doesn't hold, or not as it is now.
func (x *Index) statusOfFiles(ctx context.Context, s *Status) error {
	w, err := x.walk(ctx)
	if err != nil {
		return fmt.Errorf("list %s: %w", x.root(), inWords(err))
	}
	*s = Status{Path: s.Path, Journal: s.Journal, ReadOnly: s.ReadOnly, Schema: s.Schema, Extract: s.Extract, Built: s.Built, Size: s.Size}
	all, err := x.look(ctx, w, (&pending{walk: w, all: true}).files())
	hidden, err2 := x.hiddenSources(ctx, nil)
	if err == nil {
		err = err2
	}
	i := 0
	for _, scope := range w.scopes {
		for j := range scope.files {
			if err == nil && !all[i].gone {
				m, ok := hidden[w.path(scope.name, scope.files[j].name)]
				s.count(&scope.files[j], &all[i], ok && all[i].id == m.ID)
			}
			i++
		}
	}
	if err != nil || x.dir != "" {
		return err
	}
	n, err := x.historyCount(ctx)
	s.Prompts += n
	return err
}

func (s *Status) count(f *diskFile, k *looked, hidden bool) {
	s.Files++
	s.FileBytes += k.info.Size
	s.Entries += int64(k.entries)
	s.Prompts += int64(k.prompts)
	s.Labels += int64(k.labels)
	s.Usage += int64(k.usage)
	s.Estimated = s.Estimated || !k.whole
	switch {
	case k.state == StateEmpty:
		s.Empty++
	case k.state != StateOK:
		s.Damaged++
	case f.child():
		s.Children++
	case hidden:
		s.Hidden++
	default:
		s.Sessions++
	}
}

func (s *Status) askMeta(ctx context.Context, db *migrations.DB) error {
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
	return nil
}

func (s *Status) ask(ctx context.Context, db *migrations.DB, hidden []int64) error {
	s.Hidden = len(hidden)
	row := db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(state = 'ok' AND child = 0 AND key NOT IN (SELECT value FROM json_each(?))), 0), coalesce(sum(state = 'ok' AND child = 1), 0),
		       coalesce(sum(state NOT IN ('ok', 'empty')), 0), coalesce(sum(state = 'empty'), 0), coalesce(sum(size), 0), coalesce(sum(entries), 0)
		FROM sessions`, jsonList(append([]int64{}, hidden...)))
	if err := row.Scan(&s.Files, &s.Sessions, &s.Children, &s.Damaged, &s.Empty, &s.FileBytes, &s.Entries); err != nil {
		return err
	}
	row = db.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM prompts), (SELECT count(*) FROM labels), (SELECT count(*) FROM usage)`)
	return row.Scan(&s.Prompts, &s.Labels, &s.Usage)
}
