package session

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// FindArchive is the archive of the transcript at path, compressed or not, and
// what it is on disk; ok is false if there is none.
func FindArchive(fsys storage.FS, path string) (name string, info storage.Info, ok bool, err error) {
	for _, name := range []string{ArchivePath(path), PackedArchivePath(path)} {
		info, err := fsys.Lstat(name)
		if err == nil {
			return name, info, true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", storage.Info{}, false, err
		}
	}
	return "", storage.Info{}, false, nil
}

// ArchiveHas reports whether an entry was archived: the archive of the
// transcript at path has it, and moved it there.
func ArchiveHas(ctx context.Context, fsys storage.FS, path, id string) (bool, error) {
	mark := jsonl.AppendJSON(nil, jsonl.StringValue(id))
	var f jsonl.Fields
	for l, err := range ReadArchive(ctx, fsys, path) {
		if err != nil {
			return false, err
		}
		if !l.Moved || !bytes.Contains(l.Record, mark) && !bytes.Contains(l.Record, []byte(`\`)) {
			continue
		}
		if f.Scan(l.Record) && f.ID.Equal(id) {
			return true, nil
		}
	}
	return false, nil
}
