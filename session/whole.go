package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Whole is a transcript with everything that was archived of it in its place,
// as Unarchive would make it: what a reader needs who looks back past a
// compaction. Nothing is changed. The session is protected while it is read.
//
// Errors: those of jsonl.Load, ErrArchive, ErrProtected.
func (s *Store) Whole(ctx context.Context, path string) (*jsonl.Transcript, error) {
	release, err := s.Protect(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := s.wholeOf(ctx, path)
	if err = errors.Join(err, release()); err != nil {
		return nil, fmt.Errorf("read session %s: %w", filepath.Base(path), err)
	}
	return t, nil
}

func (s *Store) wholeOf(ctx context.Context, path string) (*jsonl.Transcript, error) {
	there, err := s.isThere(ArchivePath(path))
	if err != nil {
		return nil, err
	}
	if !there {
		return jsonl.Load(ctx, s.fsys, path, jsonl.LoadOptions{})
	}
	f, err := s.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	j := newUndo(s, path, f)
	u, err := j.prepare(ctx)
	if err != nil {
		return nil, err
	}
	if j.archive == nil {
		return jsonl.Load(ctx, s.fsys, path, jsonl.LoadOptions{})
	}
	defer func() { _ = j.archive.Close() }() // was only read
	var text bytes.Buffer
	text.Grow(int(u.BytesBefore))
	if _, err := j.write(ctx, &text); err != nil {
		return nil, err
	}
	return jsonl.ParseTranscript(ctx, &text, jsonl.LoadOptions{})
}
