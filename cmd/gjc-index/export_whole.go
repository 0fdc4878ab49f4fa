package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

// withArchive is a session with the entries that were archived of it in their
// old places.
func (a *app) withArchive(ctx context.Context, f found) (found, error) {
	if _, err := a.fsys.Lstat(session.ArchivePath(f.row.Path)); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	entries, archived, err := session.Whole(ctx, a.fsys, f.row.Path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil {
		return f, loadError(session.ArchivePath(f.row.Path), err)
	}
	if archived {
		f.tree = jsonl.NewTree(entries)
		f.entry = func(e *jsonl.Entry) (*jsonl.Entry, error) { return e, nil }
	}
	return f, nil
}
