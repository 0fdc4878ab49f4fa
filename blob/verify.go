package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// Item is a stored blob as its directory shows it.
type Item struct {
	Ref     Ref
	Size    int64 // bytes
	ModTime int64 // Unix ns: when it was last put
}

// List yields what the store holds, by name, without reading any blob. Names
// that are no sums (temporary files, things of others) are left out; something
// with a blob's name that is no plain file comes with storage.ErrUnsafe. An
// error is about its one item, unless the Item is zero: then it is the last. A
// store without a directory is empty.
func (s *Store) List(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		names, err := s.fsys.ReadDir(s.dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Item{}, fmt.Errorf("list blobs: %w", err))
			}
			return
		}
		for _, e := range names {
			ref, err := ParseHex(e.Name)
			if err != nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(Item{}, err)
				return
			}
			info, err := s.fsys.Lstat(s.Path(ref))
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if err == nil && info.Kind != storage.Regular {
				err = &storage.UnsafeError{Path: s.Path(ref), Reason: "is no plain file"}
			}
			if !yield(Item{Ref: ref, Size: info.Size, ModTime: info.ModTime}, err) {
				return
			}
		}
	}
}

// Verify reads every blob and yields its reference with nil, or with ErrCorrupt
// or what else stood against reading it. An error with a zero Ref ends it.
func (s *Store) Verify(ctx context.Context) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for item, err := range s.List(ctx) {
			if err == nil {
				err = s.verify(ctx, item.Ref)
				if errors.Is(err, fs.ErrNotExist) {
					continue // removed meanwhile
				}
			}
			if ctx.Err() != nil {
				yield(Ref{}, ctx.Err())
				return
			}
			if !yield(item.Ref, err) {
				return
			}
		}
	}
}

// verify sums a blob of any size without holding it.
func (s *Store) verify(ctx context.Context, ref Ref) error {
	f, err := s.fsys.Open(s.Path(ref))
	if err != nil {
		return fmt.Errorf("verify blob %s: %w", ref.Hex(), err)
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, ctxReader{ctx, f}); err != nil {
		return fmt.Errorf("verify blob %s: %w", ref.Hex(), err)
	}
	if (Ref{[sha256.Size]byte(sum.Sum(nil))}) != ref {
		return fmt.Errorf("verify blob %s: %w", ref.Hex(), ErrCorrupt)
	}
	return nil
}

// ctxReader is a reader that fails once its context has ended. It lives within
// one call, whose context it is.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// RemoveOlder removes the blob if it was last put before the given time, and
// reports whether it did. The time is looked at once more here, so a blob that
// somebody has put since it was listed stays. A missing blob is no error.
func (s *Store) RemoveOlder(ctx context.Context, ref Ref, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	info, err := s.fsys.Lstat(s.Path(ref))
	if err == nil && info.ModTime >= before.UnixNano() {
		return false, nil
	}
	if err == nil {
		err = s.fsys.Remove(s.Path(ref))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove blob %s: %w", ref.Hex(), err)
	}
	return true, nil
}
