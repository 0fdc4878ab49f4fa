package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

// withArchive is a session with the entries that were archived of it in their
// old places.
func (a *app) withArchive(ctx context.Context, f found) (found, error) {
	name, _, there, err := session.FindArchive(a.fsys, f.row.Path)
	if err == nil && !there {
		return f, nil
	}
	if err != nil {
		return f, loadError(name, err)
	}
	entries, archived, err := session.Whole(ctx, a.fsys, f.row.Path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil {
		return f, loadError(name, err)
	}
	if archived {
		f.present = f.tree
		f.tree = jsonl.NewTree(entries)
		f.entry = func(e *jsonl.Entry) (*jsonl.Entry, error) { return e, nil }
	}
	return f, nil
}

// withSmallArchive is withArchive where that fits into memory easily; else what
// was archived is left out, and a note says so.
func (a *app) withSmallArchive(ctx context.Context, f found) (found, error) {
	name, info, there, err := session.FindArchive(a.fsys, f.row.Path)
	if err != nil || !there {
		return f, err
	}
	size := info.Size
	if name == session.PackedArchivePath(f.row.Path) {
		size *= packedBy
	}
	if size >= a.huge {
		a.note("what was archived of the session is left out (%s): gjc-index unarchive %s brings it back", humanize.Bytes(uint64(info.Size)), f.row.ID)
		return f, nil
	}
	return a.withArchive(ctx, f)
}

// packedBy is about how many times longer than compressed a session is.
const packedBy = 5

// isArchived reports whether an entry is in the archive alone.
func (f found) isArchived(e *jsonl.Entry) bool {
	id, ok := e.ID()
	return f.present != nil && (!ok || f.present.Entry(id) == nil)
}

// archivedEntry says that an entry can be read and not gone on from.
func archivedEntry(id, entry string, err error) error {
	return fmt.Errorf("entry %q of session %s was archived: gjc-index unarchive %s brings it back%w", entry, id, id, silent{err})
}
