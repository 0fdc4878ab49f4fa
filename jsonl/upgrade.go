package jsonl

import "math"

// Upgrade brings a transcript of version 1 to 4 to CurrentVersion in memory;
// it reports whether it changed anything. ids gives entries of version 1 their
// ids; nil derives them from the position in the file, so that two loads of
// one file agree: 8 hexadecimal digits, unique in the file, the same after the
// file has grown. Source: behaviour part 5, decision 18.
func (t *Transcript) Upgrade(ids func() string) (changed bool) {
	if t.Header == nil || t.State != StateOK || t.headerVersion() >= CurrentVersion {
		return false
	}
	if version := t.headerVersion(); version < 2 {
		t.upgradeTo2(ids)
	}
	if version := t.headerVersion(); version < 3 {
		t.upgradeTo3()
	}
	t.Header.Set("version", NumberValue(CurrentVersion))
	return true
}

func (t *Transcript) headerVersion() float64 {
	if v, ok := t.Header.Version(); ok {
		return v
	}
	return 1
}

// setSessions gives the header and every other session record a version.
func (t *Transcript) setSessions(version float64) {
	t.Header.Set("version", NumberValue(version))
	for _, e := range t.Records {
		if e.kind == "session" {
			e.set("version", NumberValue(version))
		}
	}
}

// set gives one property of the record a value.
func (e *Entry) set(key string, v Value) {
	o := e.Value().Clone()
	o.Set(key, v)
	e.SetValue(o)
}

// upgradeTo2 gives every record an id and the one before as parent, whatever
// it had, and turns the index of a compaction into an id.
func (t *Transcript) upgradeTo2(ids func() string) {
	t.setSessions(2)
	parent := NullValue()
	for i, e := range t.Records {
		if e.kind == "session" {
			continue
		}
		o := e.Value().Clone()
		id := StringValue(idAt(i+1, ids))
		o.Set("id", id)
		o.Set("parentId", parent)
		parent = id
		e.SetValue(o)
		if k := o.Get("firstKeptEntryIndex"); e.kind == "compaction" && k.Is(Number) {
			if kept := t.idAtIndex(k.Num()); kept.Kind() != Absent {
				o.Set("firstKeptEntryId", kept)
			}
			o.Delete("firstKeptEntryIndex")
		}
	}
}

// idAt is the id of the record at position n, where the header is 0.
func idAt(n int, ids func() string) string {
	if ids != nil {
		return ids()
	}
	return hexString(uint64(n), 8)
}

// idAtIndex is the present id of record k of the whole list, where the header
// is 0. A later record has none yet, or an old one.
func (t *Transcript) idAtIndex(k float64) Value {
	if k != math.Trunc(k) || k < 1 || k > float64(len(t.Records)) {
		return Value{}
	}
	e := t.Records[int(k)-1]
	if e.kind == "session" {
		return Value{}
	}
	return e.Value().Get("id")
}

// upgradeTo3 renames the role of messages that hooks put in.
func (t *Transcript) upgradeTo3() {
	t.setSessions(3)
	for _, e := range t.Records {
		if e.role != "hookMessage" {
			continue
		}
		message := e.Value().Get("message").Obj().Clone()
		message.Set("role", StringValue("custom"))
		e.set("message", ObjectValue(message))
	}
}
