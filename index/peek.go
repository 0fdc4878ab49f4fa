package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// peekBusy is how long a Peek waits for another process.
const peekBusy = 20 * time.Millisecond

// Peek looks into the database as it is, for what must be answered at once and
// may be behind, such as a shell's completion. It refreshes, migrates and locks
// nothing and leaves the home as it finds it. Close it.
type Peek struct {
	fsys storage.FS
	home scope.Home
	db   *migrations.DB
}

// OpenPeek opens the database of a home. fs.ErrNotExist if there is none.
func OpenPeek(ctx context.Context, fsys storage.FS, home scope.Home) (*Peek, error) {
	db, err := migrations.Open(ctx, fsys, home.IndexDB(), migrations.Index, migrations.Options{ReadOnly: true, BusyTimeout: peekBusy})
	if err != nil {
		return nil, fmt.Errorf("look into the index: %w", err)
	}
	return &Peek{fsys, home, db}, nil
}

// Close gives the database back.
func (p *Peek) Close() error { return p.db.Close() }

// Sessions are those whose id begins with prefix, whatever its case, the last
// active first, at most limit; children and damaged files are left out. Of each
// row only ID, Path, Title, FirstPrompt and Active are set.
func (p *Peek) Sessions(ctx context.Context, prefix string, limit int) ([]Row, error) {
	query := `
		SELECT s.id, c.name, s.name, s.title, substr(s.first_prompt, 1, 200), s.active_ms
		FROM sessions s JOIN scopes c ON c.id = s.scope
		WHERE s.child = 0 AND s.state = 'ok' AND s.id IS NOT NULL ORDER BY s.last_ms DESC, s.mtime_ns DESC LIMIT ?`
	args := []any{limit}
	if prefix != "" {
		query = strings.Replace(query, "ORDER BY", "AND s.id COLLATE NOCASE >= ? AND s.id COLLATE NOCASE < ? ORDER BY", 1)
		args = []any{prefix, prefix + "\U0010ffff", limit}
	}
	found, err := p.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("look for sessions: %w", err)
	}
	defer func() { _ = found.Close() }()
	var rows []Row
	seen := map[string]bool{} // a source and its copy have one id
	for found.Next() {
		var id, scopeName, name string
		var title, prompt sql.NullString
		var active int64
		if err := found.Scan(&id, &scopeName, &name, &title, &prompt, &active); err != nil {
			return nil, fmt.Errorf("look for sessions: %w", err)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		rows = append(rows, Row{ID: id, Path: filepath.Join(p.home.Sessions(), scopeName, filepath.FromSlash(name)), Title: title.String,
			HasTitle: title.Valid, FirstPrompt: prompt.String, Active: time.UnixMilli(active).UTC()})
	}
	return rows, found.Err()
}

// recentSessions is among how many sessions working directories are looked for.
const recentSessions = 2000

// Cwds are the working directories of the sessions that were active last, the
// last used first.
func (p *Peek) Cwds(ctx context.Context, limit int) ([]string, error) {
	return p.texts(ctx, `
		SELECT cwd FROM (
			SELECT cwd, last_ms FROM sessions WHERE child = 0 AND state = 'ok' ORDER BY last_ms DESC, mtime_ns DESC LIMIT ?)
		WHERE cwd <> '' GROUP BY cwd ORDER BY max(last_ms) DESC LIMIT ?`, recentSessions, limit)
}

// Labels are the labels in force, the most frequent first.
func (p *Peek) Labels(ctx context.Context, limit int) ([]string, error) {
	return p.texts(ctx, `
		SELECT label FROM labels WHERE current = 1 AND label <> '' GROUP BY label ORDER BY count(*) DESC, label LIMIT ?`, limit)
}

func (p *Peek) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	var list []string
	if err := p.db.SelectContext(ctx, &list, query, args...); err != nil {
		return nil, fmt.Errorf("look into the index: %w", err)
	}
	return list, nil
}

// Session is the one session that ref, an id or the beginning of one, means.
// fs.ErrNotExist if there is none, or several.
func (p *Peek) Session(ctx context.Context, ref string) (Row, error) {
	rows, err := p.Sessions(ctx, ref, 2)
	if err != nil {
		return Row{}, err
	}
	for _, r := range rows {
		if len(rows) == 1 || r.ID == ref {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("session %s: %w", ref, fs.ErrNotExist)
}

// Entries are the entries of a session whose ids begin with prefix, the last
// first, at most limit, as of when the file was indexed. labelled leaves only
// those that bear a label.
func (p *Peek) Entries(ctx context.Context, path, prefix string, labelled bool, limit int) ([]EntryRow, error) {
	x := &Index{home: p.home}
	at, err := x.place(ctx, p.db, path)
	if err != nil {
		return nil, err
	}
	query := `
		SELECT seq, id, parent, parent_seq, type, role, time_ms, line, offset, size FROM entries
		WHERE session = ? AND id IS NOT NULL AND substr(id, 1, length(?)) = ? ORDER BY seq DESC LIMIT ?`
	if labelled {
		query = strings.Replace(query, "ORDER BY", "AND id IN (SELECT target FROM labels WHERE session = entries.session AND current = 1 AND label <> '') ORDER BY", 1)
	}
	found, err := p.db.QueryContext(ctx, query, at.Key, prefix, prefix, limit)
	if err != nil {
		return nil, fmt.Errorf("look for entries: %w", err)
	}
	defer func() { _ = found.Close() }()
	var rows []EntryRow
	for found.Next() {
		e, err := scanEntry(found)
		if err != nil {
			return nil, fmt.Errorf("look for entries: %w", err)
		}
		rows = append(rows, e)
	}
	return rows, errors.Join(found.Err(), ctx.Err())
}
