//go:build unix

package storage

import (
	"io"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// maxTransfer bounds one read or write: Linux moves at most 2 GiB - 4 KiB.
const maxTransfer = 1 << 30

// file is an open regular file. It is not an os.File, which would write again
// after a short write: in a file that others append to as well, the rest would
// land behind their bytes.
type file struct {
	mu      sync.RWMutex // held for reading while fd is used, so Close can't free it
	fd      int          // -1 once closed
	name    string
	appends bool
}

func (f *file) Name() string { return f.name }

// with runs call on the descriptor, again if a signal cut it short.
func (f *file) with(op string, call func(fd int) (int, error)) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return 0, pathError(op, f.name, fs.ErrClosed)
	}
	for {
		n, err := call(f.fd)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return max(n, 0), pathError(op, f.name, err)
		}
		return n, nil
	}
}

func (f *file) Read(p []byte) (int, error) {
	p = p[:min(len(p), maxTransfer)]
	n, err := f.with("read", func(fd int) (int, error) { return unix.Read(fd, p) })
	if n == 0 && err == nil && len(p) > 0 {
		return 0, io.EOF
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("read", f.name, unix.EINVAL)
	}
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxTransfer)]
		n, err := f.with("read", func(fd int) (int, error) { return unix.Pread(fd, part, off+int64(done)) })
		done += n
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.EOF
		}
	}
	return done, nil
}

// Write appends with one write(2), whose shortness is an error; a file that is
// not opened for appending is written until p is in.
func (f *file) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxTransfer)]
		n, err := f.with("write", func(fd int) (int, error) { return unix.Write(fd, part) })
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

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if f.appends || off < 0 {
		return 0, pathError("write at", f.name, unix.EINVAL)
	}
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxTransfer)]
		n, err := f.with("write", func(fd int) (int, error) { return unix.Pwrite(fd, part, off+int64(done)) })
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
	var st unix.Stat_t
	if _, err := f.with("stat", func(fd int) (int, error) { return 0, unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func (f *file) Peek() (Info, error) {
	var info Info
	_, err := f.with("stat", func(fd int) (_ int, err error) {
		info, err = peekDescriptor(fd)
		return 0, err
	})
	return info, err
}

func (f *file) Truncate(size int64) error {
	_, err := f.with("truncate", func(fd int) (int, error) { return 0, unix.Ftruncate(fd, size) })
	return err
}

func (f *file) Sync() error {
	_, err := f.with("sync", func(fd int) (int, error) { return 0, syncDescriptor(fd) })
	return err
}

func (f *file) Chmod(mode fs.FileMode) error {
	_, err := f.with("chmod", func(fd int) (int, error) { return 0, unix.Fchmod(fd, uint32(mode.Perm())) })
	return err
}

func (f *file) TryLock(shared bool) error {
	how := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	_, err := f.with("lock", func(fd int) (int, error) {
		err := unix.Flock(fd, how)
		if err == unix.EWOULDBLOCK {
			err = ErrLocked
		}
		return 0, err
	})
	return err
}

func (f *file) Unlock() error {
	_, err := f.with("unlock", func(fd int) (int, error) { return 0, unix.Flock(fd, unix.LOCK_UN) })
	return err
}

// Close frees the descriptor whatever close(2) answers; EINTR is no reason to
// try again, since another goroutine may have the number by then.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fd < 0 {
		return pathError("close", f.name, fs.ErrClosed)
	}
	fd := f.fd
	f.fd = -1
	if err := unix.Close(fd); err != nil && err != unix.EINTR {
		return pathError("close", f.name, err)
	}
	return nil
}
