package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session"
)

// LabelFilter selects labels of all sessions. The zero LabelFilter is all that
// are in force.
type LabelFilter struct {
	Label   string    // exactly this text; "" is any
	Path    string    // of this session file alone
	Project string    // of the sessions of this project
	Since   time.Time // given at this time or later
	Limit   int       // 0 is no limit
}

// Labelled is a label in force and the entry that bears it.
type Labelled struct {
	Row   Row
	Entry string // the id of the entry that bears it
	Label string
	Given time.Time // when the label was given; zero if the file doesn't say

	seq int // the entry's place; -1: it is not in the transcript
}

// AllLabels are the labels in force of all sessions, the last given first, and
// how many there are without the limit. A label whose entry is in neither the
// transcript nor its archive is left out.
func (x *Index) AllLabels(ctx context.Context, f LabelFilter) ([]Labelled, int, error) {
	all, err := x.allLabels(ctx, f)
	if err != nil {
		return nil, 0, fmt.Errorf("list labels: %w", inWords(err))
	}
	slices.SortStableFunc(all, func(a, b Labelled) int {
		return cmp.Or(b.Given.Compare(a.Given), cmp.Compare(a.Row.Path, b.Row.Path))
	})
	total := len(all)
	if f.Limit > 0 {
		all = all[:min(f.Limit, total)]
	}
	return all, total, nil
}

func (x *Index) allLabels(ctx context.Context, f LabelFilter) ([]Labelled, error) {
	rows, err := x.labelSessions(ctx, f)
	if err != nil {
		return nil, err
	}
	var all []Labelled
	err = x.retrying(ctx, func(db *migrations.DB) (err error) {
		if all, err = x.storedAllLabels(ctx, db, rows); err != nil {
			return err
		}
		more, err := x.unstoredLabels(ctx, db, rows)
		all = append(all, more...)
		return err
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(l Labelled) bool {
		return f.Label != "" && l.Label != f.Label || !f.Since.IsZero() && l.Given.Before(f.Since)
	})
	return x.withTargets(ctx, all)
}

// labelSessions are the sessions that the filter leaves, by path.
func (x *Index) labelSessions(ctx context.Context, f LabelFilter) (map[string]Row, error) {
	list, _, err := x.Sessions(ctx, Filter{Project: f.Project, Children: true})
	if err != nil {
		return nil, err
	}
	rows := map[string]Row{}
	for row, err := range list {
		if err != nil {
			return nil, err
		}
		if f.Path == "" || row.Path == f.Path {
			rows[row.Path] = row
		}
	}
	return rows, nil
}

func (x *Index) storedAllLabels(ctx context.Context, db *migrations.DB, rows map[string]Row) ([]Labelled, error) {
	p := x.unstored()
	if db == nil || p != nil && p.all {
		return nil, nil
	}
	var stored []struct {
		Scope  string         `db:"scope"`
		Name   string         `db:"name"`
		Target string         `db:"target"`
		Label  sql.NullString `db:"label"`
		Given  sql.NullInt64  `db:"time_ms"`
		Seq    int            `db:"seq"`
	}
	err := db.SelectContext(ctx, &stored, `
		SELECT c.name AS scope, s.name, l.target, l.label, e.time_ms,
		       coalesce((SELECT max(t.seq) FROM entries t WHERE t.session = l.session AND t.id = l.target), -1) AS seq
		FROM labels l JOIN sessions s ON s.key = l.session JOIN scopes c ON c.id = s.scope
		LEFT JOIN entries e ON e.session = l.session AND e.seq = l.seq
		WHERE l.current = 1 AND l.label <> '' ORDER BY l.session, l.seq`)
	if err != nil {
		return nil, err
	}
	var all []Labelled
	for _, l := range stored {
		path := x.fileAt(l.Scope, l.Name)
		if row, ok := rows[path]; ok && !p.isStale(path) {
			all = append(all, Labelled{Row: row, Entry: l.Target, Label: l.Label.String, Given: timeAt(fromNull(l.Given)), seq: l.Seq})
		}
	}
	return all, nil
}

// unstoredLabels are those of the files that the database doesn't hold.
func (x *Index) unstoredLabels(ctx context.Context, db *migrations.DB, rows map[string]Row) ([]Labelled, error) {
	var all []Labelled
	err := x.eachUnstored(ctx, db, func(path string, r *reading) {
		row, ok := rows[path]
		if !ok || len(r.labels) == 0 {
			return
		}
		at := map[string]int{}
		for i := range r.rows.len() {
			if e := r.rows.at(i); e.hasID {
				at[e.id] = i
			}
		}
		for _, l := range r.labels {
			if l.overtaken || l.label == "" {
				continue
			}
			out := Labelled{Row: row, Entry: l.target, Label: l.label, Given: timeAt(r.rows.at(l.seq).time), seq: -1}
			if seq, ok := at[l.target]; ok {
				out.seq = seq
			}
			all = append(all, out)
		}
	})
	return all, err
}

// eachUnstored reads the session files that the database doesn't hold as they
// are, whole. A reading holds only until fn returns.
func (x *Index) eachUnstored(ctx context.Context, db *migrations.DB, fn func(path string, r *reading)) error {
	p := x.unstored()
	if db == nil && (p == nil || !p.all) {
		p = &pending{all: true}
		var err error
		if p.walk, err = x.walk(ctx); err != nil {
			return err
		}
	}
	files := p.files()
	jobs := make([]job, len(files))
	for i, f := range files {
		jobs[i] = job{why: isNew, scope: i, file: f.file, path: p.walk.path(f.scope, f.file.name)}
	}
	return x.pipe(ctx, nil, jobs, func(o *outcome) error {
		if o.reading != nil && o.reading.state == StateOK {
			fn(o.path, o.reading)
		}
		return nil
	})
}

// withTargets leaves out the labels of entries that are nowhere. What was
// archived still has its labels.
func (x *Index) withTargets(ctx context.Context, all []Labelled) ([]Labelled, error) {
	archived := map[string]map[string]bool{} // by path: the ids in its archive
	var failed error
	all = slices.DeleteFunc(all, func(l Labelled) bool {
		if l.seq >= 0 || failed != nil {
			return false
		}
		ids, ok := archived[l.Row.Path]
		if !ok {
			ids, failed = x.archivedIDs(ctx, l.Row.Path)
			archived[l.Row.Path] = ids
		}
		return !ids[l.Entry]
	})
	return all, failed
}

// archivedIDs are the ids of all entries of a session that has an archive. One
// that can't be read has none, as everywhere in the index.
func (x *Index) archivedIDs(ctx context.Context, path string) (map[string]bool, error) {
	if _, err := x.fsys.Lstat(session.ArchivePath(path)); err != nil {
		return nil, ctx.Err()
	}
	t, err := x.sessions().Whole(ctx, path)
	if err != nil {
		return nil, ctx.Err()
	}
	ids := map[string]bool{}
	for _, e := range t.Entries() {
		if id, ok := e.ID(); ok {
			ids[id] = true
		}
	}
	return ids, nil
}

// sessions is a store to read whole sessions with.
func (x *Index) sessions() *session.Store {
	return session.NewStore(x.fsys, session.Options{Home: x.home})
}

// LabelledEntry is the entry that bears a label. fs.ErrNotExist if it has gone
// since.
func (x *Index) LabelledEntry(ctx context.Context, l Labelled) (*jsonl.Entry, error) {
	if l.seq >= 0 {
		o, err := x.Record(ctx, l.Row.Path, l.seq)
		if err == nil && o.Get("id").Str() == l.Entry {
			return jsonl.NewEntry(o), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	t, err := x.sessions().Whole(ctx, l.Row.Path)
	if err != nil {
		return nil, fmt.Errorf("read labelled entry: %w", err)
	}
	t.Upgrade(nil)
	if e := t.Tree(false).Entry(l.Entry); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("entry %s of %s: %w", l.Entry, l.Row.Path, fs.ErrNotExist)
}
