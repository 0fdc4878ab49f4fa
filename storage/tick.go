package storage

import (
	"math"
	"path/filepath"
	"time"
)

// The ticks that Tick answers: how far apart two changes must be so that their
// times certainly differ. A kernel stamps files with its timer's time, 10 ms at
// the coarsest; what we don't know may be FAT, whose times are even seconds.
const (
	fineTick   = 20 * time.Millisecond
	coarseTick = 2 * time.Second
)

// Tick is the step of the file times where path lies: 20 ms on ext4, xfs,
// btrfs, tmpfs, overlay, zfs, APFS and NTFS, 2 s elsewhere and where nothing
// can be learned. A missing path is judged by the nearest directory above it.
func Tick(path string) time.Duration {
	if kind, ok := nearest(path); ok && kind.fine {
		return fineTick
	}
	return coarseTick
}

// IsNetwork reports whether path lies on a file system known to be a network's.
// A file system of a user-space program (FUSE) is not known to be one.
func IsNetwork(path string) bool {
	kind, ok := nearest(path)
	return ok && kind.network
}

// Free is how many bytes the file system of path has room for, for a process
// like this one; ok is false where that can't be learned. A missing path is
// judged by the nearest directory above it.
func Free(path string) (bytes int64, ok bool) {
	kind, ok := nearest(path)
	return kind.free, ok && kind.free >= 0
}

// volume is what is known of a file system by its type.
type volume struct {
	fine, network bool
	free          int64 // bytes; -1 if it is not known
}

func nearest(path string) (volume, bool) {
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if v, err := volumeOf(p); err == nil {
			return v, true
		}
		if p == filepath.Dir(p) {
			return volume{}, false
		}
	}
}

// freeOf is a number of blocks in bytes, as much as can be said.
func freeOf(blocks, size uint64) int64 {
	if size > 0 && blocks > math.MaxInt64/size {
		return math.MaxInt64
	}
	return int64(blocks * size)
}
