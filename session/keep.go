package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/gajae-code/gjc-index/storage"
)

// Protect keeps the transcript at path from being pruned, deleted or archived
// until release is called, for whoever reads it at length. It is a shared lock
// on the file itself and makes nothing on disk; writers have one anyway.
//
// Errors: ErrProtected while the session is being removed or archived,
// fs.ErrNotExist, storage.ErrUnsafe.
func (s *Store) Protect(ctx context.Context, path string) (release func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := s.lockKeep(path, true)
	if err != nil {
		return nil, fmt.Errorf("protect session %s: %w", filepath.Base(path), err)
	}
	return sync.OnceValue(f.Close), nil
}

// keepTries is how often a transcript may be replaced between its opening and
// its locking before that counts as an error.
const keepTries = 10

// lockKeep opens a transcript and takes its keep lock without waiting, on the
// file that the path names.
func (s *Store) lockKeep(path string, shared bool) (storage.File, error) {
	for range keepTries {
		f, err := s.fsys.Open(path)
		if err != nil {
			return nil, err
		}
		same, err := s.lockOpen(f, path, shared)
		if err == nil && same {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: it is replaced again and again", ErrProtected)
}

// lockOpen locks an open transcript and reports whether its path still names
// it.
func (s *Store) lockOpen(f storage.File, path string, shared bool) (same bool, err error) {
	err = f.TryLock(shared)
	if errors.Is(err, storage.ErrLocked) {
		return false, ErrProtected
	}
	if err != nil {
		return false, err
	}
	have, err := f.Stat()
	if err != nil {
		return false, err
	}
	want, err := s.fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // opening it again says so
	}
	return err == nil && have.SameFile(want), err
}

// inUse says who uses a transcript at the moment: ErrBusy for a writer,
// ErrProtected for a reader, nil for nobody. It makes nothing on disk; the
// answer may be another one as soon as it is given.
func (s *Store) inUse(path string) error {
	f, err := s.fsys.Open(leasePath(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		err = f.TryLock(true)
		if err = errors.Join(err, f.Close()); errors.Is(err, storage.ErrLocked) {
			return s.busy(path, leasePath(path))
		}
		if err != nil {
			return err
		}
	}
	f, err = s.lockKeep(path, false)
	if err != nil {
		return err
	}
	return f.Close()
}
