package storage

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func syncDescriptor(fd int) error { return unix.Fsync(fd) }

func renameNoReplace(oldname, newname string) error {
	return unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
}

// peeked is what peekDescriptor asks for: everything of an Info but the times.
const peeked = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_NLINK | unix.STATX_UID | unix.STATX_INO | unix.STATX_SIZE

func peekDescriptor(fd int) (Info, error) {
	var sx unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, peeked, &sx)
	if err == unix.EINTR {
		return Info{}, err
	}
	if err != nil || sx.Mask&peeked != peeked { // an old kernel, a sandbox, a file system that can't
		var st unix.Stat_t
		err := unix.Fstat(fd, &st)
		return infoOf(&st), err
	}
	return Info{
		Kind:  kindOf(uint32(sx.Mode)),
		Mode:  fs.FileMode(sx.Mode) & fs.ModePerm,
		UID:   sx.Uid,
		Links: uint64(sx.Nlink),
		Dev:   unix.Mkdev(sx.Dev_major, sx.Dev_minor),
		Inode: sx.Ino,
		Size:  int64(sx.Size),
	}, nil
}
