package migrations

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gajae-code/gjc-index/storage"
)

// disk is as much of storage.FS on real files as Open asks for.
type disk struct{ storage.FS }

func (disk) Lstat(name string) (storage.Info, error) {
	st, err := os.Lstat(name)
	if err != nil {
		return storage.Info{}, err
	}
	info := storage.Info{Mode: st.Mode().Perm(), Size: st.Size()}
	switch {
	case st.Mode().IsRegular():
		info.Kind = storage.Regular
	case st.Mode()&fs.ModeSymlink != 0:
		info.Kind = storage.Symlink
	}
	return info, nil
}

type created struct {
	storage.File
	f *os.File
}

func (c created) Close() error { return c.f.Close() }

func (disk) Create(name string) (storage.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return created{f: f}, nil
}

func (disk) RenameNoReplace(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

func (disk) Remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
