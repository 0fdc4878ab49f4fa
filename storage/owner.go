package storage

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// The exact modes of what is owner-only.
const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// CheckOwnerOnly checks that name is of the given kind, ours, mode exactly 0600
// (or 0700 for a directory), with one link if it is a file, without an access
// control list, and not a symbolic link. It answers what was checked, so that
// the caller can compare it (SameFile) with what it opens later. A refusal is
// an *UnsafeError, a missing file fs.ErrNotExist.
func CheckOwnerOnly(fsys FS, name string, kind Kind) (Info, error) {
	return fsys.CheckOwner(name, kind)
}

// CheckOwnerOnlyUnder is CheckOwnerOnly for name and, first, for each directory
// from root down to it, root included. Each directory is looked at once more at
// the end, so one that was swapped meanwhile is refused. name must be root or
// lie under it.
func CheckOwnerOnlyUnder(fsys FS, root, name string, kind Kind) (Info, error) {
	root, name = filepath.Clean(root), filepath.Clean(name)
	rel, err := filepath.Rel(root, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return Info{}, &UnsafeError{Path: name, Reason: "is not under " + root}
	}
	var dirs []string
	for p := name; p != root; {
		p = filepath.Dir(p)
		dirs = append(dirs, p)
	}
	infos := make([]Info, len(dirs))
	for i := len(dirs) - 1; i >= 0; i-- {
		if infos[i], err = fsys.CheckOwner(dirs[i], Dir); err != nil {
			return Info{}, err
		}
	}
	info, err := fsys.CheckOwner(name, kind)
	if err != nil {
		return Info{}, err
	}
	for i, dir := range dirs {
		now, err := fsys.Lstat(dir)
		if err != nil {
			return Info{}, err
		}
		if !now.SameFile(infos[i]) || now.Kind != Dir {
			return Info{}, &UnsafeError{Path: dir, Reason: "was replaced while it was checked"}
		}
	}
	return info, nil
}

// checkInfo is the part of the rule that a stat can tell; self is the
// effective owner of this process.
func checkInfo(name string, info Info, kind Kind, self uint32) error {
	want := fileMode
	if kind == Dir {
		want = dirMode
	}
	reason := ""
	switch {
	case info.Kind != kind && kind == Dir:
		reason = notADir(info.Kind)
	case info.Kind != kind:
		reason = notAFile(info.Kind)
	case info.UID != self:
		reason = fmt.Sprintf("belongs to user %d, want %d", info.UID, self)
	case info.Mode != want:
		reason = fmt.Sprintf("mode is %04o, want %04o", info.Mode, want)
	case kind == Regular && info.Links == 0: // removed since it was opened
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case kind == Regular && info.Links != 1:
		reason = fmt.Sprintf("has %d links, want 1", info.Links)
	default:
		return nil
	}
	return &UnsafeError{Path: name, Reason: reason}
}

func notAFile(k Kind) string {
	switch k {
	case Dir:
		return "is a directory, want a file"
	case Symlink:
		return "is a symbolic link"
	}
	return "is a FIFO, socket or device, want a file"
}

func notADir(k Kind) string {
	switch k {
	case Regular:
		return "is a file, want a directory"
	case Symlink:
		return "is a symbolic link"
	}
	return "is a FIFO, socket or device, want a directory"
}
