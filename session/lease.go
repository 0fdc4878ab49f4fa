package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// held is the writer lease of one transcript, shared by the sessions that this
// store has open on it.
type held struct {
	st   *Store
	key  string
	path string // of the lease file
	lock storage.Lock

	refs int // guarded by Store.mu

	mu  sync.Mutex // one append or rewrite at a time, over all sessions on the file
	gen int        // counts rewrites; guarded by mu
}

// leaseHolder is what a lease file says, for people.
type leaseHolder struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"`
}

// maxLeaseFile bounds what is read of a lease file, in bytes.
const maxLeaseFile = 4 << 10

// stemOf is a transcript's path without .jsonl.
func stemOf(path string) string { return strings.TrimSuffix(path, ".jsonl") }

func leasePath(path string) string {
	dir, base := filepath.Split(stemOf(path))
	return dir + "." + base + ".lease"
}

// The pauses between two attempts at a lease that another process holds.
const (
	firstLeasePause = time.Millisecond
	lastLeasePause  = 25 * time.Millisecond
)

// hold takes the lease of the transcript at path, waiting at most wait if
// another process has it; within a turn it doesn't wait. The directory exists.
func (s *Store) hold(ctx context.Context, path string, wait time.Duration) (*held, error) {
	key := path
	if dir, err := storage.RealPath(filepath.Dir(path)); err == nil {
		key = filepath.Join(dir, filepath.Base(path))
	}
	h, err := s.tryHold(key, path)
	if wait <= 0 || !errors.Is(err, ErrBusy) || !mayWait(ctx, rankWriter) {
		return h, err
	}
	deadline := time.Now().Add(wait)
	for pause := firstLeasePause; errors.Is(err, ErrBusy) && time.Now().Before(deadline); pause = min(2*pause, lastLeasePause) {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, errors.Join(err, ctx.Err())
		case <-timer.C:
		}
		h, err = s.tryHold(key, path)
	}
	return h, err
}

// tryHold takes the lease, or a share of it if this store has it already.
func (s *Store) tryHold(key, path string) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[key]; h != nil {
		h.refs++
		return h, nil
	}
	h := &held{st: s, key: key, path: leasePath(path), refs: 1}
	lock, err := s.fsys.TryLock(h.path, storage.Exclusive)
	if errors.Is(err, storage.ErrLocked) {
		return nil, s.busy(path, h.path)
	}
	if err != nil {
		return nil, fmt.Errorf("take writer lease: %w", err)
	}
	h.lock = lock
	s.signLease(lock.File())
	s.held[key] = h
	return h, nil
}

// signLease writes into a lease file who holds it, for people: an error is of
// no consequence.
func (s *Store) signLease(f storage.File) {
	host, _ := os.Hostname() // "" says as much
	text, _ := json.Marshal(leaseHolder{PID: os.Getpid(), Host: host, Since: s.timestamp()})
	err := f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		s.opt.Log.Debug("sign writer lease", "path", f.Name(), "cause", err)
	}
}

// busy tells who holds a lease.
func (s *Store) busy(path, lease string) error {
	e := &BusyError{Path: path}
	text, err := storage.ReadFile(s.fsys, lease, maxLeaseFile)
	var who leaseHolder
	if err == nil && json.Unmarshal(text, &who) == nil {
		e.PID, e.Host, e.Since = who.PID, who.Host, who.Since
	}
	return e
}

// release gives the lease up with the last session that has it. gone says that
// nothing was or is to be written: then the lease file goes too, while held.
func (h *held) release(gone bool) error {
	h.st.mu.Lock()
	defer h.st.mu.Unlock()
	if h.refs--; h.refs > 0 {
		return nil
	}
	delete(h.st.held, h.key)
	var err error
	if gone {
		if err = h.st.fsys.Remove(h.path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return errors.Join(err, h.lock.Unlock())
}
