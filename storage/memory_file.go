package storage

import (
	"io"
	"io/fs"
	"syscall"
)

// memFile is an open file of a Memory. All its state is guarded by m.mu.
type memFile struct {
	m      *Memory
	n      *node
	name   string
	mode   openMode
	at     int64
	closed bool
}

func (f *memFile) Name() string { return f.name }

// begin locks the file system and refuses a closed file, or one that was
// opened to read when writes is set. The caller unlocks m.mu if it is nil.
func (f *memFile) begin(op string, writes bool) error {
	f.m.mu.Lock()
	var err error
	switch {
	case f.closed:
		err = fs.ErrClosed
	case writes && f.mode == modeRead:
		err = syscall.EBADF
	default:
		return nil
	}
	f.m.mu.Unlock()
	return pathError(op, f.name, err)
}

func (f *memFile) Read(p []byte) (int, error) {
	if err := f.begin("read", false); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	n := f.readLocked(p, f.at)
	f.at += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.begin("read", false); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if off < 0 {
		return 0, pathError("read", f.name, syscall.EINVAL)
	}
	n := f.readLocked(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) readLocked(p []byte, off int64) int {
	if off >= int64(len(f.n.data)) {
		return 0
	}
	return copy(p, f.n.data[off:])
}

func (f *memFile) Write(p []byte) (int, error) {
	if err := f.begin("write", true); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if f.mode == modeAppend {
		f.at = int64(len(f.n.data))
	}
	f.writeLocked(p, f.at)
	f.at += int64(len(p))
	return len(p), nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.begin("write", true); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if off < 0 || f.mode == modeAppend {
		return 0, pathError("write at", f.name, syscall.EINVAL)
	}
	f.writeLocked(p, off)
	return len(p), nil
}

func (f *memFile) writeLocked(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	if short := off + int64(len(p)) - int64(len(f.n.data)); short > 0 {
		f.n.data = append(f.n.data, make([]byte, short)...)
	}
	f.n.clean = min(f.n.clean, off)
	copy(f.n.data[off:], p)
	f.n.touch(f.m.Now().UnixNano())
}

func (f *memFile) Stat() (Info, error) {
	if err := f.begin("stat", false); err != nil {
		return Info{}, err
	}
	defer f.m.mu.Unlock()
	return f.n.info(), nil
}

func (f *memFile) Peek() (Info, error) { return f.Stat() }

func (f *memFile) Truncate(size int64) error {
	if err := f.begin("truncate", true); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if size < 0 {
		return pathError("truncate", f.name, syscall.EINVAL)
	}
	old := int64(len(f.n.data))
	if size > old {
		f.n.data = append(f.n.data, make([]byte, size-old)...)
	}
	f.n.data = f.n.data[:size]
	f.n.clean = min(f.n.clean, size, old)
	f.n.touch(f.m.Now().UnixNano())
	return nil
}

// Sync copies only what changed since the last one.
func (f *memFile) Sync() error {
	if err := f.begin("sync", false); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	f.n.sync()
	return nil
}

func (f *memFile) Chmod(mode fs.FileMode) error {
	if err := f.begin("chmod", false); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	f.n.mode = mode.Perm()
	f.n.change = f.m.Now().UnixNano()
	return nil
}

func (f *memFile) TryLock(shared bool) error {
	if err := f.begin("lock", false); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	for other, otherShared := range f.n.holders {
		if other != f && (!shared || !otherShared) {
			return pathError("lock", f.name, ErrLocked)
		}
	}
	f.n.holders[f] = shared
	return nil
}

func (f *memFile) Unlock() error {
	if err := f.begin("unlock", false); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	delete(f.n.holders, f)
	return nil
}

func (f *memFile) Close() error {
	if err := f.begin("close", false); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	delete(f.n.holders, f)
	f.closed = true
	return nil
}
