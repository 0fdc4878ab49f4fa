package storage

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// MkdirAll makes the directory name and the ones above it that are missing,
// each with mode 0700, and syncs the directory that each was made in. What is
// there already is left as it is; if name itself is there and no directory,
// that is an *UnsafeError.
func MkdirAll(fsys FS, name string) error {
	name = filepath.Clean(name)
	err := fsys.Mkdir(name)
	parent := filepath.Dir(name)
	if errors.Is(err, fs.ErrNotExist) && parent != name {
		if err := MkdirAll(fsys, parent); err != nil {
			return err
		}
		err = fsys.Mkdir(name)
	}
	if errors.Is(err, fs.ErrExist) {
		return wantDir(fsys, name)
	}
	if err != nil {
		// A root or a read-only file system may answer otherwise than "exists".
		if info, statErr := fsys.Lstat(name); statErr == nil && info.Kind == Dir {
			return nil
		}
		return err
	}
	return fsys.SyncDir(parent)
}

func wantDir(fsys FS, name string) error {
	info, err := fsys.Lstat(name)
	if err != nil {
		return err
	}
	if info.Kind != Dir {
		return &UnsafeError{Path: name, Reason: notADir(info.Kind)}
	}
	return nil
}
