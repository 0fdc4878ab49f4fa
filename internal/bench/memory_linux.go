package main

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// peakMemory is the most memory that a process had, in bytes.
func peakMemory(st *os.ProcessState) int64 {
	return st.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// forget takes a file that is durable out of the memory of the kernel, so that
// whoever reads it next reads the disk.
func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}
