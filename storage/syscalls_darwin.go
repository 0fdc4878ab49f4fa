package storage

import (
	"errors"

	"golang.org/x/sys/unix"
)

// syncDescriptor asks the drive itself to write, as fsync alone doesn't on
// macOS; volumes that can't be asked get an fsync.
func syncDescriptor(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if err != nil && (errors.Is(err, errors.ErrUnsupported) || err == unix.ENOTTY || err == unix.EINVAL) {
		return unix.Fsync(fd)
	}
	return err
}

func renameNoReplace(oldname, newname string) error {
	return unix.RenamexNp(oldname, newname, unix.RENAME_EXCL)
}

func peekDescriptor(fd int) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return infoOf(&st), err
}
