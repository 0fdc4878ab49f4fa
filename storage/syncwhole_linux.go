package storage

import (
	"sync"

	"golang.org/x/sys/unix"
)

// From 5.8 on, syncfs(2) says when something could not be written.
var syncTells = sync.OnceValue(func() bool {
	var u unix.Utsname
	return unix.Uname(&u) == nil && kernelFrom(unix.ByteSliceToString(u.Release[:]), 5, 8)
})

// kernelFrom reports whether a release such as 6.1.0-18-amd64 is at least the
// given one.
func kernelFrom(release string, major, minor int) bool {
	var is [2]int
	at := 0
	for i := range is {
		begin := at
		for ; at < len(release) && '0' <= release[at] && release[at] <= '9' && at < begin+6; at++ {
			is[i] = 10*is[i] + int(release[at]-'0')
		}
		if at == begin || i == 0 && (at == len(release) || release[at] != '.') {
			return false
		}
		at++
	}
	return is[0] > major || is[0] == major && is[1] >= minor
}

// SyncWhole is SyncWhole of the disk.
func (d *disk) SyncWhole(names []string) (done bool, err error) {
	if !syncTells() {
		return false, nil
	}
	one := map[uint64]string{} // by device, something on it
	for _, name := range names {
		var st unix.Stat_t
		if _, err := retry(func() (int, error) { return 0, unix.Stat(name, &st) }); err != nil {
			return false, pathError("stat", name, err)
		}
		one[st.Dev] = name
	}
	var held []int
	defer func() {
		for _, fd := range held {
			_ = unix.Close(fd)
		}
	}()
	for _, name := range one {
		fd, err := retry(func() (int, error) {
			return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		})
		if err != nil {
			return false, pathError("open", name, err)
		}
		held = append(held, fd)
		var st unix.Statfs_t
		if _, err := retry(func() (int, error) { return 0, unix.Fstatfs(fd, &st) }); err != nil {
			return false, pathError("statfs", name, err)
		}
		if !syncsWhole(uint32(st.Type)) {
			return false, nil
		}
	}
	for _, fd := range held {
		if _, err := retry(func() (int, error) { return 0, unix.Syncfs(fd) }); err != nil {
			return false, pathError("sync", names[0], err)
		}
	}
	return true, nil
}

// syncsWhole reports whether syncfs(2) does for all files of a file system of
// this kind what fsync(2) does for one. Those of other programs and machines may
// say so and only hand over what is to be written.
func syncsWhole(kind uint32) bool {
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
