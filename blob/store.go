package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// MaxSize is how large a blob may be, in bytes: as much as one line of a
// transcript, which is what it was taken from.
const MaxSize = 256 << 20

// settled is the age after which the system has written a file to disk by
// itself. A younger one that somebody else wrote is synced before Put vouches
// for it.
const settled = time.Minute

// putTries bounds how often Put starts again because another process put or
// removed the same blob meanwhile.
const putTries = 5

// Store is a directory of blobs. Safe for several goroutines and processes.
type Store struct {
	// Now tells the time a kept blob is renewed to; nil is time.Now. Set it
	// before the first use.
	Now func() time.Time

	fsys storage.FS
	dir  string
}

// New returns the store in dir, which is made by the first Put.
func New(fsys storage.FS, dir string) *Store { return &Store{fsys: fsys, dir: dir} }

// Path is where the blob is or would be.
func (s *Store) Path(ref Ref) string { return filepath.Join(s.dir, ref.Hex()) }

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Put stores data and returns its reference once the blob is on disk. A blob
// that is there already and right is kept and its time renewed; one that is
// not right is replaced. Errors: storage.ErrTooLarge past MaxSize,
// storage.ErrUnsafe if something that is no file has its name.
func (s *Store) Put(ctx context.Context, data []byte) (Ref, error) {
	ref := RefOf(data)
	if len(data) > MaxSize {
		return Ref{}, fmt.Errorf("put blob: %d bytes, limit %d: %w", len(data), MaxSize, storage.ErrTooLarge)
	}
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return Ref{}, err
		}
		err := s.put(ctx, ref, data)
		if err == nil {
			return ref, nil
		}
		raced := errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
		if !raced || try == putTries {
			return Ref{}, fmt.Errorf("put blob %s: %w", ref.Hex(), err)
		}
	}
}

// put makes one attempt; fs.ErrExist and fs.ErrNotExist mean that another
// process was at the same blob.
func (s *Store) put(ctx context.Context, ref Ref, data []byte) error {
	name := s.Path(ref)
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	info, err := s.fsys.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := storage.MkdirAll(s.fsys, s.dir); err != nil {
			return err
		}
		return storage.Publish(ctx, s.fsys, name, 0o600, write)
	}
	if err != nil {
		return err
	}
	right, err := s.holds(name, info, data)
	if err != nil {
		return err
	}
	if !right {
		return storage.Replace(ctx, s.fsys, name, 0o600, write)
	}
	return s.renew(name, info)
}

// holds reports whether the file at name is exactly data.
func (s *Store) holds(name string, info storage.Info, data []byte) (bool, error) {
	if info.Kind == storage.Regular && info.Size != int64(len(data)) {
		return false, nil
	}
	have, err := storage.ReadFile(s.fsys, name, int64(len(data)))
	if errors.Is(err, storage.ErrTooLarge) {
		return false, nil
	}
	return err == nil && bytes.Equal(have, data), err
}

// renew makes a kept blob young and sees that it is on disk.
func (s *Store) renew(name string, info storage.Info) error {
	now := s.now()
	if now.Sub(time.Unix(0, info.ModTime)) < settled {
		if err := s.sync(name); err != nil {
			return err
		}
	}
	return s.fsys.Chtimes(name, now.UnixNano())
}

func (s *Store) sync(name string) error {
	f, err := s.fsys.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return s.fsys.SyncDir(s.dir)
}

// Get returns the blob's bytes. Errors: fs.ErrNotExist, ErrCorrupt,
// storage.ErrUnsafe, storage.ErrTooLarge.
func (s *Store) Get(ctx context.Context, ref Ref) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := storage.ReadFile(s.fsys, s.Path(ref), MaxSize)
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", ref.Hex(), err)
	}
	if RefOf(data) != ref {
		return nil, fmt.Errorf("get blob %s: %w", ref.Hex(), ErrCorrupt)
	}
	return data, nil
}

// Has reports whether a file has the blob's name; it doesn't read it.
func (s *Store) Has(ctx context.Context, ref Ref) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	info, err := s.fsys.Lstat(s.Path(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up blob %s: %w", ref.Hex(), err)
	}
	return info.Kind == storage.Regular, nil
}
