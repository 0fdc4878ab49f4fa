package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// WatchKind says what a WatchEvent is about.
type WatchKind string

// The kinds of events.
const (
	WatchSession WatchKind = "session"
	WatchPrompt  WatchKind = "prompt"
	WatchLabel   WatchKind = "label"
)

// SessionAction is what became of a session's file.
type SessionAction string

// The actions of an event of the kind session.
const (
	SessionAdded   SessionAction = "added"
	SessionChanged SessionAction = "changed"
	SessionRemoved SessionAction = "removed"
)

// WatchEvent is one change that the index holds. What a session held before it
// was watched is not told.
type WatchEvent struct {
	Kind   WatchKind
	Action SessionAction // of a session
	ID     string        // of the session; "" if its file has no header
	Path   string        // of its file
	Cwd    string
	Title  string // of a session
	Damage string // of a session: why it can't be read; "" if it can
	Child  bool   // it lies in another session's own directory
	Entry  string // of a prompt its id; of a label the entry that has it
	Text   string // of a prompt or label; an empty label is one that was taken away
	// Time is that of the entry; of a session the last change of its file,
	// and when it was seen that it is gone.
	Time time.Time
}

// fileAt is a session file: its scope and its name there.
type fileAt struct{ scope, name string }

// seenFile is what was told of a file.
type seenFile struct {
	info storage.Info
	last int // seq of the last entry that was told; -1: none
	id   string
	cwd  string
}

// compare notes which files of a scope are not as they were.
func (w *watcher) compare(before, now *diskScope) {
	there := map[string]bool{}
	for i := range now.files {
		there[now.files[i].name] = true
		w.compareFile(now.name, &now.files[i])
	}
	for i := range before.files {
		if name := before.files[i].name; !there[name] {
			w.changed[fileAt{before.name, name}] = SessionRemoved
		}
	}
}

// compareAll notes which files of all scopes are not as they were. A scope
// that can't be listed says nothing about its files.
func (w *watcher) compareAll(now *walk) {
	there := map[fileAt]bool{}
	for i := range now.scopes {
		s := &now.scopes[i]
		for j := range s.files {
			there[fileAt{s.name, s.files[j].name}] = true
			w.compareFile(s.name, &s.files[j])
		}
	}
	for at := range w.seen {
		if _, failed := now.failed[at.scope]; !there[at] && !failed {
			w.changed[at] = SessionRemoved
		}
	}
}

func (w *watcher) compareFile(scope string, f *diskFile) {
	at := fileAt{scope, f.name}
	had := w.seen[at]
	switch {
	case had == nil:
		w.seen[at] = &seenFile{info: f.info, last: -1}
		w.changed[at] = SessionAdded
	case had.info != f.info:
		had.info = f.info
		if w.changed[at] != SessionAdded {
			w.changed[at] = SessionChanged
		}
	case w.changed[at] == SessionRemoved:
		w.changed[at] = SessionChanged
	}
}

// tell tells what changed, now that the database holds it. The first time what
// is there is no news.
func (w *watcher) tell(ctx context.Context) error {
	if !w.begun {
		w.begun = true
		clear(w.changed)
		return w.x.retrying(ctx, func(db *migrations.DB) error { return w.known(ctx, db) })
	}
	all := slices.SortedFunc(maps.Keys(w.changed), func(a, b fileAt) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.name, b.name))
	})
	for _, at := range all {
		var events []WatchEvent
		err := w.x.retrying(ctx, func(db *migrations.DB) (err error) {
			events, err = w.eventsOf(ctx, db, at, w.changed[at])
			return err
		})
		if err != nil {
			return err
		}
		delete(w.changed, at)
		for _, e := range events {
			if w.opt.Told != nil {
				w.opt.Told(e)
			}
		}
	}
	return nil
}

// known reads how much of each file is no news.
func (w *watcher) known(ctx context.Context, db *migrations.DB) error {
	if db == nil {
		return nil
	}
	var rows []struct {
		Scope string `db:"scope"`
		Name  string `db:"name"`
		ID    string `db:"id"`
		Cwd   string `db:"cwd"`
		Last  int    `db:"last"`
	}
	err := db.SelectContext(ctx, &rows, `
		SELECT c.name AS scope, s.name, coalesce(s.id, '') AS id, coalesce(s.cwd, '') AS cwd,
			coalesce((SELECT max(seq) FROM entries WHERE session = s.key), -1) AS last
		FROM sessions s JOIN scopes c ON c.id = s.scope`)
	for _, r := range rows {
		if had := w.seen[fileAt{r.Scope, r.Name}]; had != nil {
			had.last, had.id, had.cwd = r.Last, r.ID, r.Cwd
		}
	}
	return err
}

// watchedRow is what is told of a session.
type watchedRow struct {
	Key    int64  `db:"key"`
	ID     string `db:"id"`
	Cwd    string `db:"cwd"`
	Title  string `db:"title"`
	State  State  `db:"state"`
	Reason string `db:"reason"`
	Child  bool   `db:"child"`
	Last   int    `db:"last"`
}

// eventsOf are the events of one file.
func (w *watcher) eventsOf(ctx context.Context, db *migrations.DB, at fileAt, action SessionAction) ([]WatchEvent, error) {
	had := w.seen[at]
	if had == nil {
		return nil, nil
	}
	told := WatchEvent{Kind: WatchSession, Action: action, ID: had.id, Cwd: had.cwd, Path: w.x.fileAt(at.scope, at.name), Time: w.x.opt.Now()}
	if action == SessionRemoved {
		delete(w.seen, at)
		return []WatchEvent{told}, nil
	}
	if db == nil {
		return nil, nil
	}
	var row watchedRow
	err := db.GetContext(ctx, &row, `
		SELECT s.key, coalesce(s.id, '') AS id, coalesce(s.cwd, '') AS cwd, coalesce(s.title, '') AS title, s.state,
			coalesce(s.reason, '') AS reason, s.child, coalesce((SELECT max(seq) FROM entries WHERE session = s.key), -1) AS last
		FROM sessions s JOIN scopes c ON c.id = s.scope WHERE c.name = ? AND s.name = ?`, at.scope, at.name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // it has gone again, which a notice tells
	}
	if err != nil {
		return nil, err
	}
	told.ID, told.Cwd, told.Title, told.Child = row.ID, row.Cwd, row.Title, row.Child
	told.Time = time.Unix(0, had.info.ModTime)
	if row.State != StateOK && row.State != StateEmpty {
		told.Damage = string(row.State)
		if row.Reason != "" {
			told.Damage += ": " + row.Reason
		}
	}
	events := []WatchEvent{told}
	if row.Last > had.last {
		more, err := newsOf(ctx, db, &row, had.last, told)
		if err != nil {
			return nil, err
		}
		events = append(events, more...)
	}
	had.last, had.id, had.cwd = row.Last, row.ID, row.Cwd
	return events, nil
}

// newsOf are the prompts and labels of the entries after the one numbered last.
func newsOf(ctx context.Context, db *migrations.DB, row *watchedRow, last int, like WatchEvent) ([]WatchEvent, error) {
	var news []struct {
		Seq   int           `db:"seq"`
		Kind  WatchKind     `db:"kind"`
		Entry string        `db:"entry"`
		Text  string        `db:"text"`
		Time  sql.NullInt64 `db:"time_ms"`
	}
	err := db.SelectContext(ctx, &news, `
		SELECT e.seq, 'prompt' AS kind, p.entry, t.text, e.time_ms
		FROM prompts p JOIN prompt_texts t ON t.key = p.text_at JOIN entries e ON e.session = p.session AND e.id = p.entry
		WHERE p.session = ?1 AND e.session = ?1 AND e.seq > ?2
		UNION ALL
		SELECT l.seq, 'label', l.target, coalesce(l.label, ''), e.time_ms
		FROM labels l JOIN entries e ON e.session = l.session AND e.seq = l.seq
		WHERE l.session = ?1 AND l.seq > ?2
		ORDER BY 1`, row.Key, last)
	if err != nil {
		return nil, err
	}
	var events []WatchEvent
	for _, n := range news {
		e := WatchEvent{Kind: n.Kind, ID: like.ID, Path: like.Path, Cwd: like.Cwd, Child: like.Child, Entry: n.Entry, Text: n.Text}
		if n.Time.Valid {
			e.Time = time.UnixMilli(n.Time.Int64)
		}
		events = append(events, e)
	}
	return events, nil
}
