package index

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"github.com/gajae-code/gjc-index/jsonl"
)

// place is where an entry stands.
type place struct {
	entry string
	line  int
	time  millis
}

func placeOf(f *jsonl.Fields, line int) place {
	return place{entry: f.ID.Text(), line: line, time: timeOf(f.Timestamp)}
}

// judge gives a hit if the record's text is one that is searched and matches.
func (w *scanWorker) judge(f *jsonl.Fields, raw []byte, at place, file *ScanFile) *textHit {
	role := textRole(f)
	if role == "" || !w.wants(role) || !w.within(at.time) {
		return nil
	}
	order := int64(math.MinInt64)
	if at.time.known {
		order = at.time.ms
	}
	w.text = appendTexts(w.text[:0], f, raw)
	if len(w.text) == 0 {
		return nil
	}
	if !w.query.Empty() {
		w.folded = foldBytes(w.folded[:0], w.text)
		if !w.query.Match(w.folded) {
			return nil
		}
	}
	if w.opt.hidden.hides(string(w.text), order) {
		return nil
	}
	h := &textHit{
		file: file, order: order, line: at.line, entry: at.entry, role: role,
		sum: maphash.Bytes(w.seed, w.text),
	}
	if order >= w.top.oldest.Load() {
		h.text = string(w.text)
	}
	return h
}

// textRole says whose text a record has; "" if none.
func textRole(f *jsonl.Fields) Role {
	switch {
	case f.Type.Equal("message"), f.Type.Equal("entry_patch"):
		switch role := f.Role.Text(); role {
		case "toolResult", "bashExecution", "pythonExecution":
			return RoleTool
		default:
			return Role(role)
		}
	case f.Type.Equal("custom_message"):
		return "custom"
	case f.Type.Equal("compaction"), f.Type.Equal("branch_summary"):
		return "summary"
	}
	return ""
}

// appendTexts appends the text of a record that has one.
func appendTexts(dst []byte, f *jsonl.Fields, raw []byte) []byte {
	switch {
	case f.Type.Equal("compaction"), f.Type.Equal("branch_summary"):
		return f.Summary.AppendText(dst)
	case f.Role.Equal("bashExecution"), f.Role.Equal("pythonExecution"):
		return appendCommand(dst, raw)
	}
	for i, l := range f.Texts {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = l.AppendText(dst)
	}
	return dst
}

// appendCommand appends a command that the user ran, and its output.
func appendCommand(dst, raw []byte) []byte {
	v, _, err := jsonl.Parse(raw)
	if err != nil {
		return dst
	}
	message := v.Get("message")
	if patch := v.Get("patch"); patch.Is(jsonl.Object) {
		message = patch.Get("message")
	}
	for _, key := range []string{"command", "code", "output"} {
		if s := message.Get(key); s.Is(jsonl.String) {
			if len(dst) > 0 {
				dst = append(dst, '\n')
			}
			dst = append(dst, s.Str()...)
		}
	}
	return dst
}

// lenient goes through a file that has lines which are no records by
// themselves, or patches.
func (w *scanWorker) lenient(ctx context.Context, r io.Reader, file *ScanFile) error {
	w.hits = w.hits[:0]
	skipped := 0
	opt := jsonl.ReadOptions{MaxLine: w.opt.MaxLine, Report: func(rep jsonl.LineReport) {
		if rep.Reason == jsonl.TooLong {
			skipped++
		}
	}}
	type slot struct {
		place
		hit *textHit
	}
	var slots []*slot
	latest := map[string]*slot{} // by entry id
	version := 0.0
	for rec, err := range jsonl.Read(ctx, r, opt) {
		if err != nil {
			return err
		}
		f := rec.Fields
		switch {
		case f.Type.Equal("entry_patch"):
			s := latest[f.EntryID.Text()]
			if s == nil || version < 4 {
				continue
			}
			if _, message, ok := jsonl.ParseEntryPatch(rec.Raw); ok && message.Is(jsonl.Object) {
				s.hit = w.judge(f, rec.Raw, s.place, file)
			}
		case f.Type.Equal("session"):
			if version == 0 {
				version = max(f.Version, 1)
			}
		default:
			s := &slot{place: placeOf(f, rec.Line)}
			s.hit = w.judge(f, rec.Raw, s.place, file)
			if f.ID.Ok() {
				latest[s.entry] = s
			}
			if s.hit != nil || f.ID.Ok() {
				slots = append(slots, s)
			}
		}
	}
	for _, s := range slots {
		if s.hit != nil {
			w.hits = append(w.hits, s.hit)
		}
	}
	if skipped > 0 {
		return fmt.Errorf("%d lines passed over: longer than %d bytes", skipped, w.opt.MaxLine)
	}
	return nil
}
