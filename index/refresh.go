package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

const (
	// batchFiles and batchBytes bound what one transaction of a refresh holds.
	batchFiles = 256
	batchBytes = 16 << 20
	// maxReplans bounds how often a refresh begins again because another
	// process was faster.
	maxReplans = 4
)

var (
	// errOldWalk says that a file has come since the walk which another process
	// has indexed already: its rows must not go.
	errOldWalk = errors.New("files have come since they were listed")
	// errReplan says that another process has written since the plan was made.
	errReplan = errors.New("index was written by another process")
	// errBuilt says that another process has finished the build.
	errBuilt = errors.New("index was built by another process")
)

// Refresh brings the database up to what is on disk: changed files only, all of
// them the first time. If another process is writing it doesn't wait, unless
// nothing was ever built; Report.Busy says so. Errors are those of ctx and of
// listing the sessions directory.
//
// With Options.Watched a watcher of the home is asked first. If it promises
// that the database holds all that happened before the question, that is all.
func (x *Index) Refresh(ctx context.Context) (Report, error) {
	start := x.opt.Now()
	if rep, ok := x.vouched(ctx); ok {
		rep.Elapsed = x.opt.Now().Sub(start)
		return rep, nil
	}
	w, err := x.walk(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("list %s: %w", x.root(), inWords(err))
	}
	rep, err := x.refreshTo(ctx, w)
	rep.Elapsed = x.opt.Now().Sub(start)
	return rep, err
}

// refreshTo brings the database up to what a walk has found.
func (x *Index) refreshTo(ctx context.Context, w *walk) (rep Report, err error) {
	x.looks.reset()
	x.forgetHistory()
	err = x.retrying(ctx, func(db *migrations.DB) error {
		for {
			rep = Report{}
			if err := x.findSources(ctx, db, w); err != nil {
				return err
			}
			err := x.refresh(ctx, db, w, &rep)
			if !errors.Is(err, errOldWalk) {
				return err
			}
			again, err := x.walk(ctx)
			if err != nil {
				return err
			}
			*w, w.again = *again, true
		}
	})
	if err != nil && ctx.Err() == nil {
		x.note("index can't be used now (" + reasonOf(err) + "): sessions are read from the files")
		rep = Report{NoIndex: true, Unwritten: err}
		x.setPending(&pending{walk: w, all: true})
		err = nil
	}
	x.finishReport(&rep, w)
	rep.History = x.lostHistory()
	return rep, err
}

func (x *Index) finishReport(rep *Report, w *walk) {
	rep.Files = w.files
	for _, scope := range sortedKeys(w.failed) {
		rep.Failed = append(rep.Failed, Failure{Path: w.path(scope, ""), Reason: w.failed[scope]})
	}
}

// refresh is one attempt on one database.
func (x *Index) refresh(ctx context.Context, db *migrations.DB, w *walk, rep *Report) error {
	if db == nil {
		rep.NoIndex, rep.Unwritten = true, x.unwritable()
		x.setPending(&pending{walk: w, all: true})
		return nil
	}
	for range maxReplans {
		done, old, err := built(ctx, db)
		if err != nil {
			return err
		}
		if done || old && db.ReadOnly() {
			err = x.update(ctx, db, w, rep)
			if strange(err) && !db.ReadOnly() && ctx.Err() == nil {
				// What its rows are like, only a build can tell.
				*rep = Report{}
				err = x.rebuildNow(ctx, db, w, rep)
			}
		} else {
			err = x.firstBuild(ctx, db, w, old, rep)
		}
		if !errors.Is(err, errReplan) && !errors.Is(err, errBuilt) {
			if err == nil {
				err = x.addFailures(ctx, db, w, rep)
			}
			return err
		}
	}
	rep.Busy = true
	return x.addFailures(ctx, db, w, rep)
}

// strange reports whether err is one that the rows themselves must have caused:
// rows that somebody else deleted or added.
func strange(err error) bool {
	return err != nil && !errors.Is(err, errReplan) && !errors.Is(err, errOldWalk) && !migrations.Busy(err) && !migrations.Damaged(err) &&
		!migrations.Unusable(err) && !migrations.Full(err)
}

func (x *Index) rebuildNow(ctx context.Context, db *migrations.DB, w *walk, rep *Report) error {
	err := x.build(ctx, db, w, true, rep)
	if err == nil {
		x.setPending(nil)
	}
	if migrations.Busy(err) {
		rep.Busy = true
		x.setPending(&pending{walk: w, all: true})
		return nil
	}
	return err
}

// firstBuild builds a database that nobody has built, or not by our rules. It
// waits a moment for another builder; if that takes longer, the answer comes
// from the files, as it does for whoever asks during the build.
func (x *Index) firstBuild(ctx context.Context, db *migrations.DB, w *walk, old bool, rep *Report) error {
	if db.ReadOnly() {
		rep.NoIndex, rep.Unwritten = true, x.unwritable()
		x.setPending(&pending{walk: w, all: true})
		return nil
	}
	if !old {
		x.setPending(&pending{walk: w, all: true})
	}
	err := x.build(ctx, db, w, false, rep)
	if err == nil {
		x.setPending(nil)
	}
	if migrations.Busy(err) {
		rep.Busy, rep.NoIndex = true, !old
		x.note("index is busy: another process is making it; until that is done sessions are read from the files")
		x.setPending(&pending{walk: w, all: true})
		if old { // its rows hold but for what changed
			p, err := makePlan(ctx, db, w)
			if err != nil {
				return err
			}
			x.setPending(pendingOf(w, p))
		}
		return nil
	}
	return err
}

// update carries out the difference between the walk and the database.
func (x *Index) update(ctx context.Context, db *migrations.DB, w *walk, rep *Report) error {
	p, err := makePlan(ctx, db, w)
	if err != nil {
		return err
	}
	if !w.again && slices.ContainsFunc(p.jobs, x.isBack) {
		return errOldWalk
	}
	if p.history, err = x.planHistory(ctx, db); err != nil {
		return err
	}
	rep.Same = p.same
	if p.empty() {
		x.setPending(nil)
		return nil
	}
	if db.ReadOnly() {
		rep.Unwritten = x.unwritable()
		x.setPending(pendingOf(w, p))
		return nil
	}
	u := &updating{x: x, db: db, plan: p, rep: rep, digests: make([]digest, len(p.scopes))}
	err = u.run(ctx)
	switch {
	case err == nil:
		x.setPending(nil)
	case migrations.Busy(err):
		// A file that only may have changed is no news: it is read, that is all.
		if p.history != nil || slices.ContainsFunc(p.jobs, func(j job) bool { return j.why != mayHave }) {
			rep.Busy = true
			x.note("index is busy: what changed since it was written is read from the files")
		}
		x.setPending(pendingOf(w, p))
		return nil
	case migrations.Full(err):
		rep.Unwritten = inWords(err)
		x.note(noteFull)
		x.setPending(pendingOf(w, p))
		return nil
	case errors.Is(err, errNoRows): // places can't be given without what is there
		x.setPending(pendingOf(w, p))
		return nil
	case errors.Is(err, errReplan):
		x.setPending(pendingOf(w, p)) // for when it was the last try
	}
	return err
}

// isBack reports a file that the walk did not meet and that is there now.
func (x *Index) isBack(j job) bool {
	if j.why != isGone || j.known == nil {
		return false
	}
	_, err := x.fsys.Lstat(j.path)
	return err == nil
}

// updating is a plan being carried out, in one transaction or several.
type updating struct {
	x       *Index
	db      *migrations.DB
	plan    *plan
	rep     *Report
	digests []digest
	batch   []*outcome
	bytes   int64
	touched map[int]bool // scopes whose digest was taken away
	done    int          // outcomes written
}

func (u *updating) run(ctx context.Context) error {
	readers := u.db
	if u.db.Journal() != migrations.WAL {
		readers = nil // a reader would wait for the writer that waits for it
	}
	u.touched = map[int]bool{}
	for i := range u.plan.scopes {
		for _, k := range u.plan.scopes[i].kept {
			u.digests[i].addFile(k.name, &k.info, k.rows(), u.plan.scopes[i].dev, k.refused)
		}
	}
	err := u.x.pipe(ctx, readers, u.plan.jobs, func(o *outcome) error {
		u.sum(o)
		u.batch = append(u.batch, o)
		if o.reading != nil {
			u.bytes += o.reading.weight()
		}
		if len(u.batch) < batchFiles && u.bytes < batchBytes {
			return nil
		}
		return u.write(ctx, false)
	})
	if err != nil {
		return err
	}
	return u.write(ctx, true)
}

// write puts the batch into the database in one transaction. In the last one
// the scopes get their digests.
func (u *updating) write(ctx context.Context, last bool) error {
	err := u.db.TryWrite(ctx, func(tx *sqlx.Tx) error {
		if err := bumpGeneration(ctx, tx, u.plan.generation); err != nil {
			return err
		}
		w, err := u.x.newWriter(ctx, tx, false)
		if err != nil {
			return err
		}
		for _, o := range u.batch {
			s := &u.plan.scopes[o.scope]
			if err := u.open(ctx, tx, o.scope); err != nil {
				return err
			}
			if err := w.put(o, s.id); err != nil {
				return err
			}
		}
		if last {
			if err := u.close(ctx, tx, w); err != nil {
				return err
			}
		}
		return w.flush()
	})
	if err != nil {
		return err
	}
	u.plan.generation++
	for _, o := range u.batch {
		u.count(o)
	}
	u.done += len(u.batch)
	u.batch, u.bytes = nil, 0
	return nil
}

// open makes sure that a scope has a row and no digest.
func (u *updating) open(ctx context.Context, tx *sqlx.Tx, at int) error {
	if u.touched[at] {
		return nil
	}
	u.touched[at] = true
	s := &u.plan.scopes[at]
	if s.id != 0 {
		_, err := tx.ExecContext(ctx, `UPDATE scopes SET digest = x'', dev = ? WHERE id = ?`, int64(s.dev), s.id)
		return err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO scopes (name, dev, files, digest) VALUES (?, ?, 0, x'')`, s.name, int64(s.dev))
	if err != nil {
		return err
	}
	s.id, err = res.LastInsertId()
	return err
}

// close writes what holds once all files of the plan are in.
func (u *updating) close(ctx context.Context, tx *sqlx.Tx, w *writer) error {
	if err := u.remount(ctx, tx); err != nil {
		return err
	}
	for i := range u.plan.scopes {
		s := &u.plan.scopes[i]
		if s.gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM scopes WHERE id = ?`, s.id); err != nil {
				return err
			}
			continue
		}
		if err := u.open(ctx, tx, i); err != nil {
			return err
		}
		if s.open {
			continue
		}
		if _, err := tx.ExecContext(ctx, `
			UPDATE scopes SET digest = ?, files = (SELECT count(*) FROM sessions WHERE scope = scopes.id) WHERE id = ?`,
			u.digests[i].bytes(), s.id); err != nil {
			return err
		}
	}
	if u.plan.history != nil {
		return u.plan.history.write(ctx, w, u.rep)
	}
	return nil
}

// sum puts an outcome's fingerprint into its scope's digest. A racy file keeps
// its scope open.
func (u *updating) sum(o *outcome) {
	s := &u.plan.scopes[o.scope]
	switch {
	case o.why == isGone:
	case o.still, o.racy != nil, o.racyArchives():
		s.open = true
	default:
		u.digests[o.scope].addFile(o.file.name, &o.info, o.archives(), s.dev, o.file.refused)
	}
}

// remount gives the devices their present numbers.
func (u *updating) remount(ctx context.Context, tx *sqlx.Tx) error {
	if len(u.plan.devices) == 0 {
		return nil
	}
	set, args := "CASE dev", []any{}
	for before, now := range u.plan.devices {
		set += " WHEN ? THEN ?"
		args = append(args, before, now)
	}
	for _, table := range []string{"scopes", "sessions", "archives"} {
		if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET dev = `+set+` ELSE dev END`, args...); err != nil {
			return err
		}
	}
	return nil
}

func (u *updating) count(o *outcome) {
	rep := u.rep
	if o.reading != nil {
		rep.Bytes += o.reading.bytes
	}
	switch {
	case o.clean:
		rep.Same++
	case o.why == isGone:
		if o.known != nil {
			rep.Removed++
		}
	case o.known == nil:
		rep.Added++
	default:
		rep.Changed++
	}
}

// bumpGeneration notes that the database is written; errReplan if another
// process has written it since want was read.
func bumpGeneration(ctx context.Context, tx *sqlx.Tx, want int64) error {
	var now int64
	err := tx.GetContext(ctx, &now, `SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'generation'), 0)`)
	if err != nil {
		return err
	}
	if now != want {
		return errReplan
	}
	return setMeta(ctx, tx, "generation", want+1)
}

func setMeta(ctx context.Context, tx *sqlx.Tx, name string, value any) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)`, name, fmt.Sprint(value))
	return err
}

// addFailures names the files that could not be read as sessions. One that
// holds nothing hides nothing and is no failure.
func (x *Index) addFailures(ctx context.Context, db *migrations.DB, w *walk, rep *Report) error {
	var rows []struct {
		Scope  string `db:"scope"`
		Name   string `db:"name"`
		Reason string `db:"reason"`
	}
	err := db.SelectContext(ctx, &rows, `
		SELECT c.name AS scope, s.name, coalesce(s.reason, '') AS reason
		FROM sessions s JOIN scopes c ON c.id = s.scope
		WHERE (s.state <> 'ok' OR s.malformed > 0) AND s.state NOT IN ('ok', 'empty') ORDER BY c.name, s.name`)
	p := x.unstored()
	for _, r := range rows {
		if path := w.path(r.Scope, r.Name); !p.isStale(path) {
			rep.Failed = append(rep.Failed, Failure{Path: path, Reason: r.Reason})
		}
	}
	if err != nil {
		return err
	}
	archives, err := x.failedArchives(ctx, db, p)
	rep.Failed = append(rep.Failed, archives...)
	return err
}
