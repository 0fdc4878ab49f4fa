package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// movedEndings are the endings of what goes along when a session is moved, the
// transcript last. The leaf and the metadata are written anew.
var movedEndings = [...]string{"", ".pin.json", ".archive.ndjson", ".archive.ndjson.zst", ".psm.ndjson", ".psm.status.json", ".jsonl"}

// Move takes the session to another workspace: into its scope, with all that
// belongs to it. The header says the new workspace as cwd spells it.
//
// Errors: *scope.Error, scope.ErrConflict if something has its name there,
// ErrBusy. After an error of the rewrite the session is in its new place with
// its old header, and stopped.
func (s *Session) Move(ctx context.Context, cwd string) error {
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	if s.latched != nil {
		return s.latchedError()
	}
	if !s.memory {
		sc, err := scope.Ensure(ctx, s.st.fsys, s.st.opt.Home, cwd)
		if err != nil {
			return fmt.Errorf("move session: %w", err)
		}
		if err := s.moveFilesLocked(ctx, sc.Dir); err != nil {
			return fmt.Errorf("move session: %w", err)
		}
	}
	header := jsonl.NewHeader(s.header.Value().Clone())
	header.Set("cwd", jsonl.StringValue(cwd))
	s.header, s.cwd = header, cwd
	if !s.memory && s.onDisk {
		if err := s.rewriteLocked(ctx, nil); err != nil {
			_, err = s.failed(err)
			return err
		}
	}
	s.st.opened(cwd, s.path)
	return s.writeLeafLocked(ctx)
}

// moveFilesLocked takes the transcript and what belongs to it to another
// directory, under the leases of both places.
func (c *core) moveFilesLocked(ctx context.Context, dir string) error {
	to := filepath.Join(dir, filepath.Base(c.path))
	if to == c.path {
		return nil
	}
	held, err := c.st.hold(ctx, to, 0)
	if err != nil {
		return err
	}
	err = c.moveAll(ctx, to)
	if !c.moved[len(movedEndings)-1] && (err != nil || c.onDisk) {
		return errors.Join(err, held.release(true))
	}
	err = errors.Join(err, c.closeAppender(), c.forgetOldPlace())
	c.held = held
	c.gen = held.gen
	c.place(to)
	c.managed = true
	return err
}

// moveAll moves one thing after the other, the transcript last: until then
// everything is found by the old name, and taken back if something fails.
func (c *core) moveAll(ctx context.Context, to string) error {
	if !scope.IsTranscriptName(filepath.Base(c.path)) {
		return fmt.Errorf("%s: %w", filepath.Base(c.path), ErrBadID)
	}
	c.moved = [len(movedEndings)]bool{}
	if there, err := c.st.isThere(to); err != nil || there {
		return errors.Join(err, fmt.Errorf("%s: %w", filepath.Base(to), scope.ErrConflict))
	}
	if err := c.finishLates(ctx); err != nil {
		return err
	}
	for i, end := range movedEndings {
		moved, err := c.st.moveOne(ctx, stemOf(c.path)+end, stemOf(to)+end)
		if err != nil {
			return errors.Join(err, c.moveBack(to, i))
		}
		c.moved[i] = moved
	}
	err := errors.Join(c.st.fsys.SyncDir(filepath.Dir(to)), c.st.fsys.SyncDir(c.dir))
	if err != nil {
		err = errors.Join(err, c.moveBack(to, len(movedEndings)))
	}
	return err
}

// moveBack takes back the first n of what was moved, the transcript first. What
// can't be taken back stays marked as moved.
func (c *core) moveBack(to string, n int) error {
	var errs []error
	for i := n - 1; i >= 0; i-- {
		if !c.moved[i] {
			continue
		}
		_, err := c.st.moveOne(context.Background(), stemOf(to)+movedEndings[i], stemOf(c.path)+movedEndings[i])
		c.moved[i] = err != nil
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// moveOne renames a file or a directory; one that is missing is none. A file
// that has the new name already, as a crash can leave it, loses the old one.
func (s *Store) moveOne(ctx context.Context, from, to string) (moved bool, err error) {
	err = storage.RetryRename(ctx, func() error { return s.fsys.RenameNoReplace(from, to) })
	if errors.Is(err, fs.ErrNotExist) {
		if there, lerr := s.isThere(from); lerr == nil && !there {
			return false, nil
		}
	}
	if errors.Is(err, fs.ErrExist) {
		if twins, terr := s.twins(from, to); terr == nil && twins {
			err = s.fsys.Remove(from)
		}
	}
	if errors.Is(err, syscall.EXDEV) {
		return s.moveAcross(ctx, from, to)
	}
	return err == nil, err
}

// twins reports whether two names are those of one file: a move that was cut off
// may leave both.
func (s *Store) twins(a, b string) (bool, error) {
	one, err := s.fsys.Lstat(a)
	if err == nil && one.Kind == storage.Regular {
		var other storage.Info
		if other, err = s.fsys.Lstat(b); err == nil {
			return other.SameFile(one), nil
		}
	}
	if missing(err) {
		err = nil
	}
	return false, err
}

// moveAcross moves a file or a directory to another file system: the copy is
// whole and synced before the original goes.
func (s *Store) moveAcross(ctx context.Context, from, to string) (moved bool, err error) {
	st, err := s.fsys.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if st.Kind == storage.Dir {
		err = s.copyArtifacts(ctx, from, to)
		if err == nil {
			err = s.removeTree(ctx, from, 0)
		}
		return err == nil, err
	}
	c := artifactCopy{st: s}
	if err := c.file(ctx, from, to); err != nil {
		return false, err
	}
	if err := s.fsys.Remove(from); err != nil {
		return false, errors.Join(err, s.fsys.Remove(to)) // the copy made just now
	}
	return true, nil
}

// forgetOldPlace removes what speaks of the transcript at its old path, and
// gives the lease there up.
func (c *core) forgetOldPlace() error {
	var errs []error
	for _, path := range []string{LeafPath(c.path), MetaPath(c.path)} {
		if err := c.st.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	c.leafFile = false
	return errors.Join(append(errs, c.held.release(true))...)
}
