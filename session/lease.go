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

// BusyError is a session that another process writes.
type BusyError struct {
	Path  string
	PID   int    // 0 if the lease file doesn't say
	Host  string // "" if the lease file doesn't say
	Since string // a timestamp; "" if the lease file doesn't say
}

// Error names the holder.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%v: %s", ErrBusy, filepath.Base(e.Path))
	}
	return fmt.Sprintf("%v: %s: process %d on %s since %s", ErrBusy, filepath.Base(e.Path), e.PID, e.Host, e.Since)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// leaseHolder is what a lease file says, for people.
type leaseHolder struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"`
}

// stemOf is a transcript's path without .jsonl.
func stemOf(path string) string { return strings.TrimSuffix(path, ".jsonl") }

func leasePath(path string) string {
	dir, base := filepath.Split(stemOf(path))
	return dir + "." + base + ".lease"
}

// hold takes the lease of the transcript at path, waiting at most wait if
// another process has it. The directory exists.
func (s *Store) hold(ctx context.Context, path string, wait time.Duration) (*held, error) {
	key := path
	if dir, err := storage.RealPath(filepath.Dir(path)); err == nil {
		key = filepath.Join(dir, filepath.Base(path))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[key]; h != nil {
		h.refs++
		return h, nil
	}
	h := &held{st: s, key: key, path: leasePath(path), refs: 1}
	lock, err := s.takeLease(ctx, h.path, wait)
	if err != nil {
		return nil, err
	}
	h.lock = lock
	s.held[key] = h
	return h, nil
}

func (s *Store) takeLease(ctx context.Context, path string, wait time.Duration) (storage.Lock, error) {
	lock, err := s.fsys.TryLock(path, storage.Exclusive)
	if errors.Is(err, storage.ErrLocked) && wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		lock, err = s.fsys.Lock(waiting, path, storage.Exclusive)
		cancel()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, s.busy(path)
	}
	if err != nil {
		return nil, fmt.Errorf("take writer lease: %w", err)
	}
	host, _ := os.Hostname() // "" says as much
	text, _ := json.Marshal(leaseHolder{PID: os.Getpid(), Host: host, Since: s.timestamp()})
	f := lock.File()
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil { // what a lease file says is information for people
		s.opt.Log.Debug("describe writer lease", "path", path, "cause", err)
	}
	return lock, nil
}

// busy tells who holds a lease.
func (s *Store) busy(path string) error {
	e := &BusyError{Path: path}
	text, err := storage.ReadFile(s.fsys, path, 4<<10)
	var who leaseHolder
	if err == nil && json.Unmarshal(text, &who) == nil {
		e.PID, e.Host, e.Since = who.PID, who.Host, who.Since
	}
	return e
}

// release gives the lease up with the last session that has it. gone says that
// the transcript never came to be: then the lease file goes too.
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
