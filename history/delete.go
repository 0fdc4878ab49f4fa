package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// maxPhraseBytes is the longest prompt whose full-text row is proved right
// before it is taken out.
const maxPhraseBytes = 4096

// Delete removes the prompt with this id, and reports whether there was one.
// Its text is remembered as deleted (by its hash), so that no Import brings it
// back; other rows of the same text stay.
func (s *Store) Delete(ctx context.Context, id int64) (bool, error) {
	var text string
	err := s.db.GetContext(ctx, &text, `SELECT CAST(prompt AS TEXT) FROM history WHERE id = ?`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	var n int
	if err == nil {
		n, err = s.delete(ctx, text, `SELECT id, prompt FROM history WHERE id = ? AND prompt = ?`, id, text)
	}
	if err != nil {
		return false, fmt.Errorf("delete prompt %d: %w", id, plain(err))
	}
	return n > 0, nil
}

// DeleteText removes every prompt whose text is exactly this one (white space
// at the ends apart), and gives their number. The text is remembered as deleted
// even if there was none: it may be known from elsewhere.
func (s *Store) DeleteText(ctx context.Context, text string) (int, error) {
	core := storable(Trim(text))
	n, err := s.delete(ctx, core, `
		SELECT id, prompt FROM history WHERE instr(prompt, ?) > 0`, core)
	if err != nil {
		return 0, fmt.Errorf("delete prompts: %w", plain(err))
	}
	return n, nil
}

// delete removes the rows that query finds and whose trimmed text is that of
// text, and buries the text.
func (s *Store) delete(ctx context.Context, text, query string, args ...any) (n int, err error) {
	if s.readOnly != nil {
		return 0, s.readOnly
	}
	if err := s.db.Migrate(ctx); err != nil { // the table of tombstones
		return 0, err
	}
	core := Trim(text)
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error {
		n = 0
		var rows []struct {
			ID     int64
			Prompt string
		}
		if err := tx.SelectContext(ctx, &rows, query, args...); err != nil {
			return err
		}
		rebuild := false
		if err := makeScale(ctx, tx); err != nil {
			return err
		}
		for _, r := range rows {
			if Trim(r.Prompt) != core {
				continue
			}
			clean, err := deleteRow(ctx, tx, r.ID, r.Prompt)
			if err != nil {
				return err
			}
			rebuild = rebuild || !clean
			n++
		}
		if _, err := tx.ExecContext(ctx, `DROP TABLE temp.scale`); err != nil {
			return err
		}
		if rebuild {
			if _, err := tx.ExecContext(ctx, rebuildText); err != nil {
				return err
			}
		}
		hash := sha256.Sum256([]byte(core))
		_, err := tx.ExecContext(ctx, `
			INSERT INTO gjc_index_tombstones (hash, deleted_at) VALUES (?, ?)
			ON CONFLICT (hash) DO UPDATE SET deleted_at = excluded.deleted_at`, hash[:], s.opt.Now().Unix())
		return err
	})
	return n, err
}

// deleteRow removes a row and its full-text row. FTS5 must be told the very
// text it indexed: a wrong one, or one that it never had, damages the table. So
// clean is false, and nothing told, if that is not sure; then only a rebuild
// takes the words out.
func deleteRow(ctx context.Context, tx *sqlx.Tx, id int64, text string) (clean bool, err error) {
	if clean, err = indexedAs(ctx, tx, id, text); err != nil {
		return false, err
	}
	if clean {
		_, err = tx.ExecContext(ctx, `INSERT INTO history_fts(history_fts, rowid, prompt) VALUES('delete', ?, ?)`, id, text)
		if err != nil {
			return false, err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM history WHERE id = ?`, id)
	return clean, err
}

// makeScale makes a full-text table that is there to count words the way
// history_fts does.
func makeScale(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `CREATE VIRTUAL TABLE temp.scale USING fts5(prompt, content='')`)
	return err
}

// indexedAs reports whether the full-text table has id with exactly this text:
// its words are found as one phrase, and it has no more words than those.
func indexedAs(ctx context.Context, tx *sqlx.Tx, id int64, text string) (bool, error) {
	if len(text) > maxPhraseBytes || strings.Contains(text, "\x00") {
		return false, nil
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO temp.scale (rowid, prompt) VALUES (?, ?)`, id, text); err != nil {
		return false, err
	}
	var same bool
	err := tx.GetContext(ctx, &same, `
		SELECT EXISTS (
			SELECT 1 FROM history_fts_docsize d JOIN temp.scale_docsize s ON s.id = d.id AND s.sz = d.sz
			WHERE d.id = ? AND (d.sz = x'00' OR EXISTS (
				SELECT 1 FROM history_fts WHERE history_fts MATCH ? AND rowid = ?)))`,
		id, `"`+strings.ReplaceAll(text, `"`, `""`)+`"`, id)
	return same, err
}

// Tombstones are the texts that were deleted on purpose, and when they last were.
type Tombstones map[[sha256.Size]byte]time.Time

// Has reports whether text was deleted; white space at its ends doesn't matter.
func (t Tombstones) Has(text string) bool {
	_, ok := t.At(text)
	return ok
}

// At says when text was last deleted, if it was; whole seconds.
func (t Tombstones) At(text string) (time.Time, bool) {
	if len(t) == 0 {
		return time.Time{}, false
	}
	at, ok := t[sha256.Sum256([]byte(storable(Trim(text))))]
	return at, ok
}

// Tombstones reads which texts were deleted.
func (s *Store) Tombstones(ctx context.Context) (Tombstones, error) {
	var rows []struct {
		Hash []byte `db:"hash"`
		At   int64  `db:"deleted_at"`
	}
	at, err := s.db.Version(ctx)
	if err == nil && at > 0 {
		err = s.db.SelectContext(ctx, &rows, `SELECT hash, deleted_at FROM gjc_index_tombstones`)
	}
	if err != nil {
		return nil, fmt.Errorf("read deleted prompts: %w", plain(err))
	}
	t := make(Tombstones, len(rows))
	for _, r := range rows {
		if len(r.Hash) == sha256.Size {
			t[[sha256.Size]byte(r.Hash)] = time.Unix(r.At, 0)
		}
	}
	return t, nil
}
