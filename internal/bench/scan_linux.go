package main

import (
	"bytes"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// bareScan is the least that anybody must do who wants to know whether a
// session file changed: list the directories, one statx a file.
func bareScan(root string) error {
	buf := make([]byte, 1<<20)
	return eachName(root, buf, func(fd int, name string) error {
		return eachName(root+"/"+name, make([]byte, 256<<10), func(fd int, name string) error {
			if !strings.HasSuffix(name, ".jsonl") {
				return nil
			}
			var st unix.Statx_t
			return unix.Statx(fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &st)
		})
	})
}

func eachName(dir string, buf []byte, fn func(fd int, name string) error) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil || n == 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			length := binary.NativeEndian.Uint16(rest[16:])
			name, _, _ := bytes.Cut(rest[19:length], []byte{0})
			rest = rest[length:]
			if len(name) == 0 || name[0] == '.' {
				continue
			}
			if err := fn(fd, string(name)); err != nil {
				return err
			}
		}
	}
}
