package storage

import "golang.org/x/sys/unix"

// beginWriteBack tells the kernel to start. What it says is of no use: a page
// that can't be written shows at Sync.
func beginWriteBack(f *file) {
	_, _ = f.with("write back", func(fd int) (int, error) {
		return 0, unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	})
}
