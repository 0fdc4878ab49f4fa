package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

const (
	eventBlock = 256     // how many event ids a process reserves at first
	maxBlock   = 8192    // and at most, each block being twice the one before
	eventGap   = 1 << 20 // what is left free above the highest id when the sequence is lost
	eventWidth = 16      // hexadecimal digits
)

// sequence hands out the event ids of one home. Its file holds the next free
// id and a line end, nothing else; ids are reserved in blocks under its lock,
// and the file is synced before an id of a block is used. It is never reset.
// Safe for several goroutines and processes.
type sequence struct {
	fsys storage.FS
	home scope.Home

	mu        sync.Mutex
	next, end uint64 // reserved and not used yet
	block     uint64 // how many were reserved last; 0: none yet
}

// reserve returns the first of n consecutive event ids that nobody else has or
// will have. Ids that are never written are lost, which is fine. dir is where
// the entries go, also looked through if the sequence was lost.
//
// Errors: storage.ErrLocked if ctx ends while another process holds the
// sequence; ErrSequence if its file is no number.
func (q *sequence) reserve(ctx context.Context, n int, dir string) (jsonl.EventID, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end-q.next < uint64(n) {
		if err := q.refill(ctx, uint64(n), dir); err != nil {
			return 0, err
		}
	}
	first := q.next
	q.next += uint64(n)
	return jsonl.EventID(first), nil
}

// refill reserves a new block. What was left of the old one is given up unless
// the new one follows it.
func (q *sequence) refill(ctx context.Context, n uint64, dir string) (err error) {
	if err := q.home.Prepare(q.fsys); err != nil {
		return fmt.Errorf("prepare event ids: %w", err)
	}
	path := q.home.EventSequence()
	lock, err := q.fsys.Lock(enter(ctx, rankSequence, q), path, storage.Exclusive)
	if err != nil {
		return fmt.Errorf("reserve event ids: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	next, known, err := readSequence(lock.File())
	if err != nil {
		return err
	}
	if !known {
		if next, err = q.recover(ctx, dir); err != nil {
			return fmt.Errorf("find the highest event id: %w", err)
		}
	}
	block := min(max(2*q.block, eventBlock), maxBlock)
	end := next + max(n, block)
	if end < next {
		return fmt.Errorf("%w: out of ids", ErrSequence)
	}
	if err := q.writeSequence(lock.File(), end, known); err != nil {
		return fmt.Errorf("reserve event ids: %w", err)
	}
	q.next, q.end, q.block = next, end, block
	return nil
}

// RepairSequence looks at the home's sequence of event ids. One that is no
// number is kept under another name and begun anew above every id in use; kept
// says under which, "" if nothing was wrong. A sequence that can be read is
// never changed.
func (s *Store) RepairSequence(ctx context.Context) (kept string, err error) {
	q := s.seq
	q.mu.Lock()
	defer q.mu.Unlock()
	path := q.home.EventSequence()
	lock, err := q.fsys.Lock(enter(ctx, rankSequence, q), path, storage.Exclusive)
	if err != nil {
		return "", fmt.Errorf("repair event ids: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if _, _, err := readSequence(lock.File()); !errors.Is(err, ErrSequence) {
		return "", err
	}
	kept, err = s.copyAside(ctx, path)
	if err != nil {
		return "", fmt.Errorf("repair event ids: %w", err)
	}
	next, err := q.recover(ctx, "")
	if err != nil {
		return kept, fmt.Errorf("repair event ids: %w", err)
	}
	q.next, q.end = 0, 0
	if err := lock.File().Truncate(0); err != nil {
		return kept, fmt.Errorf("repair event ids: %w", err)
	}
	return kept, q.writeSequence(lock.File(), next, false)
}

// readSequence reads the next free id. known is false for a file that is new,
// also one whose first writing was cut off: no id was given out then.
func readSequence(f storage.File) (next uint64, known bool, err error) {
	buf := make([]byte, eventWidth+2)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	text := buf[:n]
	if n <= eventWidth && isHex(text) {
		return 0, false, nil
	}
	id, ok := jsonl.ParseEventID(string(bytes.TrimSuffix(text, []byte{'\n'})))
	if !ok || n != eventWidth+1 || id == 0 {
		return 0, false, fmt.Errorf("%w: %s: run doctor --fix", ErrSequence, f.Name())
	}
	return uint64(id), true, nil
}

func isHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// writeSequence overwrites the number in place, which keeps the lock's file,
// and syncs it. Both numbers are of one length and lie in one sector.
func (q *sequence) writeSequence(f storage.File, next uint64, known bool) error {
	if _, err := f.WriteAt([]byte(jsonl.EventID(next).String()+"\n"), 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if known {
		return nil
	}
	return q.fsys.SyncDir(filepath.Dir(q.home.EventSequence()))
}

// raiseSequence sets the sequence above every id in use, if it is not: a home
// that was put together of copies may have an old one. It never goes down.
func (s *Store) raiseSequence(ctx context.Context) (err error) {
	q := s.seq
	q.mu.Lock()
	defer q.mu.Unlock()
	lock, err := q.fsys.Lock(enter(ctx, rankSequence, q), q.home.EventSequence(), storage.Exclusive)
	if err != nil {
		return fmt.Errorf("raise event ids: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	next, known, err := readSequence(lock.File())
	if err != nil || !known {
		return err
	}
	above, err := q.recover(ctx, "")
	if err != nil {
		return fmt.Errorf("raise event ids: %w", err)
	}
	if above-eventGap < next {
		return nil
	}
	q.next, q.end = 0, 0
	return q.writeSequence(lock.File(), above, known)
}
