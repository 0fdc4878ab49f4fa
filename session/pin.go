package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// PinPath is the file that pins the transcript at path.
func PinPath(path string) string { return stemOf(path) + ".pin.json" }

// Pin keeps a session from ever being pruned. The pin is a file beside the
// transcript and moves with it. It reports false if the session was pinned
// already.
//
// Errors: fs.ErrNotExist, ErrNotManaged for a session of an older layout, where
// nothing of ours is made.
func (s *Store) Pin(ctx context.Context, path string) (bool, error) {
	path, err := s.pinnable(path)
	if err != nil {
		return false, fmt.Errorf("pin session: %w", err)
	}
	id := ""
	if in, err := readInfo(ctx, s.fsys, path); err == nil {
		id = in.ID // a damaged session can be pinned too
	}
	record := jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "schema", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "session", Value: jsonl.StringValue(id)},
		jsonl.Member{Key: "pinned", Value: jsonl.StringValue(s.timestamp())},
	))
	err = storage.Publish(ctx, s.fsys, PinPath(path), newFileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, record.JSON()+"\n")
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("pin session: %w", err)
	}
	return true, nil
}

// Unpin takes a pin away. It reports false if there was none.
func (s *Store) Unpin(_ context.Context, path string) (bool, error) {
	path, err := s.pinnable(path)
	if err != nil {
		return false, fmt.Errorf("unpin session: %w", err)
	}
	err = s.fsys.Remove(PinPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = s.fsys.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return false, fmt.Errorf("unpin session: %w", err)
	}
	return true, nil
}

// Pinned reports whether a session is pinned. Whatever stands in the pin's
// place pins it, also what can't be read.
func (s *Store) Pinned(path string) (bool, error) { return s.isThere(PinPath(path)) }

func (s *Store) pinnable(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := s.fsys.Lstat(path)
	if err != nil {
		return "", err
	}
	if info.Kind != storage.Regular {
		return "", &storage.UnsafeError{Path: path, Reason: notPlain(info)}
	}
	place, err := s.placeOf(path)
	if err == nil && place == placeLegacy {
		err = ErrNotManaged
	}
	return path, err
}
