package index

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// Source is where a prompt comes from.
type Source uint8

// The sources.
const (
	SourceSession Source = iota // a user message of a transcript
	SourceHistory               // a row of history.db
)

// String is the source's name in output.
func (s Source) String() string {
	if s == SourceHistory {
		return "history"
	}
	return "session"
}

// Prompt is one text that was typed.
type Prompt struct {
	Source    Source
	FileKey   int64  // sessions.key; 0 for a row of history.db
	SessionID string // used for its place only
	EntryID   string // of a message
	Row       int64  // of a row of history.db its id
	Line      int
	Time      int64 // Unix ms
	Cwd       string
	Text      string
}

// textSum is what equal texts have in common.
func textSum(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// rowTexts reads texts of history.db. Those of rows that are gone are left out.
type rowTexts interface {
	Texts(ctx context.Context, ids []int64) (map[int64]string, error)
	// Joined calls use with the texts of the rows from first to last in one
	// piece, joint between them.
	Joined(ctx context.Context, first, last int64, use func(n int, texts []byte)) error
}

// doc is a prompt on its way into the tables, or moved within them.
type doc struct {
	id      int64 // its place in time, once it has one
	was     int64 // where FTS5 has its words, if indexed
	file    int64
	textAt  int64 // prompt_texts.key, 0: not there yet; or the id in history.db
	time    int64 // Unix ms
	sum     int64
	who     *author // nil: a row of history.db
	text    string  // "": to be read
	line    int32
	cwd     int32 // in directories
	indexed bool
}

type author struct{ session, entry string }

// promptWriter writes prompts and what finds them. It gathers in memory; Flush
// writes, and must come last in its transaction, since each multi-row insert
// into another table makes FTS5 write out its buffer. Make one with
// newPromptWriter, for one goroutine.
type promptWriter struct {
	bulk    bool
	most    int      // bytes of text to keep in memory
	rows    rowTexts // texts of history.db that are not kept; nil: all are
	queue   []doc
	queued  int // bytes of their texts
	cwds    directories
	removed []removedPrompt
	stale   int64 // prompts removed whose words FTS5 still has
}

// removedPrompt is one that FTS5 must forget.
type removedPrompt struct {
	ID   int64  `db:"id"`
	Text string `db:"text"`
}

// spillBytes is how much text a promptWriter keeps in memory.
const spillBytes = 16 << 20

// newPromptWriter makes a writer; bulk gives FTS5 a large buffer, for builds.
func newPromptWriter(bulk bool) *promptWriter { return &promptWriter{bulk: bulk, most: spillBytes} }

// Add takes a prompt; Flush writes it. One without text is not kept.
func (w *promptWriter) Add(p Prompt) {
	if p.Text == "" {
		return
	}
	d := doc{file: p.FileKey, time: p.Time, sum: textSum(p.Text), text: p.Text, line: int32(p.Line), cwd: w.cwds.named(p.Cwd)}
	if p.Source == SourceHistory {
		d.file, d.textAt = historyFile, p.Row
	} else {
		d.who = &author{p.SessionID, p.EntryID}
	}
	w.queue = append(w.queue, d)
	w.queued += len(p.Text)
}

// SpillTo lets go of the texts gathered if they are too much to keep: those of
// sessions go to their table, and all are read again at the end. Call it after
// Add, between other inserts as well: FTS5 is not written to.
func (w *promptWriter) SpillTo(tx *sqlx.Tx) error {
	if w.queued < w.most {
		return nil
	}
	if err := w.storeTexts(tx); err != nil {
		return err
	}
	for i := range w.queue {
		if d := &w.queue[i]; d.who != nil || w.rows != nil {
			d.text = ""
		}
	}
	w.queued = 0
	return nil
}

// RemoveFile removes the prompts of a file, also those added and not flushed.
func (w *promptWriter) RemoveFile(tx *sqlx.Tx, fileKey int64) error {
	if fileKey == historyFile {
		return w.removeHistory(tx)
	}
	var spilled []int64
	w.queue = slices.DeleteFunc(w.queue, func(d doc) bool {
		if d.who == nil || d.file != fileKey {
			return false
		}
		if d.textAt != 0 {
			spilled = append(spilled, d.textAt)
		}
		return true
	})
	var old []removedPrompt
	err := tx.Select(&old, `
		SELECT p.id, t.text FROM prompts p JOIN prompt_texts t ON t.key = p.text_at WHERE p.session = ?`, fileKey)
	if err != nil {
		return fmt.Errorf("read prompts to remove: %w", err)
	}
	w.removed = append(w.removed, old...)
	for _, step := range []struct {
		query string
		arg   any
	}{
		{`DELETE FROM prompt_texts WHERE key IN (SELECT text_at FROM prompts WHERE session = ?)`, fileKey},
		{`DELETE FROM prompts WHERE session = ?`, fileKey},
		{`DELETE FROM prompt_texts WHERE key IN (SELECT value FROM json_each(?))`, jsonList(spilled)},
	} {
		if _, err := tx.Exec(step.query, step.arg); err != nil {
			return fmt.Errorf("remove prompts: %w", err)
		}
	}
	return nil
}

// removeHistory removes the rows of history.db. Their words stay in FTS5, which
// would have to be told them: the texts may be gone. An id with words that are
// not its prompt's costs a look at the text and no more.
func (w *promptWriter) removeHistory(tx *sqlx.Tx) error {
	w.queue = slices.DeleteFunc(w.queue, func(d doc) bool { return d.who == nil })
	return w.removeRows(tx, `DELETE FROM prompts WHERE session IS NULL`)
}

func (w *promptWriter) removeRows(tx *sqlx.Tx, statement string, args ...any) error {
	res, err := tx.Exec(statement, args...)
	if err != nil {
		return fmt.Errorf("remove prompts: %w", err)
	}
	n, err := res.RowsAffected()
	w.stale += n
	return err
}

// Clear removes all prompts, also those added and not flushed.
func (w *promptWriter) Clear(tx *sqlx.Tx) error {
	w.queue, w.queued, w.removed, w.stale = nil, 0, nil, 0
	w.cwds = directories{}
	for _, statement := range []string{
		`DELETE FROM prompts`,
		`DELETE FROM prompt_texts`,
		`DELETE FROM prompt_cwds`,
		`DELETE FROM meta WHERE name = 'history'`,
	} {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("clear prompts: %w", err)
		}
	}
	return clearFinders(tx)
}

// clearFinders empties what finds prompts.
func clearFinders(tx *sqlx.Tx) error {
	for _, statement := range []string{
		`DELETE FROM prompt_tokens`,
		`DELETE FROM prompt_recent`,
		`DELETE FROM prompt_marks`,
		`DELETE FROM meta WHERE name = 'stale'`,
		`INSERT INTO prompt_words (prompt_words) VALUES ('delete-all')`,
	} {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("clear words of prompts: %w", err)
		}
	}
	return nil
}

// Flush writes what was gathered. After an error the transaction must be
// rolled back and the writer dropped.
func (w *promptWriter) Flush(tx *sqlx.Tx) error {
	if err := w.storeTexts(tx); err != nil {
		return err
	}
	if err := w.cwds.resolve(tx); err != nil {
		return fmt.Errorf("insert directories of prompts: %w", err)
	}
	docs, err := w.place(tx)
	if err != nil {
		return fmt.Errorf("place prompts: %w", err)
	}
	if err := w.index(tx, docs); err != nil {
		return fmt.Errorf("index prompts: %w", err)
	}
	w.queue, w.queued, w.removed, w.stale = nil, 0, nil, 0
	return nil
}

// storeTexts puts the texts of sessions into their table.
func (w *promptWriter) storeTexts(tx *sqlx.Tx) error {
	insert := newInserter("prompt_texts", "key", "text")
	next := int64(0)
	for i := range w.queue {
		d := &w.queue[i]
		if d.who == nil || d.textAt != 0 {
			continue
		}
		if next == 0 {
			if err := tx.Get(&next, `SELECT coalesce(max(key), 0) + 1 FROM prompt_texts`); err != nil {
				return err
			}
		}
		d.textAt = next
		next++
		if err := insert.add(context.Background(), tx, d.textAt, d.text); err != nil {
			return fmt.Errorf("insert texts of prompts: %w", err)
		}
	}
	if err := insert.flush(context.Background(), tx); err != nil {
		return fmt.Errorf("insert texts of prompts: %w", err)
	}
	return nil
}

// insertDocs puts prompts that have their places into the table.
func (w *promptWriter) insertDocs(tx *sqlx.Tx, docs []*doc) error {
	insert := newInserter("prompts", "id", "session", "text_at", "entry", "line", "time_ms", "cwd", "sum")
	for _, d := range docs {
		var session, entry, line any
		if d.who != nil {
			session, entry, line = d.file, d.who.entry, d.line
		}
		if err := insert.add(context.Background(), tx, d.id, session, d.textAt, entry, line, d.time, w.cwds.id(d.cwd), d.sum); err != nil {
			return err
		}
	}
	return insert.flush(context.Background(), tx)
}

// directories are those that prompts were typed in, each once.
type directories struct {
	names  []string
	ids    []int64 // 0: not known yet
	byName map[string]int32
	byID   map[int64]int32
}

// named is the number of a directory by its name.
func (d *directories) named(name string) int32 {
	if d.byName == nil {
		d.byName = map[string]int32{}
	}
	n, ok := d.byName[name]
	if !ok {
		n = int32(len(d.ids))
		d.byName[name] = n
		d.names, d.ids = append(d.names, name), append(d.ids, 0)
	}
	return n
}

// stored is the number of a directory by its id in the database.
func (d *directories) stored(id int64) int32 {
	if d.byID == nil {
		d.byID = map[int64]int32{}
	}
	n, ok := d.byID[id]
	if !ok {
		n = int32(len(d.ids))
		d.byID[id] = n
		d.names, d.ids = append(d.names, ""), append(d.ids, id)
	}
	return n
}

func (d *directories) id(n int32) int64 { return d.ids[n] }

// resolve makes sure that each directory has an id.
func (d *directories) resolve(tx *sqlx.Tx) error {
	for i, id := range d.ids {
		if id != 0 {
			continue
		}
		if _, err := tx.Exec(`INSERT OR IGNORE INTO prompt_cwds (cwd) VALUES (?)`, d.names[i]); err != nil {
			return err
		}
		if err := tx.Get(&d.ids[i], `SELECT id FROM prompt_cwds WHERE cwd = ?`, d.names[i]); err != nil {
			return err
		}
	}
	return nil
}
