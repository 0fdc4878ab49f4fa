package storage

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BenchmarkStatDir compares one walk of 10,000 files with the system calls it
// is made of, and with an lstat of each known path.
func BenchmarkStatDir(b *testing.B) {
	dir := b.TempDir()
	var names []string
	for i := range 10_000 {
		name := filepath.Join(dir, fmt.Sprintf("2026-01-02T03-04-05-678Z_%016x.jsonl", i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	d := &disk{}
	b.Run("StatDir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, err := d.StatDir(dir); err != nil || len(list) != len(names) {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("bare getdents64 and statx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := bareScan(b, dir); n != len(names)+2 {
				b.Fatal(n)
			}
		}
	})
	b.Run("bare lstat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var st unix.Stat_t
			for _, name := range names {
				if err := unix.Lstat(name, &st); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// bareScan makes the system calls of a walk and keeps nothing.
func bareScan(b *testing.B, dir string) int {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Statx_t
	count := 0
	buf := make([]byte, direntBytes)
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			return count
		}
		for at := 0; at < n; at += int(binary.NativeEndian.Uint16(buf[at+direntReclen:])) {
			_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(fd), uintptr(unsafe.Pointer(&buf[at+direntName])),
				unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&st)), 0)
			if errno != 0 {
				b.Fatal(errno)
			}
			count++
		}
	}
}

func TestAnUnreadableEntryHidesNoOther(t *testing.T) {
	name := []byte("name\x00")
	for _, tt := range []struct {
		name string
		fd   int
		keep bool
	}{
		{"gone", mustOpenDir(t, t.TempDir()), false},
		{"can't be asked", -1, true}, // EBADF stands for whatever is not ENOENT
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := DirEntry{Name: "name", Info: Info{Kind: Regular}}
			if got := statEach(tt.fd, &name[0], &e); got != tt.keep {
				t.Errorf("statEach = %v, want %v", got, tt.keep)
			}
			if tt.keep && (e.Info != Info{Kind: Regular}) {
				t.Errorf("Info is %+v, want the kind alone", e.Info)
			}
		})
	}
}

func mustOpenDir(t *testing.T, dir string) int {
	t.Helper()
	fd, err := openDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}
