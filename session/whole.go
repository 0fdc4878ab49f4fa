package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Whole are the entries of a session as if nothing of it had been archived.
// archived is false if there is no archive; then entries are those of the
// transcript. It is WholeTranscript for who needs no header.
func Whole(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions) (entries []*jsonl.Entry, archived bool, err error) {
	t, archived, err := WholeTranscript(ctx, fsys, path, opt)
	if err != nil {
		return nil, archived, err
	}
	t.Upgrade(nil)
	return t.Entries(), archived, nil
}

// WholeTranscript is a transcript with everything that was archived of it in
// its place, as Unarchive would make it: what a reader needs who looks back
// past a compaction. Lines and offsets are those of that. archived is false if
// there is no archive, and the transcript as it is.
//
// It only reads. Errors: those of jsonl.Load, ErrArchive.
func WholeTranscript(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions) (t *jsonl.Transcript, archived bool, err error) {
	for range archiveTries {
		var changed bool
		if t, archived, changed, err = wholeOnce(ctx, fsys, path, opt); !changed {
			break
		}
	}
	if err != nil && archived {
		err = fmt.Errorf("read archive of %s: %w", path, err)
	}
	return t, archived, err
}

// wholeOnce is WholeTranscript. changed says that somebody wrote the transcript
// anew meanwhile: what is gone from the archive by then may not be in what was
// read.
func wholeOnce(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions) (t *jsonl.Transcript, archived, changed bool, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, false, false, err
	}
	defer func() { _ = f.Close() }() // was only read
	j := newUndo(fsys, path, f)
	there, _, err := j.openArchive(ctx)
	if err != nil {
		return nil, there, false, err
	}
	if !there {
		t, err = jsonl.Load(ctx, fsys, path, opt)
		return t, false, false, err
	}
	defer func() { _ = j.archive.Close() }() // was only read
	u, err := j.prepare(ctx)
	if err != nil {
		return nil, true, false, err
	}
	var text bytes.Buffer
	text.Grow(int(u.BytesBefore))
	_, err = j.write(ctx, &text)
	if err == nil {
		t, err = jsonl.ParseTranscript(ctx, &text, opt)
	}
	was, statErr := f.Stat()
	now, lstatErr := fsys.Lstat(path)
	changed = statErr == nil && lstatErr == nil && !was.SameFile(now)
	return t, true, changed, err
}

// Whole is WholeTranscript of a session that is protected while it is read.
//
// Errors: those of jsonl.Load, ErrArchive, ErrProtected.
func (s *Store) Whole(ctx context.Context, path string) (*jsonl.Transcript, error) {
	release, err := s.Protect(ctx, path)
	if err != nil {
		return nil, err
	}
	t, _, err := WholeTranscript(ctx, s.fsys, path, jsonl.LoadOptions{})
	if err = errors.Join(err, release()); err != nil {
		return nil, fmt.Errorf("read session %s: %w", filepath.Base(path), err)
	}
	return t, nil
}
