package storage

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// twoNames converts the names of an operation on two.
func twoNames(oldname, newname string) (from, to *uint16, err error) {
	if err := checkName(newname); err != nil {
		return nil, nil, err
	}
	if from, err = windows.UTF16PtrFromString(oldname); err != nil {
		return nil, nil, err
	}
	to, err = windows.UTF16PtrFromString(newname)
	return from, to, err
}

func (d *disk) Mkdir(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return pathError("mkdir", name, err)
	}
	sa, err := ownerOnlyAttributes(true)
	if err == nil {
		err = windows.CreateDirectory(p, sa)
	}
	if err != nil {
		return pathError("mkdir", name, err)
	}
	return nil
}

func (d *disk) Rename(oldname, newname string) error {
	return move(oldname, newname, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
}

func (d *disk) RenameNoReplace(oldname, newname string) error {
	return move(oldname, newname, windows.MOVEFILE_WRITE_THROUGH)
}

func move(oldname, newname string, flags uint32) error {
	from, to, err := twoNames(oldname, newname)
	if err == nil {
		err = inUse(windows.MoveFileEx(from, to, flags))
	}
	if err != nil {
		return linkError("rename", oldname, newname, err)
	}
	return nil
}

func (d *disk) Link(oldname, newname string) error {
	from, to, err := twoNames(oldname, newname)
	if err == nil {
		err = windows.CreateHardLink(to, from, 0)
	}
	if err != nil {
		return linkError("link", oldname, newname, err)
	}
	return nil
}

func (d *disk) Remove(name string) error { return os.Remove(name) }

// Chmod does nothing to a name that exists: access is by list.
func (d *disk) Chmod(name string, _ fs.FileMode) error {
	info, err := lstat(name)
	if err != nil {
		return err
	}
	if info.Kind == Symlink {
		return &UnsafeError{Path: name, Reason: notAFile(Symlink)}
	}
	return nil
}

func (d *disk) Chtimes(name string, modTime int64) error {
	h, err := createFile(name, windows.FILE_WRITE_ATTRIBUTES, windows.OPEN_EXISTING, openFlags, nil)
	if err != nil {
		return pathError("chtimes", name, err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	ft := windows.NsecToFiletime(modTime)
	if err := windows.SetFileTime(h, nil, &ft, &ft); err != nil {
		return pathError("chtimes", name, err)
	}
	return nil
}

// SyncDir only makes sure that name is a directory: Windows has no sync of
// one, and renames here are written through.
func (d *disk) SyncDir(name string) error { return wantDirectory(name) }

// ReadDir lists name, sorted.
func (d *disk) ReadDir(name string) ([]DirEntry, error) {
	if err := d.checkDir(name); err != nil {
		return nil, err
	}
	names, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	list := make([]DirEntry, 0, len(names))
	for _, e := range names {
		kind := Other
		switch e.Type() {
		case 0:
			kind = Regular
		case fs.ModeDir:
			kind = Dir
		case fs.ModeSymlink, fs.ModeIrregular:
			kind = Symlink
		}
		list = append(list, DirEntry{Name: e.Name(), Info: Info{Kind: kind}})
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// StatDir opens each entry, since only a handle tells a file's identity. An
// entry that can't be opened keeps its kind; one that is gone is left out.
func (d *disk) StatDir(name string) ([]DirEntry, error) {
	list, err := d.ReadDir(name)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, e := range list {
		info, err := lstat(name + `\` + e.Name)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			e.Info = info
		}
		kept = append(kept, e)
	}
	return kept, nil
}

func (d *disk) checkDir(name string) error {
	if err := wantDirectory(name); err != nil || !d.policy.OwnerOnly {
		return err
	}
	_, err := d.CheckOwner(name, Dir)
	return err
}
