package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// residentCache is a directory of the original program that copies leave out.
const residentCache = "resident-cache"

// copyArtifacts copies a session's directory, within the bounds of the
// workspace rules. A missing one is none. Links and special files are refused.
func (s *Store) copyArtifacts(ctx context.Context, from, to string) error {
	if there, err := s.isThere(from); err != nil || !there {
		return err
	}
	c := artifactCopy{st: s}
	if err := c.dir(ctx, from, to, 0); err != nil {
		return fmt.Errorf("copy artifacts: %w", err)
	}
	return nil
}

// copyBelongings copies what a copy of a session needs: its artifacts and the
// archive of what was taken out of it.
func (s *Store) copyBelongings(ctx context.Context, from, to string) error {
	if err := s.copyArtifacts(ctx, from, to); err != nil {
		return err
	}
	if err := s.copyArchive(ctx, from+".jsonl", to+".jsonl"); err != nil {
		return fmt.Errorf("copy archive: %w", err)
	}
	return nil
}

type artifactCopy struct {
	st    *Store
	files int
	bytes int64
}

func (c *artifactCopy) dir(ctx context.Context, from, to string, depth int) error {
	if depth > scope.MaxArtifactDepth {
		return fmt.Errorf("%w: deeper than %d", storage.ErrTooLarge, scope.MaxArtifactDepth)
	}
	list, err := c.st.fsys.ReadDir(from)
	if err != nil {
		return err
	}
	if err := c.st.fsys.Mkdir(to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Name == residentCache || isLockOrSidecar(e.Name) {
			continue
		}
		src, dst := filepath.Join(from, e.Name), filepath.Join(to, e.Name)
		if e.Info.Kind == storage.Dir {
			err = c.dir(ctx, src, dst, depth+1)
		} else {
			err = c.file(ctx, src, dst)
		}
		if err != nil {
			return err
		}
	}
	return c.st.fsys.SyncDir(filepath.Dir(to))
}

// isLockOrSidecar tells files that speak of their neighbour and are made anew.
func isLockOrSidecar(name string) bool {
	return strings.HasSuffix(name, ".lease") || strings.HasSuffix(name, ".meta.json")
}

func (c *artifactCopy) file(ctx context.Context, from, to string) error {
	f, err := c.st.fsys.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Links > 1 {
		return &storage.UnsafeError{Path: from, Reason: "has a second name"}
	}
	c.files++
	c.bytes += st.Size
	if c.files > scope.MaxArtifacts || c.bytes > scope.MaxArtifactBytes {
		return fmt.Errorf("%w: more than %d files or %d bytes", storage.ErrTooLarge, scope.MaxArtifacts, scope.MaxArtifactBytes)
	}
	return storage.Publish(ctx, c.st.fsys, to, newFileMode, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
