package index

import (
	"bytes"
	"database/sql"
	"errors"
	"slices"
)

// tablesOfSessions are those whose rows belong to one session.
var tablesOfSessions = [...]string{"entries", "patches", "labels", "usage", "refs", "usage_packs",
	"archives", "archived", "touched", "open_calls"}

// clear removes all rows of a session but its own.
func (w *writer) clear(key int64) error {
	for _, table := range tablesOfSessions {
		if _, err := w.tx.ExecContext(w.ctx, `DELETE FROM `+table+` WHERE session = ?`, key); err != nil {
			return err
		}
	}
	return w.prompts.RemoveFile(w.tx, key)
}

// remove removes a session.
func (w *writer) remove(key int64) error {
	if err := w.clear(key); err != nil {
		return err
	}
	_, err := w.tx.ExecContext(w.ctx, `DELETE FROM sessions WHERE key = ?`, key)
	return err
}

// amend changes rows that an appended record has an effect on.
func (w *writer) amend(key int64, r *reading) error {
	for child, seq := range r.missing {
		_, err := w.tx.ExecContext(w.ctx, `UPDATE entries SET parent_seq = ? WHERE session = ? AND seq = ?`, seq, key, child)
		if err != nil {
			return err
		}
	}
	for seq, role := range r.rerole {
		_, err := w.tx.ExecContext(w.ctx, `UPDATE entries SET role = ? WHERE session = ? AND seq = ?`,
			textOrNull(role, role != ""), key, seq)
		if err != nil {
			return err
		}
	}
	for seq, p := range r.patches {
		if seq >= r.first {
			continue
		}
		if _, err := w.tx.ExecContext(w.ctx, `DELETE FROM usage WHERE session = ? AND seq = ?`, key, seq); err != nil {
			return err
		}
		_, err := w.tx.ExecContext(w.ctx, `
			INSERT OR REPLACE INTO patches (session, seq, line, offset, size) VALUES (?, ?, ?, ?, ?)`,
			key, seq, p.line, p.offset, p.size)
		if err != nil {
			return err
		}
		if u, ok := r.reuse[seq]; ok {
			if err := w.addUsage(key, &u); err != nil {
				return err
			}
		}
	}
	for _, l := range r.labels {
		_, err := w.tx.ExecContext(w.ctx, `UPDATE labels SET current = 0 WHERE session = ? AND target = ? AND current = 1`, key, l.target)
		if err != nil {
			return err
		}
	}
	if err := w.amendPack(key, r); err != nil {
		return err
	}
	if r.folded {
		for _, table := range [...]string{"touched", "open_calls"} {
			if _, err := w.tx.ExecContext(w.ctx, `DELETE FROM `+table+` WHERE session = ?`, key); err != nil {
				return err
			}
		}
	}
	return w.knownRefs(key, r)
}

// amendPack adds what was appended to the usage that is there.
func (w *writer) amendPack(key int64, r *reading) error {
	if r.spent.len() == 0 && len(r.respent) == 0 {
		return nil
	}
	var pack []byte
	err := w.tx.GetContext(w.ctx, &pack, `SELECT pack FROM usage_packs WHERE session = ?`, key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	before, facts := newFactList(), newFactList()
	if err := eachFact(pack, sameText, before.add); err != nil {
		return err
	}
	for seq, now := range r.respent {
		before.patch(seq, now)
	}
	before.each(facts.add)
	r.spent.each(facts.add)
	if _, err := w.tx.ExecContext(w.ctx, `DELETE FROM usage_packs WHERE session = ?`, key); err != nil {
		return err
	}
	r.spent = facts
	return nil
}

// knownRefs takes the references out of r that the session has already.
func (w *writer) knownRefs(key int64, r *reading) error {
	for sum := range r.refs {
		var n int
		err := w.tx.GetContext(w.ctx, &n, `SELECT count(*) FROM refs WHERE session = ? AND sum = ?`, key, sum[:])
		if err != nil {
			return err
		}
		if n > 0 {
			delete(r.refs, sum)
		}
	}
	return nil
}

// sums are the references in order.
func (r *reading) sums() [][]byte {
	sums := make([][]byte, 0, len(r.refs))
	for sum := range r.refs {
		sums = append(sums, sum[:])
	}
	slices.SortFunc(sums, bytes.Compare)
	return sums
}
