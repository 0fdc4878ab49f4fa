package storage

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxTransfer bounds one read or write.
const maxTransfer = 1 << 30

// lockOffset is the high half of where the one locked byte is, 2^62: Windows
// locks are mandatory, and what a lock file says must stay readable.
const lockOffset = 1 << 30

// file is an open regular file.
type file struct {
	mu      sync.RWMutex // held for reading while h is used, so Close can't free it
	h       windows.Handle
	closed  bool
	name    string
	appends bool
}

func (f *file) Name() string { return f.name }

func (f *file) with(op string, call func(h windows.Handle) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	if err := call(f.h); err != nil {
		return pathError(op, f.name, err)
	}
	return nil
}

func (f *file) Read(p []byte) (int, error) {
	var n uint32
	err := f.with("read", func(h windows.Handle) error {
		return windows.ReadFile(h, p[:min(len(p), maxTransfer)], &n, nil)
	})
	if n == 0 && err == nil && len(p) > 0 {
		return 0, io.EOF
	}
	return int(n), err
}

func at(off int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(off), OffsetHigh: uint32(off >> 32)}
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("read", f.name, windows.ERROR_INVALID_PARAMETER)
	}
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxTransfer)]
		var n uint32
		err := f.with("read", func(h windows.Handle) error {
			return windows.ReadFile(h, part, &n, at(off+int64(done)))
		})
		done += int(n)
		if errors.Is(err, windows.ERROR_HANDLE_EOF) || err == nil && n == 0 {
			return done, io.EOF
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// Write appends with one WriteFile at the offset that means "the end", or
// writes at the handle's own offset.
func (f *file) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxTransfer)]
		var where *windows.Overlapped
		if f.appends {
			where = &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxUint32}
		}
		n, err := f.write(part, where)
		done += n
		if err != nil {
			return done, err
		}
		if n == 0 || f.appends && done < len(p) {
			return done, pathError("write", f.name, io.ErrShortWrite)
		}
	}
	return done, nil
}

func (f *file) write(p []byte, where *windows.Overlapped) (int, error) {
	var n uint32
	err := f.with("write", func(h windows.Handle) error { return windows.WriteFile(h, p, &n, where) })
	return int(n), err
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if f.appends || off < 0 {
		return 0, pathError("write at", f.name, windows.ERROR_INVALID_PARAMETER)
	}
	done := 0
	for done < len(p) {
		n, err := f.write(p[done:min(len(p), done+maxTransfer)], at(off+int64(done)))
		done += n
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, pathError("write", f.name, io.ErrShortWrite)
		}
	}
	return done, nil
}

func (f *file) Stat() (Info, error) {
	var info Info
	err := f.with("stat", func(h windows.Handle) (err error) {
		info, err = handleInfo(h)
		return err
	})
	return info, err
}

func (f *file) Peek() (Info, error) { return f.Stat() }

func (f *file) Truncate(size int64) error {
	return f.with("truncate", func(h windows.Handle) error {
		return windows.SetFileInformationByHandle(h, windows.FileEndOfFileInfo,
			(*byte)(unsafe.Pointer(&size)), uint32(unsafe.Sizeof(size)))
	})
}

func (f *file) Sync() error { return f.with("sync", windows.FlushFileBuffers) }

// Chmod does nothing: access is by list, and ours is set at creation.
func (f *file) Chmod(fs.FileMode) error {
	return f.with("chmod", func(windows.Handle) error { return nil })
}

func (f *file) TryLock(shared bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return f.with("lock", func(h windows.Handle) error {
		err := windows.LockFileEx(h, flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
			return ErrLocked
		}
		return err
	})
}

func (f *file) Unlock() error {
	return f.with("unlock", func(h windows.Handle) error {
		err := windows.UnlockFileEx(h, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockOffset})
		if errors.Is(err, windows.ERROR_NOT_LOCKED) {
			return nil
		}
		return err
	})
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	if err := windows.CloseHandle(f.h); err != nil {
		return pathError("close", f.name, err)
	}
	return nil
}
