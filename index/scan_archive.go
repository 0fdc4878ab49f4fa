package index

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// archiveScan searches what was archived of a session, of which the transcript
// says nothing any more.
type archiveScan struct {
	w       *scanWorker
	file    *ScanFile
	hits    []archiveHit
	patches map[string][]byte // by entry id: the last one, of archive or transcript
}

type archiveHit struct {
	id  string
	hit *textHit
}

// archive searches the archive of a file. An archive that can't be read gives
// no hits and an error.
func (w *scanWorker) archive(ctx context.Context, f storage.File, file *ScanFile) error {
	a := &archiveScan{w: w, file: file, patches: map[string][]byte{}}
	if err := a.read(ctx, a.line); err != nil {
		return err
	}
	if len(a.hits) == 0 && len(a.patches) == 0 {
		return nil
	}
	if err := a.transcript(ctx, f); err != nil {
		return err
	}
	if len(a.patches) > 0 {
		a.hits = slices.DeleteFunc(a.hits, func(h archiveHit) bool { return h.id != "" && a.patches[h.id] != nil })
		if err := a.read(ctx, a.patched); err != nil {
			return err
		}
	}
	seen := map[string]bool{} // an entry may have been archived twice
	for _, h := range a.hits {
		if !seen[h.id] || h.id == "" {
			w.hits = append(w.hits, h.hit)
		}
		seen[h.id] = true
	}
	return nil
}

func (a *archiveScan) read(ctx context.Context, fn func(*session.ArchivedLine)) error {
	for l, err := range session.ReadArchive(ctx, a.w.fsys, a.file.Path) {
		if err != nil {
			return err
		}
		if l.Record != nil {
			fn(&l)
		}
	}
	return ctx.Err()
}

var patchMark = []byte("entry_patch")

func (a *archiveScan) line(l *session.ArchivedLine) {
	patch := bytes.Contains(l.Record, patchMark)
	c := newCursors()
	if !patch && (!l.Moved || a.w.filter.next(l.Record, 0, &c) >= len(l.Record)) {
		return
	}
	f, ok := a.scan(l.Record)
	switch {
	case !ok:
	case f.Type.Equal("entry_patch"):
		a.patches[f.EntryID.Text()] = bytes.Clone(l.Record)
	case l.Moved && isNode(f):
		at := placeOf(f, l.Line)
		if h := a.w.judge(f, l.Record, at, a.file); h != nil {
			a.hits = append(a.hits, archiveHit{at.entry, h})
		}
	}
}

// scan reads the fields of a record.
func (a *archiveScan) scan(record []byte) (*jsonl.Fields, bool) {
	f := &a.w.fields
	if f.Scan(record) {
		return f, true
	}
	v, _, err := jsonl.Parse(record)
	if err == nil {
		f.Of(record, v)
	}
	return f, err == nil
}

// transcript drops what the transcript has too, and takes its patches of the
// rest.
func (a *archiveScan) transcript(ctx context.Context, f storage.File) error {
	there := map[string]bool{}
	for _, h := range a.hits {
		there[h.id] = false
	}
	for id := range a.patches {
		there[id] = false
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, 0, info.Size), jsonl.ReadOptions{MaxLine: a.w.opt.MaxLine}) {
		if err != nil {
			return err
		}
		if rec.Fields.Type.Equal("entry_patch") {
			a.patches[rec.Fields.EntryID.Text()] = bytes.Clone(rec.Raw)
			continue
		}
		there[rec.Fields.ID.Text()] = isNode(rec.Fields)
	}
	a.hits = slices.DeleteFunc(a.hits, func(h archiveHit) bool { return h.id != "" && there[h.id] })
	for id := range a.patches {
		if there[id] {
			delete(a.patches, id)
		}
	}
	return nil
}

// patched judges a message by the patch that holds for it.
func (a *archiveScan) patched(l *session.ArchivedLine) {
	if !l.Moved {
		return
	}
	f, ok := a.scan(l.Record)
	if !ok || !f.Type.Equal("message") {
		return
	}
	at := placeOf(f, l.Line)
	patch := a.patches[at.entry]
	if patch == nil {
		return
	}
	delete(a.patches, at.entry)
	if _, message, ok := jsonl.ParseEntryPatch(patch); !ok || !message.Is(jsonl.Object) {
		patch = l.Record
	}
	if f, ok = a.scan(patch); !ok {
		return
	}
	if h := a.w.judge(f, patch, at, a.file); h != nil {
		a.hits = append(a.hits, archiveHit{at.entry, h})
	}
}
