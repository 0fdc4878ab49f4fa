package index

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// writer puts outcomes into the tables of one transaction. flush comes last.
type writer struct {
	ctx context.Context
	tx  *sqlx.Tx

	entries, patches, labels, usage, refs, packs *inserter
	archives, archived, touched, calls           *inserter
	prompts                                      *promptWriter
	nextKey                                      int64
	fresh                                        bool // the tables are empty: nothing has to be deleted first
	row                                          *sql.Stmt
}

// newWriter prepares a writer; bulk is for builds.
func (x *Index) newWriter(ctx context.Context, tx *sqlx.Tx, bulk bool) (*writer, error) {
	w := &writer{ctx: ctx, tx: tx, fresh: bulk, prompts: newPromptWriter(bulk),
		entries: newInserter("entries", "session", "seq", "id", "parent", "parent_seq", "run", "type", "role", "time_ms",
			"line", "offset", "size", "state", "gap"),
		patches: newInserter("patches", "session", "seq", "line", "offset", "size"),
		labels:  newInserter("labels", "session", "seq", "target", "label", "current"),
		usage: newInserter("usage", "session", "seq", "time_ms", "provider", "model", "input", "output", "cache_read",
			"cache_write", "cost", "premium", "stop"),
		refs:     newInserter("refs", "session", "sum"),
		packs:    newInserter("usage_packs", "session", "pack"),
		archives: newInserter("archives", "session", "name", "dev", "inode", "size", "mtime_ns", "ctime_ns", "racy", "searched", "reason"),
		archived: newInserter("archived", "session", "seq", "file", "run", "id", "parent", "type", "role", "time_ms", "line", "offset", "size"),
		touched: newInserter("touched", "session", "seq", "path", "file", "creates", "writes", "edits", "deletes", "renames",
			"first", "last", "entry"),
		calls: newInserter("open_calls", "session", "seq", "id", "tool", "path"),
	}
	w.prompts.rows = x.past
	err := tx.GetContext(ctx, &w.nextKey, `SELECT coalesce(max(key), 0) + 1 FROM sessions`)
	if err != nil {
		return nil, err
	}
	w.row, err = tx.PrepareContext(ctx, `
		INSERT OR REPLACE INTO sessions (key, scope, name, dev, inode, size, mtime_ns, ctime_ns, racy,
			at_offset, at_line, at_malformed, at_sum, state, reason, id, version, cwd, parent, child, created_ms, last_ms,
			active_ms, messages, entries, seconds, malformed, recovered, title, title_source, first_prompt)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,  ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	return w, err
}

// put writes one outcome; scope is scopes.id.
func (w *writer) put(o *outcome, scope int64) error {
	if o.why == isGone {
		if o.known == nil {
			return nil
		}
		return w.remove(o.key)
	}
	if o.clean {
		if o.still {
			return nil
		}
		_, err := w.tx.ExecContext(w.ctx, `UPDATE sessions SET racy = NULL WHERE key = ?`, o.key)
		if err == nil && len(o.known.archives) > 0 {
			_, err = w.tx.ExecContext(w.ctx, `UPDATE archives SET racy = NULL WHERE session = ?`, o.key)
		}
		return err
	}
	if o.key == 0 {
		o.key = w.nextKey
		w.nextKey++
	} else if !o.reading.tail {
		if err := w.clear(o.key); err != nil {
			return err
		}
	}
	if err := w.session(o, scope); err != nil {
		return fmt.Errorf("insert session: %w", err)
	}
	if o.reading.tail {
		if err := w.amend(o.key, o.reading); err != nil {
			return fmt.Errorf("update entries: %w", err)
		}
	}
	return w.rows(o)
}

func (w *writer) session(o *outcome, scope int64) error {
	info := &o.info
	values := append([]any{o.key, scope, o.file.name, int64(info.Dev), int64(info.Inode), info.Size, info.ModTime, info.ChangeTime,
		bytesOrNull(o.racy)}, o.sessionValues()...)
	_, err := w.row.ExecContext(w.ctx, values...)
	return err
}

// rows inserts what a reading found anew, and lets go of the entries as it goes:
// those of a huge file are most of the memory that a build needs.
func (w *writer) rows(o *outcome) error {
	r, key := o.reading, o.key
	if pack := r.spent.pack(); pack != nil {
		if err := w.packs.add(w.ctx, w.tx, key, pack); err != nil {
			return fmt.Errorf("insert usage: %w", err)
		}
	}
	r.spent = nil
	for i := range r.rows.len() {
		e := r.rows.at(i)
		if err := w.entries.add(w.ctx, w.tx, e.values(key)...); err != nil {
			return fmt.Errorf("insert entries: %w", err)
		}
		if e.use > 0 {
			if err := w.addUsage(key, r.use.at(int(e.use)-1)); err != nil {
				return err
			}
		}
		if p, ok := r.patches[int(e.seq)]; ok {
			if err := w.patches.add(w.ctx, w.tx, p.values(key)...); err != nil {
				return fmt.Errorf("insert patches: %w", err)
			}
		}
		r.rows.drop(i)
	}
	for _, l := range r.labels {
		if err := w.labels.add(w.ctx, w.tx, l.values(key)...); err != nil {
			return fmt.Errorf("insert labels: %w", err)
		}
	}
	for _, sum := range r.sums() {
		if err := w.refs.add(w.ctx, w.tx, key, sum); err != nil {
			return fmt.Errorf("insert refs: %w", err)
		}
	}
	if err := w.archiveRows(key, o); err != nil {
		return err
	}
	for i := range r.prompts {
		p := &r.prompts[i]
		w.prompts.Add(Prompt{Source: SourceSession, SessionID: r.id, FileKey: key, EntryID: p.id,
			Line: p.line, Time: p.time.ms, Cwd: r.cwd, Text: p.text})
	}
	return w.prompts.SpillTo(w.tx)
}

// archiveRows inserts what a reading found of archives and of changed files.
func (w *writer) archiveRows(key int64, o *outcome) error {
	for _, t := range []struct {
		in   *inserter
		rows [][]any
	}{{w.archives, o.archiveValues(key)}, {w.archived, o.archivedValues(key)}, {w.touched, o.reading.touchedValues(key)}, {w.calls, o.reading.callValues(key)}} {
		for _, row := range t.rows {
			if err := t.in.add(w.ctx, w.tx, row...); err != nil {
				return fmt.Errorf("insert archived entries and changed files: %w", err)
			}
		}
	}
	return nil
}

func (w *writer) addUsage(key int64, u *usageRow) error {
	if err := w.usage.add(w.ctx, w.tx, u.values(key)...); err != nil {
		return fmt.Errorf("insert usage: %w", err)
	}
	return nil
}

// flush writes what is gathered; prompts come last, since each insert of many
// rows into another table makes the full-text index write out its buffer.
func (w *writer) flush() error {
	for _, i := range []*inserter{w.entries, w.patches, w.labels, w.usage, w.refs, w.packs,
		w.archives, w.archived, w.touched, w.calls} {
		if err := i.flush(w.ctx, w.tx); err != nil {
			return err
		}
	}
	if err := w.row.Close(); err != nil {
		return err
	}
	return w.prompts.Flush(w.tx)
}
