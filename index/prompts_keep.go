package index

import (
	"fmt"

	"github.com/jmoiron/sqlx"
)

// SetFile makes want the prompts of a file, told apart by their entry ids; those
// that are there already stay as they are. It gives the number of prompts added
// and removed. Nothing of the file may be queued.
func (w *promptWriter) SetFile(tx *sqlx.Tx, fileKey int64, want []Prompt) (changed int, err error) {
	missing := make(map[string]*Prompt, len(want))
	for i := range want {
		missing[want[i].EntryID] = &want[i]
	}
	gone, err := keepStored(tx, fileKey, missing)
	if err != nil {
		return 0, fmt.Errorf("read prompts to keep: %w", err)
	}
	if len(gone) > 0 {
		var old []removedPrompt
		const which = `WHERE id IN (SELECT value FROM json_each(?))`
		if err := tx.Select(&old, `SELECT id, text FROM prompts `+which, jsonList(gone)); err != nil {
			return 0, fmt.Errorf("read prompts to remove: %w", err)
		}
		if _, err := tx.Exec(`DELETE FROM prompts `+which, jsonList(gone)); err != nil {
			return 0, fmt.Errorf("remove prompts: %w", err)
		}
		w.removed = append(w.removed, old...)
	}
	for i := range want {
		if missing[want[i].EntryID] == &want[i] {
			w.Add(want[i])
		}
	}
	return len(gone) + len(missing), nil
}

// keepStored takes out of missing what the file has, and gives the rowids of
// what it should not have.
func keepStored(tx *sqlx.Tx, fileKey int64, missing map[string]*Prompt) (gone []int64, err error) {
	rows, err := tx.Query(`SELECT id, entry, time_ms, cwd, sum FROM prompts WHERE file = ?`, fileKey)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, timeMs, sum int64
		var entry, cwd string
		if err := rows.Scan(&id, &entry, &timeMs, &cwd, &sum); err != nil {
			return nil, err
		}
		p := missing[entry]
		if p != nil && p.Time == timeMs && p.Cwd == cwd && textSum(p.Text) == sum {
			delete(missing, entry)
		} else {
			gone = append(gone, id)
		}
	}
	return gone, rows.Err()
}
