package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/storage"
)

// Destination is a file that an export goes to, checked.
type Destination struct {
	fsys  storage.FS
	path  string // its directory with every link followed
	force bool
}

// DestinationOptions say what a destination may be.
type DestinationOptions struct {
	Force  bool     // replace a file that is there
	Avoid  []string // directories of the store, in and under which nothing is written
	Source string   // the transcript, never replaced
}

// fileMode is the mode of what is exported: a session is its owner's business.
const fileMode = 0o600

// Check says whether a file may be written at an absolute path. The directory
// must be there; links in it are followed before it is compared with those to
// avoid. Nothing is written.
//
// Errors: ErrDestination, storage.ErrUnsafe for a link or anything else that is
// no file at the path itself, fs.ErrExist without Force, fs.ErrNotExist for a
// missing directory.
func Check(fsys storage.FS, path string, opt DestinationOptions) (*Destination, error) {
	dir, err := storage.RealPath(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("export to %s: its directory: %w", path, err)
	}
	real := filepath.Join(dir, filepath.Base(path))
	info, err := fsys.Lstat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("export to %s: %w", path, err)
	case info.Kind != storage.Dir:
		return nil, fmt.Errorf("export to %s: %w: %s is no directory", path, ErrDestination, dir)
	}
	if err := avoid(fsys, dir, opt.Avoid); err != nil {
		return nil, fmt.Errorf("export to %s: %w", path, err)
	}
	info, err = fsys.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("export to %s: %w", path, err)
	case info.Kind != storage.Regular:
		return nil, fmt.Errorf("export: %w", &storage.UnsafeError{Path: path, Reason: "is a link, a directory or a device, not a file"})
	case !opt.Force:
		return nil, fmt.Errorf("export to %s: %w", path, fs.ErrExist)
	case isSource(fsys, info, opt.Source):
		return nil, fmt.Errorf("export to %s: %w: it is the session itself", path, ErrDestination)
	}
	return &Destination{fsys, real, opt.Force}, nil
}

// Path is where the file goes.
func (d *Destination) Path() string { return d.path }

// Save writes the file, whole or not at all: if write fails or ctx ends, what
// was there before is there after.
func (d *Destination) Save(ctx context.Context, write func(io.Writer) error) error {
	if d.force {
		return storage.Replace(ctx, d.fsys, d.path, fileMode, write)
	}
	return storage.Publish(ctx, d.fsys, d.path, fileMode, write)
}

func isSource(fsys storage.FS, info storage.Info, source string) bool {
	if source == "" {
		return false
	}
	own, err := fsys.Lstat(source)
	return err == nil && own.SameFile(info)
}

// avoid refuses a directory that is one of those to avoid, or lies in one.
// Directories are compared as the file system knows them, not by their names.
func avoid(fsys storage.FS, dir string, forbidden []string) error {
	for _, name := range forbidden {
		real, err := storage.RealPath(name)
		if err != nil {
			continue // it isn't there, so nothing can be in it
		}
		there, err := fsys.Lstat(real)
		if err != nil {
			continue
		}
		for up := dir; ; up = filepath.Dir(up) {
			if info, err := fsys.Lstat(up); err == nil && info.SameFile(there) {
				return fmt.Errorf("%w: %s belongs to the store", ErrDestination, name)
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	return nil
}
