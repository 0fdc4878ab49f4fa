package main

import (
	"os"
	"syscall"
)

// peakMemory is the most memory that a process had, in bytes.
func peakMemory(st *os.ProcessState) int64 {
	return st.SysUsage().(*syscall.Rusage).Maxrss << 10
}
