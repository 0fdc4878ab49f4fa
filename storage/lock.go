package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// The pauses between two attempts at a lock that another holds. The kernel's
// own wait can't end with a context, so we ask again.
const (
	firstLockPause = time.Millisecond
	lastLockPause  = 25 * time.Millisecond
)

// maxLockMoves bounds how often a lock file may be replaced under our hands
// before that is an error and not bad luck.
const maxLockMoves = 100

// heldLock is a Lock on an open lock file.
type heldLock struct {
	file File
	once sync.Once
	err  error
}

func (l *heldLock) File() File { return l.file }

// Unlock closes the descriptor, which frees the lock in the same step. The
// lock file stays: removing it would let two processes hold two files.
func (l *heldLock) Unlock() error {
	l.once.Do(func() {
		l.err = errors.Join(l.file.Unlock(), l.file.Close())
	})
	return l.err
}

// tryLock opens the lock file, locks it and makes sure that its path still
// names it: whoever removed the file while holding it has freed a lock that
// nobody else can see.
func tryLock(name string, mode LockMode, open func() (File, error), lstat func(string) (Info, error)) (Lock, error) {
	var vanished error
	for range maxLockMoves {
		f, err := open()
		if errors.Is(err, fs.ErrNotExist) {
			vanished = err // removed while it was being opened, or there is no directory
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := f.TryLock(mode == Shared); err != nil {
			_ = f.Close()
			return nil, err
		}
		same, err := stillNamed(f, name, lstat)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if same {
			return &heldLock{file: f}, nil
		}
		_ = f.Close()
	}
	if vanished != nil {
		return nil, vanished
	}
	return nil, fmt.Errorf("lock %s: the file was replaced %d times", name, maxLockMoves)
}

func stillNamed(f File, name string, lstat func(string) (Info, error)) (bool, error) {
	have, err := f.Stat()
	if err != nil {
		return false, err
	}
	want, err := lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return have.SameFile(want), nil
}

// waitLock calls try until it answers anything but ErrLocked, or ctx ends.
func waitLock(ctx context.Context, name string, try func() (Lock, error)) (Lock, error) {
	pause := firstLockPause
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		l, err := try()
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w: %w", name, ErrLocked, ctx.Err())
		case <-timer.C:
		}
		pause = min(2*pause, lastLockPause)
		timer.Reset(pause)
	}
}
