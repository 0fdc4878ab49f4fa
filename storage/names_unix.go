//go:build unix

package storage

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

func (d *disk) Mkdir(name string) error {
	if _, err := retry(func() (int, error) { return 0, unix.Mkdir(name, 0o700) }); err != nil {
		return pathError("mkdir", name, err)
	}
	return nil
}

func (d *disk) Rename(oldname, newname string) error {
	if _, err := retry(func() (int, error) { return 0, unix.Rename(oldname, newname) }); err != nil {
		return linkError("rename", oldname, newname, err)
	}
	return nil
}

func (d *disk) RenameNoReplace(oldname, newname string) error {
	_, err := retry(func() (int, error) { return 0, renameNoReplace(oldname, newname) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return renameByLink(d, oldname, newname)
	}
	return linkError("rename", oldname, newname, err)
}

func (d *disk) Link(oldname, newname string) error {
	_, err := retry(func() (int, error) {
		return 0, unix.Linkat(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, 0)
	})
	if err != nil {
		return linkError("link", oldname, newname, err)
	}
	return nil
}

func (d *disk) Remove(name string) error {
	_, err := retry(func() (int, error) { return 0, unix.Unlink(name) })
	if err == nil {
		return nil
	}
	_, dirErr := retry(func() (int, error) { return 0, unix.Rmdir(name) })
	if dirErr == nil {
		return nil
	}
	// Of the two errors the one that is not "wrong kind" tells the cause.
	if dirErr != unix.ENOTDIR {
		err = dirErr
	}
	return pathError("remove", name, err)
}

func (d *disk) Chmod(name string, mode fs.FileMode) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if info.Kind == Symlink {
		return &UnsafeError{Path: name, Reason: "is a symbolic link"}
	}
	perm := uint32(mode.Perm())
	_, err = retry(func() (int, error) {
		return 0, unix.Fchmodat(unix.AT_FDCWD, name, perm, unix.AT_SYMLINK_NOFOLLOW)
	})
	if errors.Is(err, errors.ErrUnsupported) || err == unix.EINVAL {
		err = chmodOpened(name, perm)
	}
	if err != nil {
		return pathError("chmod", name, err)
	}
	return nil
}

// chmodOpened is for kernels that can't change a mode by name without
// following a link.
func chmodOpened(name string, perm uint32) error {
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|openFlags, 0) })
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Fchmod(fd, perm)
}

func (d *disk) Chtimes(name string, modTime int64) error {
	ts := unix.NsecToTimespec(modTime)
	_, err := retry(func() (int, error) {
		return 0, unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return pathError("chtimes", name, err)
	}
	return nil
}

// SyncDir syncs the names of a directory, through a link too, since nothing is
// read or changed by it. Some file systems can't sync one and
// say EINVAL; they have nothing better to offer.
func (d *disk) SyncDir(name string) error {
	fd, err := retry(func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return pathError("open", name, err)
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = retry(func() (int, error) { return 0, syncDescriptor(fd) })
	if err != nil && err != unix.EINVAL {
		return pathError("sync", name, err)
	}
	return nil
}
