package storage

import (
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

// volume is what is known of a file system by its type.
type volume struct{ fine, network bool }

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
