package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/jmoiron/sqlx"
)

// A journal holds the prompts that one process has accepted and not stored yet,
// one JSON object a line, in <history.db>.<16 hex>.pending. The process keeps
// it locked, so whoever can lock such a file knows that its owner is dead, and
// stores what it says. No sync: it is to survive the process, not the machine.

// pendingSuffix ends the name of a journal.
const pendingSuffix = ".pending"

// note is one line of a journal.
type note struct {
	V      int     `json:"v"`
	After  int64   `json:"after"` // the row, if it was stored, has a higher id
	At     int64   `json:"at"`    // Unix s
	Cwd    *string `json:"cwd,omitempty"`
	Prompt string  `json:"prompt"`
}

// journal is the file of this process; it is made with the first prompt.
type journal struct {
	fsys storage.FS
	path string // of the database

	mu   sync.Mutex
	file storage.File
	size int64
	err  error // of the last append
}

// While prompts keep coming they are noted every notePeriod; idlePeriods
// without one end that.
const (
	notePeriod  = 2 * time.Millisecond
	idlePeriods = 25
)

// noteAll appends to the journal whatever was added, and wakes the goroutine
// that stores. The first prompt wakes it; as long as it is awake it looks by
// itself, since to wake a goroutine is what costs Add most.
func (s *Store) noteAll(store chan<- struct{}) {
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		}
		tick := time.NewTicker(notePeriod)
		for s.queue.stayAwake() {
			s.journal.append(&s.queue)
			select {
			case store <- struct{}{}:
			default:
			}
			select {
			case <-s.stop:
				tick.Stop()
				return
			case <-s.wake:
			case <-tick.C:
			}
		}
		tick.Stop()
	}
}

// stayAwake reports whether the journal's goroutine is to look again by itself:
// not after some periods without a new prompt.
func (q *queue) stayAwake() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.idle++
	if q.noted < q.stored+len(q.items) || q.pressing {
		q.idle = 0
	}
	q.awake = q.idle < idlePeriods
	if !q.awake {
		q.idle = 0
	}
	return q.awake
}

// append writes down what is queued and not in the journal yet. It holds j.mu
// from the look at the queue to the end of the write, so that trim can't come
// in between and leave a note of something stored long ago.
func (j *journal) append(q *queue) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q.mu.Lock()
	from := max(0, q.noted-q.stored)
	todo, after, upTo := q.items[from:len(q.items):len(q.items)], q.lastID, q.stored+len(q.items)
	q.mu.Unlock()
	if len(todo) == 0 {
		return
	}
	j.err = j.write(todo, after)
	if j.err == nil {
		q.mu.Lock()
		q.noted = upTo
		q.mu.Unlock()
	}
}

// write appends lines with one write. A line that a failure left torn is
// written over by the next call.
func (j *journal) write(todo []added, after int64) error {
	if j.file == nil {
		if err := j.create(); err != nil {
			return fmt.Errorf("make journal: %w", err)
		}
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, a := range todo {
		if err := enc.Encode(note{V: 1, After: after, At: a.at.Unix(), Cwd: a.cwd, Prompt: a.text}); err != nil {
			return err
		}
	}
	n, err := j.file.WriteAt(lines.Bytes(), j.size)
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.size += int64(n)
	return nil
}

// create makes and locks the file. Between the two another process may take it
// for an orphan and remove it; then another is made.
func (j *journal) create() error {
	for range 10 {
		var stamp [8]byte
		if _, err := rand.Read(stamp[:]); err != nil {
			return err
		}
		name := j.path + "." + hex.EncodeToString(stamp[:]) + pendingSuffix
		f, err := j.fsys.Create(name)
		if err != nil {
			return err
		}
		if err = own(j.fsys, f); err == nil {
			j.file, j.size = f, 0
			return nil
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, storage.ErrLocked) && !missing(err) {
			return err
		}
	}
	return storage.ErrLocked
}

// own locks f, and makes sure that its name still names it.
func own(fsys storage.FS, f storage.File) error {
	if err := f.TryLock(false); err != nil {
		return err
	}
	here, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := fsys.Lstat(f.Name())
	if err == nil && !here.SameFile(there) {
		err = storage.ErrLocked
	}
	return err
}

// trim empties the journal if all it says is stored.
func (j *journal) trim(q *queue) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	q.mu.Lock()
	free := q.noted <= q.stored
	q.mu.Unlock()
	if !free || j.size == 0 {
		return nil
	}
	if err := j.file.Truncate(0); err != nil {
		return fmt.Errorf("empty journal: %w", err)
	}
	j.size = 0
	return nil
}

// close removes the journal if it is empty, and leaves it to the next Open if
// not.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	var err error
	if j.size == 0 {
		err = j.fsys.Remove(j.file.Name())
	}
	return errors.Join(err, j.file.Close())
}

// replay stores what dead processes left in their journals. A prompt that was
// stored before its journal was emptied is found again and not stored twice.
func (s *Store) replay(ctx context.Context) error {
	dir, base := filepath.Split(s.path)
	entries, err := s.fsys.StatDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	// Names are random: what was typed first is stored first.
	slices.SortStableFunc(entries, func(a, b storage.DirEntry) int { return cmp.Compare(a.Info.ModTime, b.Info.ModTime) })
	for _, e := range entries {
		if e.Info.Kind != storage.Regular || !strings.HasPrefix(e.Name, base+".") || !strings.HasSuffix(e.Name, pendingSuffix) {
			continue
		}
		if err := s.replayFile(ctx, filepath.Join(dir, e.Name)); err != nil {
			return fmt.Errorf("store prompts of %s: %w", e.Name, err)
		}
	}
	return nil
}

func (s *Store) replayFile(ctx context.Context, name string) (err error) {
	f, err := s.fsys.Edit(name)
	if missing(err) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch err := own(s.fsys, f); {
	case errors.Is(err, storage.ErrLocked), missing(err):
		return nil // its owner lives, or another process was faster
	case err != nil:
		return err
	}
	notes, err := readNotes(f)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *sqlx.Tx) error { return storeNotes(ctx, tx, notes) })
	if err != nil {
		return err
	}
	return s.fsys.Remove(name)
}

// readNotes reads whole lines; a torn last line was never more than a promise
// being made.
func readNotes(f storage.File) ([]note, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(io.NewSectionReader(f, 0, info.Size))
	var notes []note
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return notes, nil
		}
		if err != nil {
			return nil, err
		}
		var n note
		if json.Unmarshal(line, &n) == nil && n.V == 1 && n.Prompt != "" {
			notes = append(notes, n)
		}
	}
}

// storeNotes adds the rows that are not there. Rows of one process come in the
// order of its notes, so each is looked for behind the one before.
func storeNotes(ctx context.Context, tx *sqlx.Tx, notes []note) error {
	var behind int64
	for _, n := range notes {
		behind = max(behind, n.After)
		var id int64
		err := tx.GetContext(ctx, &id, `
			SELECT id FROM history WHERE id > ? AND prompt = ? AND cwd IS ? ORDER BY id LIMIT 1`,
			behind, n.Prompt, n.Cwd)
		if err == nil {
			behind = id
			continue
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)`,
			n.Prompt, n.At, n.Cwd)
		if err != nil {
			return err
		}
		if behind, err = res.LastInsertId(); err != nil {
			return err
		}
	}
	return nil
}
