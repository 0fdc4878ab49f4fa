package psm

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// recordsOf are the entries of a session in order, archived ones first, each
// once: what a transcript still holds is taken from it.
func recordsOf(ctx context.Context, fsys storage.FS, path string) ([]*jsonl.Entry, error) {
	t, err := jsonl.Load(ctx, fsys, path, jsonl.LoadOptions{})
	if err != nil {
		return nil, err
	}
	t.Upgrade(nil)
	old, err := archived(ctx, fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read archived entries: %w", err)
	}
	return joined(old, t.Entries()), nil
}

// archived are the entries of a session's archive, run by run: a run is the
// transcript as it was, so it is read as one.
func archived(ctx context.Context, fsys storage.FS, path string) ([]*jsonl.Entry, error) {
	var all []*jsonl.Entry
	var text bytes.Buffer
	run := 0
	read := func() error {
		if run == 0 {
			return nil
		}
		t, err := jsonl.ParseTranscript(ctx, &text, jsonl.LoadOptions{})
		if err != nil {
			return err
		}
		t.Upgrade(nil)
		all = append(all, t.Entries()...)
		text.Reset()
		return nil
	}
	for line, err := range session.ReadArchive(ctx, fsys, path) {
		if err != nil {
			return nil, err
		}
		if line.Run != run {
			if err := read(); err != nil {
				return nil, err
			}
			run = line.Run
		}
		text.Write(line.Record)
		text.WriteByte('\n')
	}
	return all, read()
}

// joined is archived entries and the transcript's, each once: the transcript
// wins, then the oldest run.
func joined(old, entries []*jsonl.Entry) []*jsonl.Entry {
	there := map[string]bool{}
	for _, e := range entries {
		if id, ok := e.ID(); ok {
			there[id] = true
		}
	}
	var all []*jsonl.Entry
	for _, e := range old {
		if id, ok := e.ID(); ok && !there[id] {
			there[id] = true
			all = append(all, e)
		}
	}
	return append(all, entries...)
}
