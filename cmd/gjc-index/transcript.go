package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

// found is one session that a command works on.
type found struct {
	row        index.Row
	transcript *jsonl.Transcript
	tree       *jsonl.Tree
}

// find loads the session that ref names. bridge links over lines that were
// lost; what is odd about the file is said on stderr.
func (a *app) find(ctx context.Context, x *index.Index, ref string, bridge bool) (found, error) {
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return found{}, err
	}
	t, err := jsonl.Load(ctx, a.fsys, row.Path, jsonl.LoadOptions{MaxLine: a.maxLine})
	switch {
	case errors.Is(err, jsonl.ErrTooNew):
		return found{}, fmt.Errorf("%s was written by a newer program: its version is %v", row.Path, row.Version)
	case errors.Is(err, jsonl.ErrNotTranscript):
		return found{}, fmt.Errorf("%s is damaged: %s; gjc-index verify %s says more", row.Path, reasonWords(row.State), row.Path)
	case err != nil:
		return found{}, err
	}
	f := found{row, t, t.Tree(bridge)}
	a.warn(f)
	return f, nil
}

func reasonWords(s index.State) string {
	switch s {
	case index.StateEmpty:
		return "it is empty"
	case index.StateHeader:
		return "it has no valid header"
	}
	return "it can't be read as a session"
}

// row finds a session, with words for people where there is none or several.
func (a *app) row(ctx context.Context, x *index.Index, ref string) (index.Row, error) {
	row, err := x.Find(ctx, ref)
	var several *index.AmbiguousError
	if errors.As(err, &several) {
		a.candidates(several)
		return row, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return row, fmt.Errorf("no session %q; gjc-index list shows all%w", ref, silent{fs.ErrNotExist})
	}
	return row, err
}

// candidates shows what an ambiguous id could mean.
func (a *app) candidates(e *index.AmbiguousError) {
	if a.quiet || a.json {
		return
	}
	for _, r := range e.Candidates {
		title := r.Title
		if title == "" {
			title = r.FirstPrompt
		}
		fmt.Fprintf(a.stderr, "  %s  %s  %s\n", plain(r.ID), ago(a.now(), r.Active), fit(plain(title), 60))
	}
}

// warn says what a person must know of a damaged file: how many lines were
// lost, and where the thread breaks.
func (a *app) warn(f found) {
	if n := len(f.transcript.Malformed); n > 0 {
		a.leftOut += n
		a.note("%s of %s could not be read (the first is line %d); gjc-index verify %s lists them", count(n, "line"), f.row.Path, f.transcript.Malformed[0].Line, f.row.ID)
	}
	if n := len(f.transcript.Recovered); n > 0 {
		a.note("%s damaged; the records on them were recovered", count(n, "line"))
	}
	for _, w := range f.tree.Warnings() {
		switch w.Kind {
		case jsonl.OrphanParent:
			a.note("line %d follows an entry that is not in the file: what came before it is not connected", w.Line)
		case jsonl.BridgedParent:
			a.note("line %d followed a line that was lost; it was linked to the record before (--strict leaves the gap)", w.Line)
		case jsonl.FirstKeptMissing:
			a.note("line %d: a compaction keeps entries from one on that is not there: only its summary is shown", w.Line)
		}
	}
}

// leaf is the end of the path that an entry id names; "" is the last entry.
func (f found) leaf(id string) (jsonl.Leaf, error) {
	if id == "" {
		return jsonl.LeafLast(), nil
	}
	if f.tree.Entry(id) == nil {
		return jsonl.Leaf{}, fmt.Errorf("session %s has no entry %q%w", f.row.ID, id, silent{fs.ErrNotExist})
	}
	return jsonl.LeafAt(id), nil
}

// entryJSON is an entry as the command prints it: whole, but for its event id.
func entryJSON(e *jsonl.Entry) []byte {
	o := e.Value()
	if o.Has("event_id") {
		o = o.Clone()
		o.Delete("event_id")
	}
	return jsonl.AppendJSON(nil, jsonl.ObjectValue(o))
}

// warnRow says that lines of a session could not be read.
func (a *app) warnRow(r index.Row) {
	if r.Malformed > 0 {
		a.leftOut += r.Malformed
		a.note("%s of %s could not be read; gjc-index verify %s lists them", count(r.Malformed, "line"), r.Path, r.ID)
	}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
