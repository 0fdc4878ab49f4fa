package jsonl

import (
	"sync/atomic"
	"time"
)

// Entry is one record of a transcript that is neither its header nor a patch.
// It keeps the line's bytes and parses them when asked, so that a large
// session stays about as large in memory as on disk. Reading is safe for
// several goroutines, SetValue is not.
type Entry struct {
	Line   int   // 1-based physical line where it begins; 0 if it was never read from a file
	Offset int64 // of its first byte in the file
	Size   int64 // bytes up to the end of its line, line end included

	raw     []byte // as read; stays when the value changes, for comparing lines
	value   atomic.Pointer[Obj]
	changed bool

	kind      string // type
	id        string
	parent    string
	timestamp string
	role      string // message.role of a message
	event     EventID

	idKind, parentKind Kind
	hasEvent           bool
}

// NewEntry makes an entry of an object, as writers do. The entry owns o.
func NewEntry(o *Obj) *Entry {
	e := &Entry{}
	e.SetValue(o)
	return e
}

// Type is the record's type; "" if it has none that is a string.
func (e *Entry) Type() string { return e.kind }

// ID is the entry's id; ok is false if it has none that is a string.
func (e *Entry) ID() (id string, ok bool) { return e.id, e.idKind == String }

// Parent is the entry's parentId. The kind tells null from absent and from a
// value that can be no id; the string is "" unless it is String.
func (e *Entry) Parent() (id string, kind Kind) { return e.parent, e.parentKind }

// Timestamp is the entry's timestamp as it stands; "" if it is no string.
func (e *Entry) Timestamp() string { return e.timestamp }

// Time is Timestamp as ECMAScript's Date reads it; ok is false if it can't.
func (e *Entry) Time() (t time.Time, ok bool) {
	ms, ok := ParseDate(e.timestamp)
	if !ok {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)).UTC(), true
}

// Role is message.role of a message entry; "" for any other.
func (e *Entry) Role() string { return e.role }

// EventID is the entry's event_id; ok is false if it has none.
func (e *Entry) EventID() (id EventID, ok bool) { return e.event, e.hasEvent }

// Value is the whole record, parsed on the first call. It belongs to the
// entry: who wants to change it clones it and calls SetValue.
func (e *Entry) Value() *Obj {
	if o := e.value.Load(); o != nil {
		return o
	}
	v, _, err := Parse(e.raw)
	if err != nil || !v.Is(Object) {
		return &Obj{} // the reader took these bytes as an object
	}
	if e.value.CompareAndSwap(nil, v.obj) {
		return v.obj
	}
	return e.value.Load()
}

// Raw is the record's bytes as read, without what stands around them on the
// line; nil once the entry was changed. The caller must not change them.
func (e *Entry) Raw() []byte {
	if e.changed {
		return nil
	}
	return e.raw
}

// Changed reports whether the record differs from what the file says: it was
// patched, upgraded or made anew.
func (e *Entry) Changed() bool { return e.changed }

// SetValue replaces the whole record; the entry owns o from then on.
func (e *Entry) SetValue(o *Obj) {
	e.value.Store(o)
	e.changed = true
	e.kind = o.Get("type").Str()
	id, parent := o.Get("id"), o.Get("parentId")
	e.id, e.idKind = id.Str(), id.Kind()
	e.parent, e.parentKind = parent.Str(), parent.Kind()
	e.timestamp = o.Get("timestamp").Str()
	e.role = ""
	if e.kind == "message" {
		e.role = o.Get("message").Get("role").Str()
	}
	e.event, e.hasEvent = ParseEventID(o.Get("event_id").Str())
}

// Sign gives an entry that nobody else has seen yet its event_id, the last key.
func (e *Entry) Sign(id EventID) {
	o := e.Value()
	o.Delete("event_id")
	o.Set("event_id", StringValue(id.String()))
	e.event, e.hasEvent, e.changed = id, true, true
}

// AppendJSON appends the record as it is written: the bytes read, if it is
// unchanged and compact is false, else its value encoded anew.
func (e *Entry) AppendJSON(dst []byte, compact bool) []byte {
	if raw := e.Raw(); raw != nil && !compact {
		return append(dst, raw...)
	}
	return AppendJSON(dst, ObjectValue(e.Value()))
}
