package index

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// TouchedRow is a session that is proven to have changed a file, or files
// below a directory.
type TouchedRow struct {
	Row   Row
	Files []jsonl.EffectPath // as the session names them
}

// Touched is what Touched found. Failed are archives that could not be read:
// what they prove is not known.
type Touched struct {
	Sessions []TouchedRow
	Failed   []Failure
}

// Touched finds the sessions whose tool results, archived ones too, prove that
// they changed the file at path, or anything below it, the last active first.
// Relative paths of a session lie in its workspace. It answers as of the last
// Refresh; what that could not store is read from the files.
func (x *Index) Touched(ctx context.Context, path string) (Touched, error) {
	var found Touched
	var files map[string][]jsonl.EffectPath // by session file
	err := x.retrying(ctx, func(db *migrations.DB) (err error) {
		found = Touched{}
		files, found.Failed, err = x.touching(ctx, db, within{filepath.Clean(path)})
		return err
	})
	if err != nil {
		return Touched{}, fmt.Errorf("find what changed a file: %w", err)
	}
	if len(files) == 0 {
		return found, nil
	}
	rows, _, err := x.Sessions(ctx, Filter{Children: true})
	if err != nil {
		return Touched{}, err
	}
	for row, err := range rows {
		if err != nil {
			return Touched{}, err
		}
		if paths := files[row.Path]; len(paths) > 0 {
			found.Sessions = append(found.Sessions, TouchedRow{Row: row, Files: paths})
		}
	}
	return found, nil
}

// within is a file or directory, absolute and clean.
type within struct{ path string }

// covers reports whether a file is the one meant, or below it.
func (w within) covers(file string) bool {
	return file == w.path || strings.HasPrefix(file, w.below())
}

// below is what the names of files below it begin with.
func (w within) below() string {
	const end = string(filepath.Separator)
	return strings.TrimSuffix(w.path, end) + end
}

// touching is what the database and the files that it doesn't hold say.
func (x *Index) touching(ctx context.Context, db *migrations.DB, w within) (map[string][]jsonl.EffectPath, []Failure, error) {
	p := x.unstored()
	files := map[string][]jsonl.EffectPath{}
	var failed []Failure
	var err error
	if db != nil && (p == nil || !p.all) {
		if err := x.storedTouching(ctx, db, w, p, files); err != nil {
			return nil, nil, err
		}
		failed, err = x.failedArchives(ctx, db, p)
	} else {
		p = &pending{all: true}
		p.walk, err = x.walk(ctx)
	}
	if err == nil && p.sessions() {
		var more []Failure
		more, err = x.pendingTouching(ctx, p, w, files)
		failed = append(failed, more...)
	}
	return files, failed, err
}

func (x *Index) storedTouching(ctx context.Context, db *migrations.DB, w within, p *pending, files map[string][]jsonl.EffectPath) error {
	below := w.below()
	after := below[:len(below)-1] + string(below[len(below)-1]+1)
	rows, err := db.QueryContext(ctx, `
		SELECT c.name, s.name, t.path, t.creates, t.writes, t.edits, t.deletes, t.renames, t.first, t.last
		FROM (SELECT session, seq FROM touched WHERE file = ? UNION ALL SELECT session, seq FROM touched WHERE file >= ? AND file < ?) f
		JOIN touched t ON t.session = f.session AND t.seq = f.seq
		JOIN sessions s ON s.key = t.session JOIN scopes c ON c.id = s.scope ORDER BY t.session, t.seq`, w.path, below, after)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var scope, name string
		var e jsonl.EffectPath
		if err := rows.Scan(&scope, &name, &e.Path, &e.Ops.Create, &e.Ops.Write, &e.Ops.Edit, &e.Ops.Delete, &e.Ops.Rename, &e.First, &e.Last); err != nil {
			return err
		}
		if path := x.fileAt(scope, name); !p.isStale(path) {
			files[path] = append(files[path], e)
		}
	}
	return rows.Err()
}

// failedArchives are the archives of which nothing is in.
func (x *Index) failedArchives(ctx context.Context, db *migrations.DB, p *pending) ([]Failure, error) {
	var rows []struct {
		Scope   string `db:"scope"`
		Session string `db:"session"`
		Name    string `db:"name"`
		Reason  string `db:"reason"`
	}
	err := db.SelectContext(ctx, &rows, `
		SELECT c.name AS scope, s.name AS session, a.name, a.reason FROM archives a
		JOIN sessions s ON s.key = a.session JOIN scopes c ON c.id = s.scope
		WHERE a.reason IS NOT NULL ORDER BY c.name, a.name`)
	var failed []Failure
	for _, r := range rows {
		if !p.isStale(x.fileAt(r.Scope, r.Session)) {
			failed = append(failed, Failure{Path: x.fileAt(r.Scope, r.Name), Reason: r.Reason})
		}
	}
	return failed, err
}

// pendingTouching reads the files that are not in the database.
func (x *Index) pendingTouching(ctx context.Context, p *pending, w within, files map[string][]jsonl.EffectPath) ([]Failure, error) {
	pending := p.files()
	jobs := make([]job, len(pending))
	for i, f := range pending {
		jobs[i] = job{why: isNew, scope: i, file: f.file, path: p.walk.path(f.scope, f.file.name)}
	}
	var failed []Failure
	err := x.pipe(ctx, nil, jobs, func(o *outcome) error {
		if o.reading == nil || o.reading.state != StateOK {
			return nil
		}
		if paths := w.of(o.reading.cwd, o.reading.effects); len(paths) > 0 {
			files[o.path] = paths
		}
		for _, a := range o.reading.archives {
			if a.Reason != "" {
				failed = append(failed, Failure{Path: x.fileAt(pending[o.scope].scope, a.Name), Reason: a.Reason})
			}
		}
		return nil
	})
	return failed, err
}

// of are the effects on files that are meant.
func (w within) of(cwd string, effects []checkpoint.Effect) []jsonl.EffectPath {
	var paths []jsonl.EffectPath
	for _, e := range effects {
		if w.covers(session.EffectFile(cwd, e.Path)) {
			paths = append(paths, e.EffectPath)
		}
	}
	return paths
}
