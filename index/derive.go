package index

import (
	"context"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// derived reads a file whose rows can't be made line by line: of version 1,
// whose ids follow from the whole, or in UTF-16. Such files are never appended
// to by a program that writes today.
func (x *extractor) derived(ctx context.Context, f storage.File, size, maxLine int64) (*reading, error) {
	t, err := jsonl.ParseTranscript(ctx, io.NewSectionReader(f, 0, size), jsonl.LoadOptions{MaxLine: maxLine})
	if err != nil {
		return nil, err
	}
	version := t.Stored
	t.Upgrade(nil)
	r, before := &reading{bytes: size}, x.r.refs // what the bytes name
	x.begin(ctx, f, r)
	r.refs = before
	x.inMemory = true
	x.header, x.judged = true, true
	r.version = version
	var fields jsonl.Fields
	fields.Of(nil, jsonl.ObjectValue(t.Header.Value()))
	x.takeHeader(&fields)
	if title, ok := t.Title(); ok {
		r.title, r.hasTitle = jsonl.Display(title), true
	}
	for _, e := range t.Records {
		if e.Type() == "session" {
			r.seconds++
			continue
		}
		fields.Of(nil, jsonl.ObjectValue(e.Value()))
		raw := e.Raw()
		if raw == nil && e.Type() == "custom" {
			raw = e.AppendJSON(nil, false) // what it says of usage is parsed
		}
		rec := jsonl.Record{Line: e.Line, Offset: e.Offset, Raw: raw, Fields: &fields}
		if err := x.entry(&rec, x.word(fields.Type)); err != nil {
			return nil, err
		}
		r.rows.at(r.rows.len() - 1).size = e.Size
	}
	r.facts.malformed, r.facts.recovered = t.MalformedTotal, t.RecoveredTotal
	x.settle()
	feed := &checkpoint.Feed{}
	feed.Fold(t.Entries())
	x.feed = feed
	x.settleEffects()
	return r, nil
}
