package index

import (
	"bytes"
	"slices"

	"github.com/jmoiron/sqlx"
)

// wordWriter makes FTS5's rows and gathers the distinct tokens they have.
type wordWriter struct {
	all  map[string]int // token → the last doc that had it
	docs int
	row  []byte
}

func newWordWriter() *wordWriter { return &wordWriter{all: map[string]int{}} }

// doc is a folded prompt as FTS5 is given it: each token once, with blanks
// between.
func (w *wordWriter) doc(folded []byte) string {
	w.docs++
	w.row = w.row[:0]
	eachToken(folded, func(token []byte) {
		if last, ok := w.all[string(token)]; ok && last == w.docs {
			return
		}
		w.all[string(token)] = w.docs
		w.row = append(append(w.row, token...), ' ')
	})
	return string(w.row)
}

// writeList adds the gathered tokens to the list in the database.
func (w *wordWriter) writeList(tx *sqlx.Tx) error {
	delete(w.all, longToken)
	if len(w.all) == 0 {
		return nil
	}
	tokens := make([]string, 0, len(w.all))
	size := 1
	for token := range w.all {
		tokens = append(tokens, token)
		size += len(token) + 1
	}
	slices.Sort(tokens)
	data := append(make([]byte, 0, size), '\n')
	for _, token := range tokens {
		data = append(append(data, token...), '\n')
	}
	return addTokens(tx, data)
}

// addTokens adds a row of tokens, together with the rows before it that are not
// at least twice as long: so there are few rows, and each token is copied few
// times.
func addTokens(tx *sqlx.Tx, data []byte) error {
	var rows []struct {
		Seq  int64 `db:"seq"`
		Size int   `db:"size"`
	}
	if err := tx.Select(&rows, `SELECT seq, length(data) AS size FROM prompt_tokens ORDER BY seq DESC`); err != nil {
		return err
	}
	next := int64(1)
	if len(rows) > 0 {
		next = rows[0].Seq + 1
	}
	for _, row := range rows {
		if row.Size >= 2*len(data) {
			break
		}
		var old []byte
		if err := tx.Get(&old, `SELECT data FROM prompt_tokens WHERE seq = ?`, row.Seq); err != nil {
			return err
		}
		data = joinTokens(old, data)
		if _, err := tx.Exec(`DELETE FROM prompt_tokens WHERE seq = ?`, row.Seq); err != nil {
			return err
		}
		next = row.Seq
	}
	_, err := tx.Exec(`INSERT INTO prompt_tokens (seq, data) VALUES (?, ?)`, next, data)
	return err
}

// joinTokens is old and what else is in data.
func joinTokens(old, data []byte) []byte {
	have := make(map[string]bool)
	for token := range bytes.SplitSeq(bytes.Trim(old, "\n"), []byte("\n")) {
		have[string(token)] = true
	}
	joined := slices.Clip(old)
	for token := range bytes.SplitSeq(bytes.Trim(data, "\n"), []byte("\n")) {
		if !have[string(token)] {
			joined = append(append(joined, token...), '\n')
		}
	}
	return joined
}
