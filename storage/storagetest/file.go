package storagetest

import (
	"errors"
	"io/fs"

	"github.com/gajae-code/gjc-index/storage"
)

// ShortWrite is an error of Hook.Before that lets the first N bytes of a write
// be written before it fails with Err, as a full disk does.
type ShortWrite struct {
	N   int
	Err error
}

// Error is that of the cause.
func (s *ShortWrite) Error() string { return s.Err.Error() }

// Unwrap gives the cause.
func (s *ShortWrite) Unwrap() error { return s.Err }

// hookFile is an open file whose operations are announced to its Hook.
type hookFile struct {
	storage.File
	h *Hook
}

func (f *hookFile) before(op Op) error { return f.h.Before(op, f.Name()) }

func (f *hookFile) Read(p []byte) (int, error) {
	if err := f.before(OpRead); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *hookFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.before(OpRead); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *hookFile) Write(p []byte) (int, error) {
	return f.write(p, f.File.Write)
}

func (f *hookFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *hookFile) write(p []byte, write func([]byte) (int, error)) (int, error) {
	err := f.before(OpWrite)
	if err == nil {
		return write(p)
	}
	var short *ShortWrite
	if !errors.As(err, &short) {
		return 0, err
	}
	n, writeErr := write(p[:min(short.N, len(p))])
	if writeErr != nil {
		return n, writeErr
	}
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: short.Err}
}

func (f *hookFile) Stat() (storage.Info, error) {
	if err := f.before(OpStat); err != nil {
		return storage.Info{}, err
	}
	return f.File.Stat()
}

func (f *hookFile) Peek() (storage.Info, error) {
	if err := f.before(OpStat); err != nil {
		return storage.Info{}, err
	}
	return f.File.Peek()
}

func (f *hookFile) Truncate(size int64) error {
	if err := f.before(OpTruncate); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *hookFile) Sync() error {
	if err := f.before(OpSync); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *hookFile) Chmod(mode fs.FileMode) error {
	if err := f.before(OpChmod); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *hookFile) TryLock(shared bool) error {
	if err := f.before(OpLock); err != nil {
		return err
	}
	return f.File.TryLock(shared)
}

func (f *hookFile) Unlock() error {
	if err := f.before(OpUnlock); err != nil {
		return err
	}
	return f.File.Unlock()
}

// Close closes the file even if before fails, as close(2) does.
func (f *hookFile) Close() error {
	err := f.before(OpClose)
	if closeErr := f.File.Close(); err == nil {
		err = closeErr
	}
	return err
}
