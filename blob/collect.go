package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// MoveOlder moves the blob to a directory of the same file system, under the
// same name, if it was last put before the given time, and reports whether it
// did. The time is looked at right before and once more after the move: a blob
// that somebody puts in between goes back. A missing blob is no error.
func (s *Store) MoveOlder(ctx context.Context, ref Ref, before time.Time, dir string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	to := filepath.Join(dir, ref.Hex())
	info, err := s.fsys.Lstat(s.Path(ref))
	if err == nil && info.ModTime >= before.UnixNano() {
		return false, nil
	}
	if err == nil {
		err = s.fsys.RenameNoReplace(s.Path(ref), to)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		info, err = s.fsys.Lstat(to)
	}
	if err == nil && info.ModTime >= before.UnixNano() {
		_, err = s.PutBack(ctx, ref, dir)
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("move blob %s: %w", ref.Hex(), err)
	}
	return true, nil
}

// PutBack brings a blob that MoveOlder took to a directory back, and reports
// whether it was there and missing here. A blob that is here again stays, and
// so does the one in the directory.
func (s *Store) PutBack(ctx context.Context, ref Ref, dir string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := s.fsys.RenameNoReplace(filepath.Join(dir, ref.Hex()), s.Path(ref))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = s.fsys.SyncDir(s.dir)
	}
	if err != nil {
		return false, fmt.Errorf("put blob %s back: %w", ref.Hex(), err)
	}
	return true, nil
}
