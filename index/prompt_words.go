package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// errNoRows says that texts of history.db were needed and could not be read, which
// was noted.
var errNoRows = errors.New("history can't be read")

// index brings FTS5, in the order of ids, the newest prompts and the list of
// words up to docs, and lets them forget what was removed.
func (w *promptWriter) index(tx *sqlx.Tx, docs []*doc) error {
	if len(docs) == 0 && len(w.removed) == 0 {
		return nil
	}
	recent, err := openRecent(tx)
	if err != nil {
		return err
	}
	if w.bulk {
		if err := setHashSize(tx, bulkHashBytes); err != nil {
			return err
		}
	}
	if err := w.forgetWords(tx, docs); err != nil {
		return err
	}
	words := newWordWriter()
	if err := w.insertWords(tx, docs, words, recent); err != nil {
		return err
	}
	if w.bulk {
		if err := setHashSize(tx, liveHashBytes); err != nil {
			return err
		}
	}
	if err := recent.write(tx); err != nil {
		return err
	}
	return words.writeList(tx)
}

func (w *promptWriter) insertWords(tx *sqlx.Tx, docs []*doc, words *wordWriter, recent *recentWriter) error {
	insert, err := tx.Prepare(`INSERT INTO prompt_words (rowid, words) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	folded := make([]byte, 0, 4096)
	return w.eachText(tx, docs, func(d *doc, text string) error {
		folded = Fold(folded[:0], text)
		recent.add(d.id, folded)
		_, err := insert.Exec(d.id, words.doc(folded))
		return err
	})
}

// forgetWords takes prompts that were removed or moved out of FTS5, which wants
// to be told the very words it was given.
func (w *promptWriter) forgetWords(tx *sqlx.Tx, docs []*doc) error {
	var moved []*doc
	for _, d := range docs {
		if d.indexed {
			moved = append(moved, d)
		}
	}
	gone := w.removed
	err := w.eachText(tx, moved, func(d *doc, text string) error {
		if textSum(text) == d.sum { // else it is not what FTS5 was given
			gone = append(gone, removedPrompt{d.was, text})
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	remove, err := tx.Prepare(`INSERT INTO prompt_words (prompt_words, rowid, words) VALUES ('delete', ?, ?)`)
	if err != nil {
		return err
	}
	defer remove.Close()
	words := newWordWriter()
	slices.SortFunc(gone, func(a, b removedPrompt) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range gone {
		if _, err := remove.Exec(p.ID, words.doc(Fold(nil, p.Text))); err != nil {
			return err
		}
	}
	return nil
}

// textsAtOnce is how many texts are read back at once.
const textsAtOnce = 500

// eachText calls fn for each prompt and its text, in order; not for a row that
// history.db has no longer.
func (w *promptWriter) eachText(tx *sqlx.Tx, docs []*doc, fn func(d *doc, text string) error) error {
	for some := range slices.Chunk(docs, textsAtOnce) {
		texts, err := w.textsOf(tx, some)
		if err != nil {
			return err
		}
		for i, d := range some {
			if texts[i] == "" {
				continue
			}
			if err := fn(d, texts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// textsOf gives the texts of prompts; "" for one that is gone.
func (w *promptWriter) textsOf(tx *sqlx.Tx, docs []*doc) ([]string, error) {
	texts := make([]string, len(docs))
	var keys, ids []int64
	for i, d := range docs {
		switch texts[i] = d.text; {
		case d.text != "":
		case d.who != nil:
			keys = append(keys, d.textAt)
		default:
			ids = append(ids, d.textAt)
		}
	}
	stored, err := storedTexts(tx, keys)
	if err != nil {
		return nil, fmt.Errorf("read texts of prompts: %w", err)
	}
	var typed map[int64]string
	if len(ids) > 0 {
		if w.rows == nil {
			return nil, errNoRows
		}
		if typed, err = w.rows.Texts(context.Background(), ids); err != nil {
			return nil, errNoRows // it was said why
		}
	}
	for i, d := range docs {
		switch {
		case d.text != "":
		case d.who != nil:
			texts[i] = stored[d.textAt]
		default:
			texts[i] = typed[d.textAt]
		}
	}
	return texts, nil
}

func storedTexts(tx *sqlx.Tx, keys []int64) (map[int64]string, error) {
	texts := make(map[int64]string, len(keys))
	if len(keys) == 0 {
		return texts, nil
	}
	var rows []struct {
		Key  int64  `db:"key"`
		Text string `db:"text"`
	}
	err := tx.Select(&rows, `SELECT key, text FROM prompt_texts WHERE key IN (SELECT value FROM json_each(?))`, jsonList(keys))
	for _, r := range rows {
		texts[r.Key] = r.Text
	}
	return texts, err
}

const (
	liveHashBytes = 1 << 20 // FTS5's own choice
	bulkHashBytes = 16 << 20
)

// setHashSize says how much FTS5 gathers in memory before it writes.
func setHashSize(tx *sqlx.Tx, bytes int) error {
	_, err := tx.Exec(`INSERT INTO prompt_words (prompt_words, rank) VALUES ('hashsize', ?)`, bytes)
	return err
}
