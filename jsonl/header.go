package jsonl

// Header is the session record at the head of a transcript. Unknown keys stay
// in place. Not safe for several goroutines while one of them changes it.
type Header struct {
	obj     *Obj
	changed bool
}

// NewHeader makes a header of an object; it owns o.
func NewHeader(o *Obj) *Header { return &Header{obj: o} }

// Value is the whole header record. Who changes it through SetValue gives a clone.
func (h *Header) Value() *Obj { return h.obj }

// SetValue replaces the whole record; the header owns o from then on.
func (h *Header) SetValue(o *Obj) { h.obj, h.changed = o, true }

// Set gives one property a value: a known key keeps its place, a new one goes last.
func (h *Header) Set(key string, v Value) {
	h.obj.Set(key, v)
	h.changed = true
}

// Changed reports whether the header differs from the file's first session
// record: it was patched, upgraded or set.
func (h *Header) Changed() bool { return h.changed }

// ID is the session's id.
func (h *Header) ID() string { return h.obj.Get("id").Str() }

// Version is the header's version; ok is false if it has none that is a
// number, which means version 1.
func (h *Header) Version() (version float64, ok bool) {
	v := h.obj.Get("version")
	return v.Num(), v.Is(Number)
}

// Cwd is the workspace as the session's maker spelled it; "" if it is missing.
func (h *Header) Cwd() string { return h.obj.Get("cwd").Str() }

// Title is the session's title; ok is false if there is none. "" is a title.
func (h *Header) Title() (title string, ok bool) {
	v := h.obj.Get("title")
	return v.Str(), v.Is(String)
}

// TitleSource is "auto" or "user", or "" where the header doesn't say.
func (h *Header) TitleSource() string { return h.obj.Get("titleSource").Str() }

// ParentSession is the id or path of the session this one was made from; "" if none.
func (h *Header) ParentSession() string { return h.obj.Get("parentSession").Str() }

// Timestamp is when the session was made, as it stands; "" if it is no string.
func (h *Header) Timestamp() string { return h.obj.Get("timestamp").Str() }
