//go:build unix

package storage

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Symlink
	}
	return Other
}

func infoOf(st *unix.Stat_t) Info {
	return Info{
		Kind:       kindOf(uint32(st.Mode)),
		Mode:       fs.FileMode(st.Mode) & fs.ModePerm,
		UID:        st.Uid,
		Links:      uint64(st.Nlink),
		Dev:        uint64(st.Dev),
		Inode:      st.Ino,
		Size:       st.Size,
		ModTime:    st.Mtim.Nano(),
		ChangeTime: st.Ctim.Nano(),
	}
}

func (d *disk) Lstat(name string) (Info, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Lstat(name, &st) }); err != nil {
		return Info{}, pathError("lstat", name, err)
	}
	return infoOf(&st), nil
}
