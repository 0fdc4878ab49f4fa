package index

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

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
	Rowid      int64 // place in time, see promptRowid; 0: made from Time, SessionID and EntryID
	Source     Source
	SessionKey int64
	SessionID  string // used for Rowid only
	FileKey    int64
	EntryID    string
	Line       int
	Time       int64 // Unix ms
	Cwd        string
	Text       string
}

const (
	rowidBits = 20
	// Times whose rowid would not fit are held at these, in ms.
	maxRowidTime = 1<<(63-rowidBits) - 2
	minRowidTime = -1 << (63 - rowidBits)
)

// promptRowid is the rowid of a prompt of that time: rowids follow time, so the
// newest come first without sorting. The low 20 bits tell the prompts of one
// millisecond apart: a history row's id, or promptHash.
func promptRowid(timeMs int64, low uint32) int64 {
	return min(max(timeMs, minRowidTime), maxRowidTime)<<rowidBits | int64(low&(1<<rowidBits-1))
}

// promptHash is the low part of a session prompt's rowid.
func promptHash(sessionID, entryID string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(sessionID)) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(entryID))
	n := h.Sum32()
	return n ^ n>>rowidBits
}

// textSum is what equal texts have in common.
func textSum(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// promptWriter writes prompts and what finds them. It gathers in memory; Flush
// writes, and must come last in its transaction, since each multi-row insert
// into another table makes FTS5 write out its buffer. Make one with
// newPromptWriter, for one goroutine.
type promptWriter struct {
	bulk    bool
	most    int // bytes of text to keep in memory
	queue   []Prompt
	queued  int     // bytes of their texts
	spilled []int64 // rowids of prompts in the table that FTS5 was not given yet
	removed []removedPrompt
}

type removedPrompt struct {
	ID   int64  `db:"id"`
	Text string `db:"text"`
}

// newPromptWriter makes a writer; bulk gives FTS5 a large buffer, for builds.
func newPromptWriter(bulk bool) *promptWriter { return &promptWriter{bulk: bulk, most: spillBytes} }

// Add takes a prompt; Flush writes it. One without text is not kept.
func (w *promptWriter) Add(p Prompt) {
	if p.Text == "" {
		return
	}
	if p.Rowid == 0 {
		p.Rowid = promptRowid(p.Time, promptHash(p.SessionID, p.EntryID))
	}
	w.queue = append(w.queue, p)
	w.queued += len(p.Text)
}

// RemoveFile removes the prompts of a file, also those added and not flushed.
func (w *promptWriter) RemoveFile(tx *sqlx.Tx, fileKey int64) error {
	w.queue = slices.DeleteFunc(w.queue, func(p Prompt) bool { return p.FileKey == fileKey })
	var old []removedPrompt
	if err := tx.Select(&old, `SELECT id, text FROM prompts WHERE file = ?`, fileKey); err != nil {
		return fmt.Errorf("read prompts to remove: %w", err)
	}
	if len(old) == 0 {
		return nil
	}
	w.removed = append(w.removed, w.unspill(old)...)
	if _, err := tx.Exec(`DELETE FROM prompts WHERE file = ?`, fileKey); err != nil {
		return fmt.Errorf("remove prompts: %w", err)
	}
	return nil
}

// Clear removes all prompts, also those added and not flushed.
func (w *promptWriter) Clear(tx *sqlx.Tx) error {
	w.queue, w.queued, w.spilled, w.removed = nil, 0, nil, nil
	for _, statement := range []string{
		`DELETE FROM prompts`,
		`DELETE FROM prompt_tokens`,
		`DELETE FROM prompt_recent`,
		`DELETE FROM prompt_marks`,
		`INSERT INTO prompt_words (prompt_words) VALUES ('delete-all')`,
	} {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("clear prompts: %w", err)
		}
	}
	return nil
}

// Flush writes what was gathered. After an error the transaction must be
// rolled back and the writer dropped.
func (w *promptWriter) Flush(tx *sqlx.Tx) error {
	if err := w.store(tx); err != nil {
		return err
	}
	if len(w.spilled) > 0 {
		w.spill()
	}
	if err := w.index(tx); err != nil {
		return fmt.Errorf("index prompts: %w", err)
	}
	w.queue, w.queued, w.spilled, w.removed = nil, 0, nil, nil
	return nil
}

// store puts the queue into the table.
func (w *promptWriter) store(tx *sqlx.Tx) error {
	slices.SortStableFunc(w.queue, func(a, b Prompt) int {
		return cmp.Or(cmp.Compare(a.Rowid, b.Rowid), cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Line, b.Line))
	})
	if err := w.number(tx); err != nil {
		return fmt.Errorf("number prompts: %w", err)
	}
	if err := w.insert(tx); err != nil {
		return fmt.Errorf("insert prompts: %w", err)
	}
	return nil
}

// number gives each queued prompt the next free rowid upwards.
func (w *promptWriter) number(tx *sqlx.Tx) error {
	if len(w.queue) == 0 {
		return nil
	}
	taken, err := takenIn(tx, w.queue)
	if err != nil {
		return err
	}
	last := w.queue[0].Rowid - 1
	for i := range w.queue {
		p := &w.queue[i]
		p.Rowid = max(p.Rowid, last+1)
		for {
			is, err := taken(p.Rowid)
			if err != nil {
				return err
			}
			if !is {
				break
			}
			p.Rowid++
		}
		last = p.Rowid
	}
	return nil
}

// fewPrompts is how many are asked for one by one.
const fewPrompts = 100

// takenIn gives the function that says whether a rowid from the first of queue
// on is in use.
func takenIn(tx *sqlx.Tx, queue []Prompt) (func(id int64) (bool, error), error) {
	ask := func(id int64) (is bool, err error) {
		err = tx.Get(&is, `SELECT EXISTS (SELECT 1 FROM prompts WHERE id = ?)`, id)
		return is, err
	}
	if len(queue) <= fewPrompts {
		return ask, nil
	}
	var ids []int64
	last := queue[len(queue)-1].Rowid
	err := tx.Select(&ids, `SELECT id FROM prompts WHERE id BETWEEN ? AND ? ORDER BY id`, queue[0].Rowid, last)
	return func(id int64) (bool, error) {
		if id > last {
			return ask(id)
		}
		_, is := slices.BinarySearch(ids, id)
		return is, nil
	}, err
}

// rowsAtOnce is how many rows one statement inserts.
const rowsAtOnce = 50

func (w *promptWriter) insert(tx *sqlx.Tx) error {
	const one = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	const head = `INSERT INTO prompts (id, source, session, file, entry, line, time_ms, cwd, sum, text) VALUES `
	var whole *sql.Stmt
	args := make([]any, 0, 10*rowsAtOnce)
	for rest := w.queue; len(rest) > 0; {
		n := min(len(rest), rowsAtOnce)
		args = args[:0]
		for _, p := range rest[:n] {
			args = append(args, p.Rowid, p.Source, p.SessionKey, p.FileKey, p.EntryID, p.Line, p.Time, p.Cwd,
				textSum(p.Text), p.Text)
		}
		rest = rest[n:]
		if n < rowsAtOnce {
			_, err := tx.Exec(head+one+strings.Repeat(", "+one, n-1), args...)
			return err
		}
		if whole == nil {
			var err error
			if whole, err = tx.Prepare(head + one + strings.Repeat(", "+one, n-1)); err != nil {
				return err
			}
			defer whole.Close()
		}
		if _, err := whole.Exec(args...); err != nil {
			return err
		}
	}
	return nil
}

// index brings FTS5, in the order of rowids, the newest prompts and the list of
// words up to the queue.
func (w *promptWriter) index(tx *sqlx.Tx) error {
	if len(w.queue) == 0 && len(w.spilled) == 0 && len(w.removed) == 0 {
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
	if err := w.forgetWords(tx); err != nil {
		return err
	}
	words := newWordWriter()
	if err := w.insertWords(tx, words, recent); err != nil {
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

func (w *promptWriter) insertWords(tx *sqlx.Tx, words *wordWriter, recent *recentWriter) error {
	insert, err := tx.Prepare(`INSERT INTO prompt_words (rowid, words) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	folded := make([]byte, 0, 4096)
	add := func(id int64, text string) error {
		folded = Fold(folded[:0], text)
		recent.add(id, folded)
		_, err := insert.Exec(id, words.doc(folded))
		return err
	}
	for _, p := range w.queue {
		if err := add(p.Rowid, p.Text); err != nil {
			return err
		}
	}
	return w.eachSpilled(tx, add)
}

// forgetWords takes removed prompts out of FTS5, which wants to be told the
// very words it was given.
func (w *promptWriter) forgetWords(tx *sqlx.Tx) error {
	if len(w.removed) == 0 {
		return nil
	}
	remove, err := tx.Prepare(`INSERT INTO prompt_words (prompt_words, rowid, words) VALUES ('delete', ?, ?)`)
	if err != nil {
		return err
	}
	defer remove.Close()
	words := newWordWriter()
	slices.SortFunc(w.removed, func(a, b removedPrompt) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range w.removed {
		if _, err := remove.Exec(p.ID, words.doc(Fold(nil, p.Text))); err != nil {
			return err
		}
	}
	return nil
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
