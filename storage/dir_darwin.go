package storage

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadDir lists name, sorted.
func (d *disk) ReadDir(name string) ([]DirEntry, error) {
	list, dir, err := d.scan(name)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, dir.Close()
}

// StatDir lists name with a whole Info each. An entry that can't be stat'ed
// keeps the kind the directory gave; one that is gone is left out.
func (d *disk) StatDir(name string) ([]DirEntry, error) {
	list, dir, err := d.scan(name)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, e := range list {
		var st unix.Stat_t
		_, err := retry(func() (int, error) {
			return 0, unix.Fstatat(int(dir.Fd()), e.Name, &st, unix.AT_SYMLINK_NOFOLLOW)
		})
		if err == unix.ENOENT {
			continue
		}
		if err == nil {
			e.Info = infoOf(&st)
		}
		kept = append(kept, e)
	}
	return kept, dir.Close()
}

// scan lists the open directory, which the caller closes.
func (d *disk) scan(name string) ([]DirEntry, *os.File, error) {
	fd, err := openDir(name)
	if err != nil {
		return nil, nil, err
	}
	dir := os.NewFile(uintptr(fd), name)
	if d.policy.OwnerOnly {
		if err := checkDescriptor(fd, name, Dir); err != nil {
			_ = dir.Close()
			return nil, nil, err
		}
	}
	names, err := dir.ReadDir(-1)
	if err != nil {
		_ = dir.Close()
		return nil, nil, err
	}
	list := make([]DirEntry, 0, len(names))
	for _, e := range names {
		list = append(list, DirEntry{Name: e.Name(), Info: Info{Kind: kindOfType(e.Type())}})
	}
	return list, dir, nil
}

func kindOfType(t fs.FileMode) Kind {
	switch t {
	case 0:
		return Regular
	case fs.ModeDir:
		return Dir
	case fs.ModeSymlink:
		return Symlink
	}
	return Other
}
