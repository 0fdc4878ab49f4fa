package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
)

// ContextOf is the context of a session at leaf ("": its last entry), as the
// JSON object of behaviour part 8, made by
// reading only the lines that decide it. strict leaves holes unbridged. A file
// that the index doesn't have as it is, is loaded whole. An unknown leaf is
// fs.ErrNotExist. Source: behaviour part 8, decisions 4 and 5.
func (x *Index) ContextOf(ctx context.Context, path, leaf string, strict bool) (jsonl.Value, error) {
	var c *jsonl.Context
	err := x.retrying(ctx, func(db *migrations.DB) (err error) {
		c, err = x.contextByLines(ctx, db, path, leaf, strict)
		return err
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, errNoLeaf) {
		c, err = x.contextWhole(ctx, path, leaf, strict)
	}
	if err != nil {
		return jsonl.Value{}, fmt.Errorf("context of %s: %w", path, err)
	}
	return c.Value(), nil
}

var errNoLeaf = fmt.Errorf("no entry with that id: %w", fs.ErrNotExist)

// contextWhole loads the file.
func (x *Index) contextWhole(ctx context.Context, path, leaf string, strict bool) (*jsonl.Context, error) {
	t, err := jsonl.Load(ctx, x.fsys, path, jsonl.LoadOptions{MaxLine: x.opt.MaxLine})
	if err != nil {
		return nil, err
	}
	t.Upgrade(nil)
	tree := t.Tree(!strict)
	at := jsonl.LeafLast()
	if leaf != "" {
		if at = jsonl.LeafAt(leaf); tree.LeafEntry(at) == nil {
			return nil, fmt.Errorf("leaf %s: %w", leaf, errNoLeaf)
		}
	}
	return jsonl.BuildContext(tree.Path(at)), nil
}

func (x *Index) contextByLines(ctx context.Context, db *migrations.DB, path, leaf string, strict bool) (*jsonl.Context, error) {
	p, err := x.place(ctx, db, path)
	if err != nil {
		return nil, err
	}
	lines, err := x.openLines(path, &p)
	if err != nil {
		return nil, err
	}
	defer lines.close()
	w := &pathWalk{ctx: ctx, db: db, key: p.Key, lines: lines}
	if err := w.walk(leaf, p.Entries-1, !strict); err != nil {
		return nil, err
	}
	list, err := w.needed()
	if err != nil {
		return nil, err
	}
	facts := make([]jsonl.PathEntry, len(list))
	for i := range list {
		o, err := lines.record(&list[i])
		if err != nil {
			return nil, err
		}
		facts[i] = jsonl.PathEntry{Type: list[i].Type, ID: list[i].ID, Role: list[i].Role, Value: o}
		if list[i].Type == "compaction" {
			facts[i].FirstKept = o.Get("firstKeptEntryId").Str()
		}
	}
	return jsonl.BuildContextOf(facts), nil
}

// span is a piece of a path: entries that follow each other in the file, each
// the parent of the next.
type span struct{ from, to int }

// pathWalk finds the path to a leaf, piece by piece, without reading each of
// its entries.
type pathWalk struct {
	ctx   context.Context
	db    *migrations.DB
	key   int64
	lines *lines
	spans []span // from the root to the leaf
}

// walk follows parents from the leaf to a root, or to an entry met before.
func (w *pathWalk) walk(leaf string, last int, bridge bool) error {
	at := last
	if leaf != "" {
		var seq sql.NullInt64
		err := w.db.GetContext(w.ctx, &seq, `SELECT max(seq) FROM entries INDEXED BY entries_id WHERE session = ? AND id = ?`, w.key, leaf)
		if err != nil {
			return err
		}
		if !seq.Valid {
			return fmt.Errorf("leaf %s: %w", leaf, errNoLeaf)
		}
		at = int(seq.Int64)
	}
	seen := map[int]int{} // of a run, how far it has been walked
	for at >= 0 {
		var run int
		err := w.db.GetContext(w.ctx, &run, `SELECT run FROM entries WHERE session = ? AND seq = ?`, w.key, at)
		if err != nil {
			return err
		}
		if far, ok := seen[run]; ok {
			if at > far { // a cycle that comes in behind
				w.spans = append(w.spans, span{far + 1, at})
			}
			break
		}
		seen[run] = at
		w.spans = append(w.spans, span{run, at})
		if at, err = w.parentOf(run, bridge); err != nil {
			return err
		}
	}
	slices.Reverse(w.spans)
	return nil
}

// parentOf is the parent of the first entry of a run; -1 if it is a root.
func (w *pathWalk) parentOf(run int, bridge bool) (int, error) {
	var e struct {
		Parent sql.NullInt64 `db:"parent_seq"`
		Gap    bool          `db:"gap"`
	}
	err := w.db.GetContext(w.ctx, &e, `SELECT parent_seq, coalesce(gap, 0) AS gap FROM entries WHERE session = ? AND seq = ?`, w.key, run)
	switch {
	case err != nil:
		return noParent, err
	case e.Parent.Valid:
		return int(e.Parent.Int64), nil
	case bridge && e.Gap && run > 0:
		return run - 1, nil
	}
	return noParent, nil
}

// needed are the entries that decide the context, from the root to the leaf:
// those that carry state, the last assistant's message, and all that is sent.
func (w *pathWalk) needed() ([]lineAt, error) {
	compaction, kept, err := w.lastCompaction()
	if err != nil {
		return nil, err
	}
	assistant, err := w.lastOf(len(w.spans)-1, func(s span) (int, error) {
		return w.newest(`SELECT seq FROM entries WHERE session = ? AND seq BETWEEN ? AND ? AND role = 'assistant' AND type = 'message'
			ORDER BY seq DESC LIMIT 1`, w.key, s.from, s.to)
	})
	if err != nil {
		return nil, err
	}
	var list []lineAt
	for i, s := range w.spans {
		// What lies before kept is sent only if it carries state.
		before := span{s.from, s.to}
		after := span{s.to + 1, s.to}
		if i > kept.span || kept.span < 0 {
			before, after = span{s.from, s.from - 1}, s
		} else if i == kept.span {
			before, after = span{s.from, kept.seq - 1}, span{kept.seq, s.to}
		}
		some, err := w.carriers(before, assistant.seq)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
		some, err = readPlaces(w.ctx, w.db, lineColumns+`WHERE e.session = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq`,
			w.key, after.from, after.to)
		if err != nil {
			return nil, err
		}
		list = append(list, slices.DeleteFunc(some, func(l lineAt) bool {
			return l.Seq != kept.seq && l.Seq != compaction.seq &&
				(l.Type == "compaction" || !carriesState(l.Type) && !jsonl.KindOf(l.Type, "").Context)
		})...)
	}
	return list, nil
}

// carriers are the entries of a piece that carry state, and the one at also if
// it is in it.
func (w *pathWalk) carriers(s span, also int) ([]lineAt, error) {
	if s.from > s.to {
		return nil, nil
	}
	list, err := readPlaces(w.ctx, w.db, `
		SELECT e.seq, coalesce(e.id, '') AS id, e.type, coalesce(e.role, '') AS role, e.offset, e.size,
		       0 AS patch_offset, 0 AS patch_size
		FROM entries e INDEXED BY entries_state
		WHERE e.session = ? AND e.seq BETWEEN ? AND ? AND e.state = 1 AND e.type <> 'compaction' ORDER BY e.seq`, w.key, s.from, s.to)
	if err != nil || also < s.from || also > s.to {
		return list, err
	}
	one, err := readPlaces(w.ctx, w.db, lineColumns+`WHERE e.session = ? AND e.seq = ?`, w.key, also)
	list = append(list, one...)
	slices.SortFunc(list, func(a, b lineAt) int { return a.Seq - b.Seq })
	return list, err
}

// spot is an entry on the path; span is -1 if there is none.
type spot struct{ span, seq int }

// lastCompaction is the last compaction of the path, and from where on entries
// are sent: its first kept entry, or itself if that is not before it. Without a
// compaction all are.
func (w *pathWalk) lastCompaction() (compaction, kept spot, err error) {
	compaction, err = w.lastOf(len(w.spans)-1, func(s span) (int, error) {
		return w.newest(`SELECT seq FROM entries INDEXED BY entries_state WHERE session = ? AND seq BETWEEN ? AND ? AND state = 1
			AND type = 'compaction' ORDER BY seq DESC LIMIT 1`, w.key, s.from, s.to)
	})
	if err != nil || compaction.span < 0 {
		return compaction, spot{-1, -1}, err
	}
	list, err := readPlaces(w.ctx, w.db, lineColumns+`WHERE e.session = ? AND e.seq = ?`, w.key, compaction.seq)
	if err != nil || len(list) == 0 {
		return compaction, compaction, err
	}
	o, err := w.lines.record(&list[0])
	if err != nil {
		return compaction, compaction, err
	}
	first := o.Get("firstKeptEntryId").Str()
	if first == "" {
		return compaction, compaction, nil
	}
	kept, err = w.lastOf(compaction.span, func(s span) (int, error) {
		to := s.to
		if s == w.spans[compaction.span] {
			to = compaction.seq - 1
		}
		return w.newest(`SELECT seq FROM entries INDEXED BY entries_id WHERE session = ? AND id = ? AND seq BETWEEN ? AND ?
			ORDER BY seq DESC LIMIT 1`,
			w.key, first, s.from, to)
	})
	if kept.span < 0 {
		kept = compaction
	}
	return compaction, kept, err
}

// lastOf asks each piece of the path from the one at i to the root until one
// has an entry.
func (w *pathWalk) lastOf(i int, ask func(span) (int, error)) (spot, error) {
	for ; i >= 0; i-- {
		seq, err := ask(w.spans[i])
		if err != nil || seq >= 0 {
			return spot{i, seq}, err
		}
	}
	return spot{-1, -1}, nil
}

// newest runs a query for one seq; -1 if there is none.
func (w *pathWalk) newest(query string, args ...any) (int, error) {
	var seq int
	err := w.db.GetContext(w.ctx, &seq, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	return seq, err
}
