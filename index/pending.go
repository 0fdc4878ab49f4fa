package index

import (
	"context"
	"database/sql"
	"errors"

	"github.com/gajae-code/gjc-index/migrations"
)

// pending is what a refresh saw on disk and could not bring into the database:
// answers put it in from the files.
type pending struct {
	walk    *walk
	all     bool                   // nothing in the database holds
	new     []pendingFile          // new or changed: to be read from the disk
	stale   map[string]pendingFile // by path: what the database says of these doesn't hold
	history bool                   // nor what it says of history.db
}

type pendingFile struct {
	scope string
	file  diskFile
}

func pendingOf(w *walk, p *plan) *pending {
	out := &pending{walk: w, stale: map[string]pendingFile{}, history: p.history != nil}
	for i := range p.jobs {
		j := &p.jobs[i]
		f := pendingFile{p.scopes[j.scope].name, j.file}
		out.stale[j.path] = f
		if j.why != isGone {
			out.new = append(out.new, f)
		}
	}
	return out
}

// sessions reports whether what the database says of the session files is not
// all there is to say; false for nil.
func (p *pending) sessions() bool { return p != nil && (p.all || len(p.stale) > 0) }

// isStale reports whether the database can't speak for the file at path.
func (p *pending) isStale(path string) bool {
	if p == nil {
		return false
	}
	_, stale := p.stale[path]
	return p.all || stale
}

// files are those that have to be listed from the disk.
func (p *pending) files() []pendingFile {
	if p == nil || !p.all {
		if p == nil {
			return nil
		}
		return p.new
	}
	var all []pendingFile
	for i := range p.walk.scopes {
		s := &p.walk.scopes[i]
		for _, f := range s.files {
			all = append(all, pendingFile{s.name, f})
		}
	}
	return all
}

// keys are the sessions.key that the stale files have in the database now.
func (p *pending) keys(ctx context.Context, db *migrations.DB) ([]int64, error) {
	if p == nil {
		return []int64{}, nil
	}
	keys := []int64{}
	if p.history {
		keys = append(keys, historyFile)
	}
	for _, f := range p.stale {
		stmt, err := db.Prepared(ctx, `
			SELECT s.key FROM sessions s JOIN scopes c ON c.id = s.scope WHERE c.name = ? AND s.name = ?`)
		if err != nil {
			return nil, err
		}
		var key int64
		switch err := stmt.GetContext(ctx, &key, f.scope, f.file.name); {
		case err == nil:
			keys = append(keys, key)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
	}
	return keys, nil
}

// unanswered are the keys of all files that the database must not answer for:
// the stale ones, and those that are hidden.
func (x *Index) unanswered(ctx context.Context, db *migrations.DB, p *pending) ([]int64, error) {
	stale, err := p.keys(ctx, db)
	if err != nil {
		return nil, err
	}
	hidden, err := x.sourceKeys(ctx, db)
	return append(stale, hidden...), err
}

func (x *Index) setPending(p *pending) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	x.pending = p
}

func (x *Index) unstored() *pending {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	return x.pending
}

// names are the paths of the files that are not in the database.
func (p *pending) names() map[string]bool {
	names := map[string]bool{}
	for _, f := range p.files() {
		names[p.walk.path(f.scope, f.file.name)] = true
	}
	return names
}
