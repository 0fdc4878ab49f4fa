package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// buildCache is how much SQLite keeps in memory during a build, in KiB.
const buildCache = 16 << 10

// Rebuild reads every file again and replaces all rows in one transaction, in
// place; others read the old rows until it ends. Another process that is
// writing is waited for, at most the busy timeout. Errors are those of ctx, of
// listing the sessions directory and of a database that can't be written:
// storage.ErrLocked if another process is at it.
func (x *Index) Rebuild(ctx context.Context) (Report, error) {
	rep, start := Report{}, x.opt.Now()
	w, err := x.walk(ctx)
	if err != nil {
		return rep, fmt.Errorf("list %s: %w", x.root(), inWords(err))
	}
	err = x.retrying(ctx, func(db *migrations.DB) error {
		rep = Report{}
		if db == nil || db.ReadOnly() {
			rep.NoIndex = true
			x.setPending(&pending{walk: w, all: true})
			return x.unwritable()
		}
		if err := x.build(ctx, db, w, true, &rep); err != nil {
			return err
		}
		x.setPending(nil)
		if err := x.findSources(ctx, db, w); err != nil {
			return err
		}
		return x.addFailures(ctx, db, w, &rep)
	})
	if err != nil {
		return rep, fmt.Errorf("build index: %w", err)
	}
	x.finishReport(&rep, w)
	rep.History = x.lostHistory()
	rep.Elapsed = x.opt.Now().Sub(start)
	return rep, nil
}

// build replaces all rows in one transaction. Unless forced, errBuilt if
// another process has built it while this one waited.
func (x *Index) build(ctx context.Context, db *migrations.DB, w *walk, forced bool, rep *Report) error {
	write := db.Write
	if !forced {
		write = func(ctx context.Context, fn func(tx *sqlx.Tx) error) error { return x.writeSoon(ctx, db, fn) }
	}
	err := write(ctx, func(tx *sqlx.Tx) error {
		if !forced {
			if done, _, err := built(ctx, tx); err != nil || done {
				return cmp.Or(err, errBuilt)
			}
		}
		return x.fill(ctx, tx, w, rep)
	})
	if err != nil {
		return err
	}
	// What can't be moved out of the log now will be by another.
	if _, err := db.Checkpoint(ctx); err != nil && !migrations.Busy(err) {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

const (
	buildPatience = time.Second           // how long another builder is waited for
	buildAgain    = 20 * time.Millisecond // and how often it is looked for
)

// writeSoon is db.Write for a build that another process may be at already. A
// small home is built within a moment, which is worth waiting for; a large one
// is better read from the files.
func (x *Index) writeSoon(ctx context.Context, db *migrations.DB, fn func(tx *sqlx.Tx) error) error {
	patience := time.After(min(x.opt.BusyTimeout, buildPatience))
	for {
		began := false
		err := db.TryWrite(ctx, func(tx *sqlx.Tx) error {
			began = true
			return fn(tx)
		})
		if began || !migrations.Busy(err) {
			return err
		}
		select {
		case <-time.After(buildAgain):
		case <-patience:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fill makes all rows anew.
func (x *Index) fill(ctx context.Context, tx *sqlx.Tx, w *walk, rep *Report) (err error) {
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA cache_size = -%d`, buildCache)); err != nil {
		return err
	}
	defer func() {
		_, err2 := tx.ExecContext(context.WithoutCancel(ctx), `PRAGMA cache_size = -2000`)
		err = errors.Join(err, err2)
	}()
	for _, table := range append(tablesOfSessions[:], "sessions", "scopes") {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table); err != nil {
			return err
		}
	}
	out, err := x.newWriter(ctx, tx, true)
	if err != nil {
		return err
	}
	if err := out.prompts.Clear(tx); err != nil {
		return err
	}
	u := &updating{x: x, plan: everything(w), rep: rep, touched: map[int]bool{}}
	u.digests = make([]digest, len(u.plan.scopes))
	for i := range u.plan.scopes {
		if err := u.open(ctx, tx, i); err != nil {
			return err
		}
	}
	progress := Progress{TotalFiles: w.files, TotalBytes: w.bytes}
	if x.opt.Progress != nil { // the first file may be huge
		x.opt.Progress(progress)
	}
	err = x.pipe(ctx, nil, u.plan.jobs, func(o *outcome) error {
		u.sum(o)
		u.count(o)
		progress.Files++
		progress.Bytes += o.file.info.Size
		if x.opt.Progress != nil {
			x.opt.Progress(progress)
		}
		return out.put(o, u.plan.scopes[o.scope].id)
	})
	if err != nil {
		return err
	}
	if u.plan.history, err = x.wholeHistory(ctx); err != nil {
		return err
	}
	if err := u.close(ctx, tx, out); err != nil {
		return err
	}
	if err := x.seal(ctx, tx); err != nil {
		return err
	}
	return out.flush()
}

// seal says in the database that it is built.
func (x *Index) seal(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO meta (name, value) VALUES ('generation', '1')
		ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)`)
	if err != nil {
		return err
	}
	if err := setMeta(ctx, tx, "extract", extractVersion); err != nil {
		return err
	}
	return setMeta(ctx, tx, "built", x.opt.Now().UnixMilli())
}

// everything is the plan that reads all files of the walk.
func everything(w *walk) *plan {
	p := &plan{jobs: make([]job, 0, w.files)}
	for i := range w.scopes {
		s := &w.scopes[i]
		p.scopes = append(p.scopes, plannedScope{name: s.name, dev: s.dev, jobs: len(s.files)})
		slices.SortFunc(s.files, func(a, b diskFile) int { return cmp.Compare(a.name, b.name) })
		for _, f := range s.files {
			p.jobs = append(p.jobs, job{why: isNew, scope: i, file: f, path: w.path(s.name, f.name)})
		}
	}
	return p
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
