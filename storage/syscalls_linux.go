package storage

import "golang.org/x/sys/unix"

func syncDescriptor(fd int) error { return unix.Fsync(fd) }

func renameNoReplace(oldname, newname string) error {
	return unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
}
