package jsonl

// The types of the records that change others.
const (
	headerPatch = "header_patch"
	entryPatch  = "entry_patch"
)

// isPatch reports whether a record is a patch of valid shape.
func isPatch(raw []byte, f *Fields) bool {
	if !f.Type.Equal(headerPatch) && !f.Type.Equal(entryPatch) {
		return false
	}
	v, _, err := Parse(raw)
	return err == nil && (validHeaderPatch(v.obj) || validEntryPatch(v.obj))
}

// onlyKeys reports whether o has no keys but those given.
func onlyKeys(o *Obj, keys ...string) bool {
	for _, m := range o.Members() {
		known := false
		for _, k := range keys {
			known = known || k == m.Key
		}
		if !known {
			return false
		}
	}
	return true
}

// validHeaderPatch reports whether a record is a header_patch that counts: one
// bad field voids the whole. Source: behaviour part 4.
func validHeaderPatch(o *Obj) bool {
	if o.Get("type").Str() != headerPatch || !onlyKeys(o, "type", "patch") {
		return false
	}
	patch := o.Get("patch")
	if !patch.Is(Object) || !onlyKeys(patch.obj, "cwd", "title", "titleSource") {
		return false
	}
	for _, m := range patch.obj.Members() {
		if !m.Value.Is(String) {
			return false
		}
		if s := m.Value.Str(); m.Key == "titleSource" && s != "auto" && s != "user" {
			return false
		}
	}
	return true
}

// validEntryPatch reports whether a record is an entry_patch that counts.
func validEntryPatch(o *Obj) bool {
	if o.Get("type").Str() != entryPatch || !onlyKeys(o, "type", "entryId", "patch") {
		return false
	}
	patch := o.Get("patch")
	if !o.Get("entryId").Is(String) || !patch.Is(Object) || !onlyKeys(patch.obj, "message") {
		return false
	}
	return !patch.obj.Has("message") || patch.Get("message").Is(Object)
}

// patch applies a patch record, if its header's version has patches and it is
// of valid shape. Source: behaviour part 4.
func (l *loader) patch(rec *Record) {
	if !l.patches {
		return
	}
	v, _, err := Parse(rec.Raw)
	if err != nil {
		return
	}
	if validHeaderPatch(v.obj) {
		l.t.Header.patch(v.Get("patch").obj)
		l.t.Patches++
		return
	}
	if !validEntryPatch(v.obj) {
		l.idle(rec)
		return
	}
	target := l.message(v.Get("entryId").Str())
	if target == nil {
		l.warn(rec.Line, PatchTargetMissing)
		l.idle(rec)
		return
	}
	if message := v.Get("patch").Get("message"); message.Is(Object) {
		target.SetMessage(message)
		l.t.Patches++
	}
}

// idle takes a patch that changes nothing. Only a mended copy keeps it.
func (l *loader) idle(rec *Record) {
	if l.mend {
		l.t.Records = append(l.t.Records, l.keep.entry(rec))
	}
}

// message is the latest message entry with an id.
func (l *loader) message(id string) *Entry {
	if e := l.latest[id]; e != nil && e.kind == "message" {
		return e
	}
	return l.messages[id]
}

// patch applies the properties of a valid header_patch.
func (h *Header) patch(patch *Obj) {
	for _, m := range patch.Members() {
		h.Set(m.Key, m.Value)
	}
}

// SetMessage replaces the message of an entry whole, as an entry_patch does.
func (e *Entry) SetMessage(message Value) {
	o := e.Value().Clone()
	o.Set("message", message)
	e.SetValue(o)
}

// ParseHeaderPatch gives what a line changes in the header, its properties
// cwd, title and titleSource; ok is false unless it is one valid header_patch.
func ParseHeaderPatch(line []byte) (patch *Obj, ok bool) {
	v, err := parseWhole(line)
	if err != nil || !validHeaderPatch(v.Obj()) {
		return nil, false
	}
	return v.Get("patch").Obj(), true
}

// ParseEntryPatch gives the id of the message that a line patches, and what it
// is then; message is Absent if the patch changes nothing. ok is false unless
// the line is one valid entry_patch.
func ParseEntryPatch(line []byte) (id string, message Value, ok bool) {
	v, err := parseWhole(line)
	if err != nil || !validEntryPatch(v.Obj()) {
		return "", Value{}, false
	}
	return v.Get("entryId").Str(), v.Get("patch").Get("message"), true
}
