package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// ErrNotManaged is a session outside of the home's sessions directory.
var ErrNotManaged = errors.New("session lies in a directory of the user's own")

// Delete deletes a managed session for good, with its artifacts and sidecars.
// A tombstone hides it from the original program too, and its source in an
// older layout goes with it, so that it does not come back. Where the session's
// workspace is gone nothing could bring it back, and tombstone is "".
//
// Errors: ErrBusy or ErrProtected while anything writes or reads it, ErrPinned,
// ErrNotManaged, fs.ErrNotExist, *scope.Error. What was cut off halfway is
// finished by another call, or by scope.Reconcile.
func (s *Store) Delete(ctx context.Context, path string) (tombstone string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	place, err := s.placeOf(path)
	if err == nil && place == placeExplicit {
		err = ErrNotManaged
	}
	if err != nil {
		return "", fmt.Errorf("delete session: %w", err)
	}
	release, err := s.holdAlone(ctx, path, place)
	if err != nil {
		return "", fmt.Errorf("delete session: %w", err)
	}
	if err = s.unpinned(path); err == nil {
		tombstone, err = s.deleteHeld(ctx, path)
	}
	there, lookErr := s.isThere(path)
	if lookErr == nil && !there {
		err = errors.Join(err, s.removeSidecars(path))
	}
	if err = errors.Join(err, release(lookErr == nil && !there)); err != nil {
		return tombstone, fmt.Errorf("delete session: %w", err)
	}
	return tombstone, nil
}

// holdAlone makes sure that nobody writes a transcript or reads it at length.
// The lease file of a session in an older layout would be the only thing of
// ours there, so none is made: nobody writes in place there.
func (s *Store) holdAlone(ctx context.Context, path string, place place) (release func(gone bool) error, err error) {
	f, err := s.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	lease := func(bool) error { return nil }
	if place == placeScope {
		held, err := s.hold(ctx, path, 0)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		lease = held.release
		if s.isShared(held) {
			return nil, errors.Join(ErrProtected, held.release(false), f.Close())
		}
	}
	if err := f.TryLock(false); err != nil {
		if errors.Is(err, storage.ErrLocked) {
			err = ErrProtected
		}
		return nil, errors.Join(err, lease(false), f.Close())
	}
	return func(gone bool) error { return errors.Join(f.Close(), lease(gone)) }, nil
}

// isShared reports whether a session of this store has the lease too.
func (s *Store) isShared(h *held) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return h.refs > 1
}

func (s *Store) deleteHeld(ctx context.Context, path string) (tombstone string, err error) {
	in, err := readInfo(ctx, s.fsys, path)
	if err != nil {
		return "", err
	}
	sc, err := scope.Ensure(ctx, s.fsys, s.opt.Home, in.Cwd)
	var refused *scope.Error
	if errors.As(err, &refused) && refused.Code == scope.CwdMissing {
		return "", s.removeOrphan(ctx, path)
	}
	if err != nil {
		return "", err
	}
	c, err := sc.Candidate(ctx, s.fsys, path)
	if err != nil {
		return "", err
	}
	return sc.Delete(ctx, s.fsys, s.opt.Process, c)
}

// removeOrphan removes a session whose workspace is gone, the transcript last:
// as long as that is there, a call that was cut off can be made again.
func (s *Store) removeOrphan(ctx context.Context, path string) error {
	if err := s.removeTree(ctx, stemOf(path), 0); err != nil {
		return fmt.Errorf("remove artifacts: %w", err)
	}
	if err := s.fsys.Remove(path); err != nil {
		return err
	}
	return s.fsys.SyncDir(filepath.Dir(path))
}

// removeTree removes a directory and what is in it. No link is followed.
func (s *Store) removeTree(ctx context.Context, dir string, depth int) error {
	info, err := s.fsys.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Kind != storage.Dir {
		return nil
	}
	if err != nil {
		return err
	}
	if depth > scope.MaxArtifactDepth {
		return fmt.Errorf("%w: deeper than %d", storage.ErrTooLarge, scope.MaxArtifactDepth)
	}
	entries, err := s.fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		inside := filepath.Join(dir, e.Name)
		if e.Info.Kind == storage.Dir {
			err = s.removeTree(ctx, inside, depth+1)
		} else {
			err = s.fsys.Remove(inside)
		}
		if err != nil {
			return err
		}
	}
	return s.fsys.Remove(dir)
}

// removeSidecars removes what stands beside a deleted transcript, by exact
// names.
func (s *Store) removeSidecars(path string) error {
	names := []string{LeafPath(path), MetaPath(path)}
	for _, end := range movedEndings {
		if end != "" && end != ".jsonl" { // the artifacts went with the transcript
			names = append(names, stemOf(path)+end)
		}
	}
	var errs []error
	for _, name := range names {
		if err := s.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
