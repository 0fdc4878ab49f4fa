package jsonl

// UsageFields is what a message's usage object says. A number that is absent
// or of another kind is 0.
type UsageFields struct {
	Has                                  bool // message.usage is an object
	Whole                                bool // input, output, cacheRead and cacheWrite are numbers
	Input, Output, CacheRead, CacheWrite float64
	Cost                                 float64 // cost.total
	HasCost                              bool    // cost.total is a number
	PremiumRequests                      float64
}

// Fields is what the rooms above need of one record without making a Value of
// it. A Lit is set only if the property is a string. Literals are slices of
// the scanned line; Texts, Calls and Refs are reused by the next Scan or Of.
//
// Which properties are read depends on nothing but the record's type: message
// fields are those of message, for an entry_patch of patch.message; the header
// fields those of the record, for a header_patch of patch. Where a key stands
// twice the last one counts.
type Fields struct {
	Type, ID, Parent, Timestamp Lit
	IDKind, ParentKind          Kind // of id and parentId

	Role   Lit          // message.role
	Texts  []Lit        // message.content (content of a custom_message): the string, or each text block's text
	Images int          // image blocks of the same content
	Calls  []CallFields // toolCall blocks of the same content

	Details []byte // JSON text of message.details; nil without one

	Provider, Model, StopReason, ToolName, ToolCallID Lit // of message

	Usage UsageFields

	CustomType, TargetID, Label, FirstKept, Summary, ShortSummary, FromID Lit

	LabelKind Kind

	Version     float64 // 0 unless VersionKind is Number
	VersionKind Kind

	Cwd, Title, TitleSource, ParentSession Lit

	EntryID   Lit // entryId of an entry_patch
	EventID   Lit // event_id
	ModelName Lit // model of a model_change

	Refs []Lit // every string value of the line that is exactly blob:sha256:<64 hex>; also one that a later duplicate key hides
}

// reset empties f but keeps what its slices have allocated.
func (f *Fields) reset() {
	texts, calls, refs := f.Texts[:0], f.Calls[:0], f.Refs[:0]
	*f = Fields{Texts: texts, Calls: calls, Refs: refs}
}

// Of fills f from a parsed record: the slow, exact way. raw is the value's own
// text, used for Refs only; with nil they are taken from v.
func (f *Fields) Of(raw []byte, v Value) {
	f.reset()
	f.Type = litOf(v.Get("type"))
	f.ID, f.IDKind = litOf(v.Get("id")), v.Get("id").Kind()
	f.Parent, f.ParentKind = litOf(v.Get("parentId")), v.Get("parentId").Kind()
	f.Timestamp = litOf(v.Get("timestamp"))
	f.CustomType = litOf(v.Get("customType"))
	f.TargetID = litOf(v.Get("targetId"))
	f.Label, f.LabelKind = litOf(v.Get("label")), v.Get("label").Kind()
	f.FirstKept = litOf(v.Get("firstKeptEntryId"))
	f.Summary = litOf(v.Get("summary"))
	f.ShortSummary = litOf(v.Get("shortSummary"))
	f.FromID = litOf(v.Get("fromId"))
	f.Version, f.VersionKind = v.Get("version").Num(), v.Get("version").Kind()
	f.ParentSession = litOf(v.Get("parentSession"))
	f.EntryID = litOf(v.Get("entryId"))
	f.EventID = litOf(v.Get("event_id"))
	f.ModelName = litOf(v.Get("model"))

	header, message := v, v.Get("message")
	switch {
	case f.Type.Equal("header_patch"):
		header = v.Get("patch")
	case f.Type.Equal("entry_patch"):
		message = v.Get("patch").Get("message")
	}
	f.Cwd = litOf(header.Get("cwd"))
	f.Title = litOf(header.Get("title"))
	f.TitleSource = litOf(header.Get("titleSource"))
	f.ofMessage(message)
	if f.Type.Equal("custom_message") {
		f.ofContent(v.Get("content"))
	} else {
		f.ofContent(message.Get("content"))
	}
	if raw == nil {
		f.refsOfValue(v)
		return
	}
	f.refsOfText(raw)
}

func (f *Fields) ofMessage(m Value) {
	f.Role = litOf(m.Get("role"))
	f.Provider = litOf(m.Get("provider"))
	f.Model = litOf(m.Get("model"))
	f.StopReason = litOf(m.Get("stopReason"))
	f.ToolName = litOf(m.Get("toolName"))
	f.ToolCallID = litOf(m.Get("toolCallId"))
	f.Usage = MessageUsage(m)
	if d := m.Get("details"); !d.Is(Absent) {
		f.Details = AppendJSON(nil, d)
	}
}

// MessageUsage is what a message says of its usage.
func MessageUsage(message Value) (w UsageFields) {
	u := message.Get("usage")
	if !u.Is(Object) {
		return w
	}
	w.Has, w.Whole = true, true
	number := func(key string) float64 {
		v := u.Get(key)
		w.Whole = w.Whole && v.Is(Number)
		return v.Num()
	}
	w.Input, w.Output = number("input"), number("output")
	w.CacheRead, w.CacheWrite = number("cacheRead"), number("cacheWrite")
	total := u.Get("cost").Get("total")
	w.Cost, w.HasCost = total.Num(), total.Is(Number)
	w.PremiumRequests = u.Get("premiumRequests").Num()
	return w
}

func (f *Fields) ofContent(c Value) {
	if c.Is(String) {
		f.Texts = append(f.Texts, litOf(c))
		return
	}
	for _, block := range c.Items() {
		switch block.Get("type").Str() {
		case "text":
			if text := block.Get("text"); text.Is(String) {
				f.Texts = append(f.Texts, litOf(text))
			}
		case "image":
			f.Images++
		case "toolCall":
			f.Calls = append(f.Calls, callOf(block))
		}
	}
}

func (f *Fields) refsOfValue(v Value) {
	switch v.kind {
	case String:
		if l := literal(v.str); l.isRef() {
			f.Refs = append(f.Refs, l)
		}
	case Array:
		for _, item := range v.Items() {
			f.refsOfValue(item)
		}
	case Object:
		for _, m := range v.obj.Members() {
			f.refsOfValue(m.Value)
		}
	}
}

// refsOfText finds the references among the string values of valid JSON text.
func (f *Fields) refsOfText(raw []byte) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		start := i + 1
		for i = start; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		if i >= len(raw) {
			return
		}
		l := Lit{raw: raw[start:i]}
		p := parser{data: raw, pos: i + 1}
		p.space()
		isKey := p.pos < len(raw) && raw[p.pos] == ':'
		if !isKey && l.isRef() {
			f.Refs = append(f.Refs, l)
		}
	}
}
