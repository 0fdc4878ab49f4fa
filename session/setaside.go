package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// damagedSuffix ends the name of a file that was set aside whole.
const damagedSuffix = ".damaged"

// stampLayout is a time in a file name.
const stampLayout = "20060102T150405.000Z"

// asideTries bounds how many files of one stamp there may be.
const asideTries = 1000

// asideNames are the names for what is set aside at path: the first for the
// present, then numbered ones.
func (s *Store) asideName(path string, n int) string {
	name := path + "." + s.opt.Now().UTC().Format(stampLayout)
	if n > 0 {
		name += "-" + strconv.Itoa(n+1)
	}
	return name + damagedSuffix
}

// setAside renames a file that is no session, so that one can be begun at its
// path. Nothing is replaced, its mode stays. Decision 1.
func (s *Store) setAside(path string) error {
	if !strings.HasSuffix(path, ".jsonl") {
		return fmt.Errorf("set %s aside: its name does not end in .jsonl", filepath.Base(path))
	}
	for n := range asideTries {
		err := s.fsys.RenameNoReplace(path, s.asideName(path, n))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		return s.fsys.SyncDir(filepath.Dir(path))
	}
	return fmt.Errorf("set %s aside: %w", filepath.Base(path), fs.ErrExist)
}

// keepCopy keeps a transcript that has damaged lines as it is, before a
// rewrite drops them. Decision 1.
func (s *Store) keepCopy(ctx context.Context, path string) error {
	name, err := s.copyAside(ctx, path)
	if err != nil {
		return fmt.Errorf("keep damaged lines of %s: %w", filepath.Base(path), err)
	}
	s.opt.Log.Warn("the session had damaged lines, which writing drops: it was kept as it was", "copy", name)
	return nil
}

// copyAside copies a file beside itself, under a name for what is damaged,
// with its mode.
func (s *Store) copyAside(ctx context.Context, path string) (name string, err error) {
	f, err := s.fsys.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // was only read
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	for n := range asideTries {
		name = s.asideName(path, n)
		err = storage.Publish(ctx, s.fsys, name, st.Mode, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, st.Size))
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return name, err
}
