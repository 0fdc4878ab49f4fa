package index

import (
	"slices"

	"github.com/jmoiron/sqlx"
)

// spillBytes is how much text a promptWriter keeps in memory; when it has more,
// the prompts go to their table, and FTS5 is given them from there at the end.
const spillBytes = 16 << 20

// SpillTo puts what is queued into the table if it is too much to keep. Call it
// after Add, between other inserts as well: FTS5 is not written to.
func (w *promptWriter) SpillTo(tx *sqlx.Tx) error {
	if w.queued < w.most {
		return nil
	}
	if err := w.store(tx); err != nil {
		return err
	}
	w.spill()
	return nil
}

// spill forgets the texts of what is stored, but not that FTS5 lacks them.
func (w *promptWriter) spill() {
	for i := range w.queue {
		w.spilled = append(w.spilled, w.queue[i].Rowid)
	}
	clear(w.queue) // the texts
	w.queue, w.queued = w.queue[:0], 0
}

// unspill drops from old what FTS5 was never given.
func (w *promptWriter) unspill(old []removedPrompt) []removedPrompt {
	if len(w.spilled) == 0 {
		return old
	}
	slices.Sort(w.spilled)
	gone := map[int64]bool{}
	old = slices.DeleteFunc(old, func(p removedPrompt) bool {
		_, never := slices.BinarySearch(w.spilled, p.ID)
		if never {
			gone[p.ID] = true
		}
		return never
	})
	w.spilled = slices.DeleteFunc(w.spilled, func(id int64) bool { return gone[id] })
	return old
}

// spillPage is how many prompts are read back at once.
const spillPage = 500

// eachSpilled gives the prompts that were spilled, in the order of rowids.
func (w *promptWriter) eachSpilled(tx *sqlx.Tx, fn func(id int64, text string) error) error {
	slices.Sort(w.spilled)
	page, err := tx.Preparex(`SELECT id, text FROM prompts WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?`)
	if err != nil {
		return err
	}
	defer page.Close()
	for rest := w.spilled; len(rest) > 0; {
		n := min(len(rest), spillPage)
		var list []removedPrompt
		if err := page.Select(&list, rest[0], rest[n-1], spillPage); err != nil {
			return err
		}
		if len(list) == 0 {
			break // a bug elsewhere; what is left is not in the table
		}
		for _, p := range list {
			at, ok := slices.BinarySearch(rest, p.ID)
			rest = rest[at:]
			if !ok {
				continue
			}
			rest = rest[1:]
			if err := fn(p.ID, p.Text); err != nil {
				return err
			}
		}
	}
	return nil
}
