package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Whole are the entries of a session as if nothing of it had been archived:
// those of the archive in their old places and links, then what the transcript
// has got since, without the checkpoints that stand for the archived ones. Of
// an entry that is in both, the transcript's text counts. archived is false if
// there is no archive; then entries are those of the transcript.
//
// It only reads. Errors: those of jsonl.Load, ErrArchive.
func Whole(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions) (entries []*jsonl.Entry, archived bool, err error) {
	t, err := jsonl.Load(ctx, fsys, path, opt)
	if err != nil {
		return nil, false, err
	}
	t.Upgrade(nil)
	if _, err := fsys.Lstat(ArchivePath(path)); errors.Is(err, fs.ErrNotExist) {
		return t.Entries(), false, nil
	}
	patches := map[string]jsonl.Value{}
	old, err := archivedEntries(ctx, fsys, path, opt, patches)
	if err == nil {
		err = patchesOf(ctx, fsys, path, opt, patches)
	}
	if err != nil {
		return nil, true, fmt.Errorf("read archive of %s: %w", path, err)
	}
	now := map[string]*jsonl.Entry{}
	for _, e := range t.Entries() {
		if id, ok := e.ID(); ok {
			now[id] = e
		}
	}
	there := map[string]bool{}
	for _, e := range old {
		id, ok := e.ID()
		if !ok || there[id] || e.Kind().Checkpoint {
			continue // of a later run, or of an earlier archiving
		}
		there[id] = true
		if kept := now[id]; kept != nil {
			e = linkedAs(kept, e)
		} else if message := patches[id]; e.Type() == "message" && message.Is(jsonl.Object) {
			e.SetMessage(message) // perhaps by a patch that came when the entry was gone
		}
		entries = append(entries, e)
	}
	for _, e := range t.Entries() {
		if id, ok := e.ID(); !ok || !there[id] && !e.Kind().Checkpoint {
			entries = append(entries, e)
		}
	}
	return entries, true, nil
}

// linkedAs is an entry with the parent that it had before.
func linkedAs(e, before *jsonl.Entry) *jsonl.Entry {
	now, kind := e.Parent()
	old, was := before.Parent()
	if now == old && kind == was {
		return e
	}
	o := e.Value().Clone()
	o.Set("parentId", before.Value().Get("parentId"))
	made := jsonl.NewEntry(o)
	made.Line, made.Offset, made.Size = e.Line, e.Offset, e.Size
	return made
}

// archivedEntries are the entries of an archive, run by run: each run is the
// transcript as it was, and is read as one. patches gets the last message that
// each entry was given.
func archivedEntries(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions, patches map[string]jsonl.Value) ([]*jsonl.Entry, error) {
	var all []*jsonl.Entry
	var text bytes.Buffer
	run := 0
	read := func() error {
		if run == 0 {
			return nil
		}
		t, err := jsonl.ParseTranscript(ctx, &text, opt)
		if err != nil {
			return err
		}
		t.Upgrade(nil)
		all = append(all, t.Entries()...)
		text.Reset()
		return nil
	}
	for line, err := range ReadArchive(ctx, fsys, path) {
		if err != nil {
			return nil, err
		}
		if line.Run != run {
			if err := read(); err != nil {
				return nil, err
			}
			run = line.Run
		}
		if bytes.Contains(line.Record, []byte("entry_patch")) {
			if id, message, ok := jsonl.ParseEntryPatch(line.Record); ok {
				patches[id] = message
			}
		}
		text.Write(line.Record)
		text.WriteByte('\n')
	}
	return all, read()
}

// patchesOf adds the patches that the transcript holds.
func patchesOf(ctx context.Context, fsys storage.FS, path string, opt jsonl.LoadOptions, patches map[string]jsonl.Value) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	for rec, err := range jsonl.Read(ctx, f, jsonl.ReadOptions{MaxLine: opt.MaxLine}) {
		if err != nil {
			return err
		}
		if !rec.Fields.Type.Equal("entry_patch") {
			continue
		}
		if id, message, ok := jsonl.ParseEntryPatch(rec.Raw); ok {
			patches[id] = message
		}
	}
	return nil
}
