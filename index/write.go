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

	entries, patches, labels, usage, refs *inserter
	prompts                               *promptWriter
	nextKey                               int64
	fresh                                 bool // the tables are empty: nothing has to be deleted first
	row                                   *sql.Stmt
}

// newWriter prepares a writer; bulk is for builds.
func newWriter(ctx context.Context, tx *sqlx.Tx, bulk bool) (*writer, error) {
	w := &writer{ctx: ctx, tx: tx, fresh: bulk, prompts: newPromptWriter(bulk),
		entries: newInserter("entries", "session", "seq", "id", "parent", "parent_seq", "run", "type", "role", "time_ms",
			"line", "offset", "size", "state", "gap"),
		patches: newInserter("patches", "session", "seq", "line", "offset", "size"),
		labels:  newInserter("labels", "session", "seq", "target", "label", "current"),
		usage: newInserter("usage", "session", "seq", "time_ms", "provider", "model", "input", "output", "cache_read",
			"cache_write", "cost", "premium", "stop"),
		refs: newInserter("refs", "session", "sum"),
	}
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
	r := o.reading
	active := r.last.ms
	if !r.last.known {
		active = o.info.ModTime / 1e6
	}
	child := 0
	if o.file.child() {
		child = 1
	}
	_, err := w.row.ExecContext(w.ctx, o.key, scope, o.file.name, int64(o.info.Dev), int64(o.info.Inode), o.info.Size,
		o.info.ModTime, o.info.ChangeTime, bytesOrNull(o.racy),
		r.resume.offset, r.resume.line, r.resume.malformed, bytesOrNull(r.resume.sum), string(r.state), textOrNull(r.reason, r.reason != ""),
		textOrNull(r.id, r.state == StateOK), r.version, textOrNull(r.cwd, r.cwd != ""), textOrNull(r.parent, r.parent != ""),
		child, r.created.value(), r.last.value(),
		active, r.messages, r.entries, r.seconds, r.facts.malformed, r.facts.recovered, textOrNull(r.title, r.hasTitle),
		textOrNull(r.titleSource, r.titleSource != ""), textOrNull(r.firstPrompt, r.firstPrompt != ""))
	return err
}

// rows inserts what a reading found anew.
func (w *writer) rows(o *outcome) error {
	r, key := o.reading, o.key
	for i := range r.rows {
		e := &r.rows[i]
		err := w.entries.add(w.ctx, w.tx, key, e.seq, textOrNull(e.id, e.hasID), textOrNull(e.parent, e.hasParent),
			parentValue(e.parentSeq), e.run, e.kind, textOrNull(e.role, e.role != ""), e.time.value(), e.line, e.offset, e.size,
			flag(e.state), flag(e.gap))
		if err != nil {
			return fmt.Errorf("insert entries: %w", err)
		}
		if u, ok := r.usage[e.seq]; ok {
			if err := w.addUsage(key, &u); err != nil {
				return err
			}
		}
		if p, ok := r.patches[e.seq]; ok {
			if err := w.patches.add(w.ctx, w.tx, key, p.seq, p.line, p.offset, p.size); err != nil {
				return fmt.Errorf("insert patches: %w", err)
			}
		}
	}
	for _, l := range r.labels {
		current := 1
		if l.overtaken {
			current = 0
		}
		if err := w.labels.add(w.ctx, w.tx, key, l.seq, l.target, textOrNull(l.label, l.set), current); err != nil {
			return fmt.Errorf("insert labels: %w", err)
		}
	}
	for _, sum := range r.sums() {
		if err := w.refs.add(w.ctx, w.tx, key, sum); err != nil {
			return fmt.Errorf("insert refs: %w", err)
		}
	}
	for i := range r.prompts {
		p := &r.prompts[i]
		w.prompts.Add(Prompt{Source: SourceSession, SessionKey: key, SessionID: r.id, FileKey: key, EntryID: p.id,
			Line: p.line, Time: p.time.ms, Cwd: r.cwd, Text: p.text})
	}
	return nil
}

func (w *writer) addUsage(key int64, u *usageRow) error {
	var cost any
	if u.use.HasCost {
		cost = u.use.Cost
	}
	err := w.usage.add(w.ctx, w.tx, key, u.seq, u.time.value(), textOrNull(u.provider, u.provider != ""),
		textOrNull(u.model, u.model != ""), u.use.Input, u.use.Output, u.use.CacheRead, u.use.CacheWrite, cost,
		u.use.PremiumRequests, textOrNull(u.stop, u.stop != ""))
	if err != nil {
		return fmt.Errorf("insert usage: %w", err)
	}
	return nil
}

// flush writes what is gathered; prompts come last, since each insert of many
// rows into another table makes the full-text index write out its buffer.
func (w *writer) flush() error {
	for _, i := range []*inserter{w.entries, w.patches, w.labels, w.usage, w.refs} {
		if err := i.flush(w.ctx, w.tx); err != nil {
			return err
		}
	}
	if err := w.row.Close(); err != nil {
		return err
	}
	return w.prompts.Flush(w.tx)
}

func bytesOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func textOrNull(s string, there bool) any {
	if !there {
		return nil
	}
	return s
}

func parentValue(seq int) any {
	if seq == missingParent {
		return nil
	}
	return seq
}

func flag(b bool) any {
	if b {
		return 1
	}
	return nil
}
