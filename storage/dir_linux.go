package storage

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// direntBytes is how much of a directory one getdents64 fetches.
const direntBytes = 64 << 10

// Offsets in struct linux_dirent64.
const (
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

// statMask asks for the fields of Info only.
const statMask = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_NLINK | unix.STATX_UID |
	unix.STATX_INO | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_CTIME

// ReadDir lists name, sorted.
func (d *disk) ReadDir(name string) ([]DirEntry, error) {
	list, err := d.scan(name, statUnknown)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// StatDir lists name with a whole Info each: raw getdents64 and statx on names
// that are still in the directory's buffer, so an entry costs one system call
// and no allocation of its own.
func (d *disk) StatDir(name string) ([]DirEntry, error) { return d.scan(name, statEach) }

// statEach fills in e by one statx of cname; it reports false for a name that
// is gone. An entry that can't be stat'ed keeps the kind the directory gave.
func statEach(fd int, cname *byte, e *DirEntry) bool {
	var st unix.Statx_t
	for {
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(cname)),
			unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, statMask, uintptr(unsafe.Pointer(&st)), 0)
		switch errno {
		case 0:
			fillInfo(&e.Info, &st)
			return true
		case unix.EINTR:
			continue
		case unix.ENOENT:
			return false
		case unix.ENOSYS: // kernels and sandboxes without statx
			return statOld(fd, e)
		}
		return true
	}
}

func statOld(fd int, e *DirEntry) bool {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(fd, e.Name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err == nil {
		e.Info = infoOf(&st)
	}
	return err != unix.ENOENT
}

// statUnknown stats only what the directory itself gave no kind for.
func statUnknown(fd int, cname *byte, e *DirEntry) bool {
	if e.Info.Kind != kindUnknown {
		return true
	}
	e.Info.Kind = Other
	if !statEach(fd, cname, e) {
		return false
	}
	e.Info = Info{Kind: e.Info.Kind}
	return true
}

func fillInfo(i *Info, st *unix.Statx_t) {
	i.Kind = kindOf(uint32(st.Mode))
	i.Mode = fs.FileMode(st.Mode) & fs.ModePerm
	i.UID = st.Uid
	i.Links = uint64(st.Nlink)
	i.Dev = unix.Mkdev(st.Dev_major, st.Dev_minor)
	i.Inode = st.Ino
	i.Size = int64(st.Size)
	i.ModTime = st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec)
	i.ChangeTime = st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec)
}

// kindUnknown is never given out: a directory that doesn't tell kinds.
const kindUnknown Kind = 255

func kindOfDirent(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return Regular
	case unix.DT_DIR:
		return Dir
	case unix.DT_LNK:
		return Symlink
	case unix.DT_UNKNOWN:
		return kindUnknown
	}
	return Other
}

// direntRooms are buffers to list in: clearing a fresh one costs more than to list
// most directories.
var direntRooms = sync.Pool{New: func() any { return new([direntBytes]byte) }}

func (d *disk) scan(name string, stat func(fd int, cname *byte, e *DirEntry) bool) ([]DirEntry, error) {
	fd, err := openDir(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	if d.policy.OwnerOnly {
		if err := checkDescriptor(fd, name, Dir); err != nil {
			return nil, err
		}
	}
	var list []DirEntry
	room := direntRooms.Get().(*[direntBytes]byte)
	defer direntRooms.Put(room)
	buf := room[:]
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, buf) })
		if err != nil {
			return nil, pathError("readdir", name, err)
		}
		if n <= 0 {
			return list, nil
		}
		list = appendDirents(list, buf[:n], fd, stat)
	}
}

// appendDirents adds the entries of one buffer. Their names share one string.
func appendDirents(list []DirEntry, buf []byte, fd int, stat func(int, *byte, *DirEntry) bool) []DirEntry {
	names := string(buf)
	list = slices.Grow(list, len(buf)/64)
	for at := 0; at+direntName < len(buf); {
		size := int(binary.NativeEndian.Uint16(buf[at+direntReclen:]))
		if size <= direntName {
			break
		}
		start, end := at+direntName, at+size
		kind := kindOfDirent(buf[at+direntType])
		at = end
		length := bytes.IndexByte(buf[start:end], 0)
		if length <= 0 {
			continue
		}
		name := names[start : start+length]
		if name == "." || name == ".." {
			continue
		}
		list = append(list, DirEntry{Name: name, Info: Info{Kind: kind}})
		e := &list[len(list)-1]
		if !stat(fd, &buf[start], e) {
			list = list[:len(list)-1]
			continue
		}
		if e.Info.Kind == kindUnknown {
			e.Info.Kind = Other
		}
	}
	return list
}
