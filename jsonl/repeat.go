package jsonl

import (
	"bytes"
	"hash/maphash"
)

// entry takes a record after the header. One with a string id that repeats an
// earlier line of that id byte for byte is dropped; one that only has the id
// of another is kept; both are told. Files of version 1 have no ids that
// count. Source: decision 4.
func (l *loader) entry(rec *Record) {
	f := rec.Fields
	if !f.ID.Ok() || l.t.Stored < 2 || f.Type.Equal("session") {
		l.t.Records = append(l.t.Records, l.keep.entry(rec))
		return
	}
	if l.latest == nil {
		l.latest = map[string]*Entry{}
	}
	earlier := l.earlier(f.ID)
	if earlier == nil {
		e := l.keep.entry(rec)
		l.latest[e.id] = e
		l.t.Records = append(l.t.Records, e)
		return
	}
	l.warn(rec.Line, DuplicateID)
	if l.repeats == nil {
		l.repeats = map[uint64][]*Entry{}
	}
	if sum := maphash.Bytes(l.seed, earlier.raw); !l.repeated(sum, earlier.raw) {
		l.repeats[sum] = append(l.repeats[sum], earlier)
	}
	sum := maphash.Bytes(l.seed, rec.Raw)
	if l.repeated(sum, rec.Raw) {
		return
	}
	e := l.keep.entry(rec)
	l.repeats[sum] = append(l.repeats[sum], e)
	l.latest[e.id] = e
	l.t.Records = append(l.t.Records, e)
	if earlier.kind == "message" && e.kind != "message" {
		if l.messages == nil {
			l.messages = map[string]*Entry{}
		}
		l.messages[e.id] = earlier
	}
}

func (l *loader) earlier(id Lit) *Entry {
	if id.plain() {
		return l.latest[string(id.Raw())]
	}
	return l.latest[id.WTF8()]
}

// repeated reports whether an entry with these bytes is among the repeats.
// Equal bytes have equal ids.
func (l *loader) repeated(sum uint64, raw []byte) bool {
	for _, e := range l.repeats[sum] {
		if bytes.Equal(e.raw, raw) {
			return true
		}
	}
	return false
}
