//go:build unix

package storage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkOpened is the owner-only rule on a file that openFile has opened.
func checkOpened(f *file, info Info) error {
	if err := checkInfo(f.name, info, Regular, uint32(unix.Geteuid())); err != nil {
		return err
	}
	_, err := f.with("getxattr", func(fd int) (int, error) { return 0, checkACL(fd, f.name, Regular) })
	return err
}

// checkDescriptor is the owner-only rule on an open descriptor.
func checkDescriptor(fd int, name string, kind Kind) error {
	_, err := checkFD(fd, name, kind)
	return err
}

func checkFD(fd int, name string, kind Kind) (Info, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstat(fd, &st) }); err != nil {
		return Info{}, pathError("stat", name, err)
	}
	info := infoOf(&st)
	if err := checkInfo(name, info, kind, uint32(unix.Geteuid())); err != nil {
		return Info{}, err
	}
	return info, checkACL(fd, name, kind)
}

// CheckOwner judges the object it has opened, then makes sure that the path
// still names that object.
func (d *disk) CheckOwner(name string, kind Kind) (Info, error) {
	if kind != Regular && kind != Dir {
		return Info{}, fmt.Errorf("check owner of %s: only files and directories can be owner-only", name)
	}
	before, err := d.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	if d.policy.OwnerOnly && kind == Regular && before.Links == 2 && HealTwin(d, name) == nil {
		if before, err = d.Lstat(name); err != nil {
			return Info{}, err
		}
	}
	if before.Kind != kind { // nothing that isn't a file is ever opened as one
		return Info{}, checkInfo(name, before, kind, before.UID)
	}
	flags := unix.O_RDONLY | openFlags
	if kind == Dir {
		flags |= unix.O_DIRECTORY
	}
	fd, err := retry(func() (int, error) { return unix.Open(name, flags, 0) })
	if err == unix.EACCES {
		// Ours with the right mode could be opened: the stat says what is wrong.
		if err := checkInfo(name, before, kind, uint32(unix.Geteuid())); err != nil {
			return Info{}, err
		}
	}
	if err != nil {
		return Info{}, openError(name, err)
	}
	defer func() { _ = unix.Close(fd) }()
	info, err := checkFD(fd, name, kind)
	if err != nil {
		return Info{}, err
	}
	after, err := d.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	if !after.SameFile(info) || !before.SameFile(info) {
		return Info{}, &UnsafeError{Path: name, Reason: "was replaced while it was checked"}
	}
	return info, nil
}

func selfUID() uint32 { return uint32(unix.Geteuid()) }
