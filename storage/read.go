package storage

import (
	"errors"
	"fmt"
	"io"
)

// ReadFile reads all of name, or answers ErrTooLarge if it has, or grows to,
// more than max bytes.
func ReadFile(fsys FS, name string, max int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size > max {
		return nil, tooLarge(name, info.Size, max)
	}
	// One byte of room more than the file needs tells its end in the same read.
	data := make([]byte, 0, info.Size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(data)) > max {
			return nil, tooLarge(name, int64(len(data)), max)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(name string, size, max int64) error {
	return fmt.Errorf("read %s: %d bytes, limit %d: %w", name, size, max, ErrTooLarge)
}

// ReadPrefix reads the first n bytes of name, all of it if it is shorter, and
// what a stat of the opened file told before.
func ReadPrefix(fsys FS, name string, n int) ([]byte, Info, error) {
	return readPart(fsys, name, n, func(Info) int64 { return 0 })
}

// ReadTail reads the last n bytes that name had when it was opened, all of it
// if it is shorter, and what the stat told. The first byte's offset is
// Info.Size less the length of the answer, unless the file was cut meanwhile.
func ReadTail(fsys FS, name string, n int) ([]byte, Info, error) {
	return readPart(fsys, name, n, func(i Info) int64 { return max(0, i.Size-int64(n)) })
}

func readPart(fsys FS, name string, n int, from func(Info) int64) ([]byte, Info, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, Info{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, Info{}, err
	}
	off := from(info)
	data := make([]byte, min(int64(n), max(0, info.Size-off)))
	got, err := f.ReadAt(data, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Info{}, err
	}
	return data[:got], info, nil
}
