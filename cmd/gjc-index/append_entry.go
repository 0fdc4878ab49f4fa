package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

// maxInput bounds what append takes at once, in bytes.
const maxInput = 1 << 30

// readEntries reads all of in as entries: lines of at most longest bytes, and
// most bytes in all. replaced counts the entries that had something of their
// own that the session gives. An error about a line says which and why, never
// what is in it.
func readEntries(in io.Reader, longest, most int64) (entries []session.New, replaced int, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	rest := most
	for n := 1; ; n++ {
		line, long, err := readLine(r, min(longest, rest))
		rest -= int64(len(line))
		switch {
		case long && longest < most && rest >= 0:
			return nil, 0, usagef("line %d: more than %s bytes; nothing was done", n, comma(longest))
		case long || rest < 0:
			return nil, 0, usagef("more than %s bytes at once; nothing was done", comma(most))
		case errors.Is(err, io.EOF) && len(line) == 0:
			if len(entries) == 0 {
				return nil, 0, usagef("stdin holds no entry: give one JSON object a line")
			}
			return entries, replaced, nil
		case err != nil && !errors.Is(err, io.EOF):
			return nil, 0, fmt.Errorf("read stdin: %w", err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			continue
		}
		entry, own, reason := parseEntry(line)
		if reason != "" {
			return nil, 0, usagef("line %d: %s; nothing was done", n, reason)
		}
		if own {
			replaced++
		}
		entries = append(entries, entry)
	}
}

// deepest is how deeply what is read as JSON may be nested.
const deepest = 100_000

// given reports the keys that a session gives each entry itself.
func given(key string) bool {
	switch key {
	case "id", "parentId", "timestamp", "event_id":
		return true
	}
	return false
}

// parseEntry reads one line as an entry to append. own says that it had keys
// that the session gives; reason, if not "", why it is no entry.
func parseEntry(line []byte) (entry session.New, own bool, reason string) {
	if !utf8.Valid(line) {
		return nil, false, "is not UTF-8"
	}
	v, n, err := jsonl.Parse(line)
	switch {
	case errors.Is(err, jsonl.ErrShort):
		return nil, false, "ends within a value"
	case err != nil && bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) > deepest:
		return nil, false, "is not JSON, or nested too deeply"
	case err != nil, n < len(line):
		return nil, false, "is not JSON"
	case !v.Is(jsonl.Object):
		return nil, false, "is not a JSON object"
	case v.Get("type").Str() == "":
		return nil, false, `has no "type"`
	}
	o := v.Obj()
	if kind := jsonl.KindOf(o.Get("type").Str(), ""); !kind.Known {
		return nil, false, `its "type" is none of an entry`
	}
	entry = entryOf(o)
	probe := entry(jsonl.Base{ID: "0", Timestamp: "2006-01-02T15:04:05.000Z"}, "0")
	if !wellMade(o) || !jsonl.ValidEntry(probe) {
		return nil, false, "has not the shape of its type, " + o.Get("type").Str()
	}
	for _, m := range o.Members() {
		own = own || given(m.Key)
	}
	return entry, own, ""
}

// wellMade reports whether what entryOf takes out of o by name is of the right
// kind, so that nothing is turned into something else on the way.
func wellMade(o *jsonl.Obj) bool {
	if o.Get("type").Str() != "custom_message" {
		return true
	}
	display, attribution := o.Get("display"), o.Get("attribution")
	return (display.Is(jsonl.Absent) || display.Is(jsonl.Bool)) && (attribution.Is(jsonl.Absent) || attribution.Is(jsonl.String))
}

// entryOf is the entry that o describes: as the library makes one of its type,
// with whatever else o says after that.
func entryOf(o *jsonl.Obj) session.New {
	return func(b jsonl.Base, id string) *jsonl.Obj {
		e := frameOf(o, b, id)
		for _, m := range o.Members() {
			if !given(m.Key) && !e.Has(m.Key) {
				e.Set(m.Key, m.Value)
			}
		}
		return e
	}
}

// frameOf is an entry of o's type with what the session gives it.
func frameOf(o *jsonl.Obj, b jsonl.Base, id string) *jsonl.Obj {
	kind, custom := o.Get("type").Str(), o.Get("customType").Str()
	switch {
	case kind == "custom" && custom == contextClear:
		return jsonl.ContextClearEntry(b, o.Get("data"))
	case kind == "custom" && custom != "":
		return jsonl.CustomEntry(b, custom, o.Get("data"))
	case kind == "custom_message" && custom != "":
		return jsonl.CustomMessageEntry(b, id, jsonl.CustomMessage{
			CustomType: custom, Content: o.Get("content"), Display: o.Get("display").Bool(),
			Details: o.Get("details"), Attribution: o.Get("attribution").Str(),
		})
	case kind == "branch_summary" && o.Get("fromId").Is(jsonl.Absent):
		return jsonl.BranchSummaryEntry(b, o.Get("summary").Str(), o.Get("details"), o.Get("fromExtension"))
	}
	parent := jsonl.NullValue()
	if b.Parent != "" {
		parent = jsonl.StringValue(b.Parent)
	}
	return jsonl.NewObj(
		jsonl.Member{Key: "type", Value: jsonl.StringValue(kind)}, jsonl.Member{Key: "id", Value: jsonl.StringValue(b.ID)},
		jsonl.Member{Key: "parentId", Value: parent}, jsonl.Member{Key: "timestamp", Value: jsonl.StringValue(b.Timestamp)},
	)
}

// contextClear is the custom entry at which a new path begins.
const contextClear = "context_clear"
