package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// copyInto copies a session of an older layout into a scope, artifacts first,
// so that a transcript never stands without them. What an earlier call copied
// before it was cut off is kept.
func (s *Store) copyInto(ctx context.Context, from, to string) error {
	c := &resumedCopy{s: s}
	if there, err := s.isThere(stemOf(from)); err != nil {
		return err
	} else if there {
		if err := c.directory(ctx, stemOf(from), stemOf(to), 0); err != nil {
			return fmt.Errorf("copy artifacts: %w", err)
		}
	}
	return c.file(ctx, from, to)
}

// resumedCopy is a copy within the bounds of artifacts. Each file is whole or
// not there, so one that is there and holds the same was copied before.
type resumedCopy struct {
	s     *Store
	files int
	bytes int64
}

func (c *resumedCopy) directory(ctx context.Context, from, to string, depth int) error {
	if depth > scope.MaxArtifactDepth {
		return fmt.Errorf("%w: deeper than %d", storage.ErrTooLarge, scope.MaxArtifactDepth)
	}
	entries, err := c.s.fsys.StatDir(from)
	if err != nil {
		return err
	}
	if err := c.s.fsys.Mkdir(to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		src, dst := filepath.Join(from, e.Name), filepath.Join(to, e.Name)
		if reason := notPlain(e.Info); e.Info.Kind != storage.Dir && reason != "" {
			return &storage.UnsafeError{Path: src, Reason: reason}
		}
		switch {
		case e.Name == residentCache || isLockOrSidecar(e.Name):
			continue
		case e.Info.Kind == storage.Dir:
			err = c.directory(ctx, src, dst, depth+1)
		default:
			err = c.bounded(ctx, src, dst, e.Info.Size)
		}
		if err != nil {
			return err
		}
	}
	return c.s.fsys.SyncDir(filepath.Dir(to))
}

func (c *resumedCopy) bounded(ctx context.Context, from, to string, size int64) error {
	c.files++
	c.bytes += size
	if c.files > scope.MaxArtifacts || c.bytes > scope.MaxArtifactBytes {
		return fmt.Errorf("%w: more than %d files or %d bytes", storage.ErrTooLarge, scope.MaxArtifacts, scope.MaxArtifactBytes)
	}
	return c.file(ctx, from, to)
}

func (c *resumedCopy) file(ctx context.Context, from, to string) error {
	f, err := c.s.fsys.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	err = storage.Publish(ctx, c.s.fsys, to, newFileMode, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
	if errors.Is(err, fs.ErrExist) && c.s.sameBytes(ctx, from, to) {
		return nil
	}
	return err
}

// sameBytes reports whether two files hold the same. What can't be read is not
// the same.
func (s *Store) sameBytes(ctx context.Context, a, b string) bool {
	sum := func(path string) (string, error) {
		info, err := s.fsys.Lstat(path)
		if err != nil {
			return "", err
		}
		return scope.Candidate{Path: path, Info: info}.Sum(ctx, s.fsys)
	}
	sumA, errA := sum(a)
	sumB, errB := sum(b)
	return errA == nil && errB == nil && sumA == sumB
}
