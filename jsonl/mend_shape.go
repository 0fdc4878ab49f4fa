package jsonl

// shapes gives each record the shape of its type. One that has none keeps all
// it says inside a custom entry. Headers after the first are left out if they
// are not valid.
func (m *mender) shapes() {
	kept := m.t.Records[:0]
	last := m.t.Header.Timestamp()
	for _, e := range m.t.Records {
		if e.kind == "session" {
			if strictHeader(e.Value()) {
				kept = append(kept, e)
			} else {
				m.note(e.Line, MendDropped, SecondHeader)
			}
			continue
		}
		m.shape(e, last)
		last = e.Timestamp()
		kept = append(kept, e)
	}
	m.t.Records = kept
}

// shape mends one entry; last is the timestamp before it.
func (m *mender) shape(e *Entry, last string) {
	o := e.Value()
	known, ok := strictShape(e.kind, o)
	timed := isString(o, "timestamp")
	if known && ok && timed {
		return
	}
	o = o.Clone()
	if !timed {
		o.Set("timestamp", StringValue(last))
	}
	if !known || !ok {
		done := completed(e.kind, o)
		if known, ok = strictShape(e.kind, done); known && ok {
			e.SetValue(done)
			m.note(e.Line, MendCompleted, "")
			return
		}
		e.SetValue(wrapped(e, o))
		m.note(e.Line, MendWrapped, "")
		return
	}
	e.SetValue(o)
	m.note(e.Line, MendCompleted, "")
}

// completed fills in what a record of that type can be read without.
func completed(kind string, o *Obj) *Obj {
	o = o.Clone()
	set := func(key string, want Kind, v Value) {
		if !o.Get(key).Is(want) {
			o.Set(key, v)
		}
	}
	switch kind {
	case "compaction":
		set("summary", String, StringValue(""))
		set("firstKeptEntryId", String, StringValue("")) // keepFirst says what it keeps
		set("tokensBefore", Number, NumberValue(0))
	case "branch_summary":
		set("fromId", String, StringValue("root"))
		set("summary", String, StringValue(""))
	case "custom_message":
		set("display", Bool, BoolValue(false))
	}
	return o
}

// wrapped is a custom entry that holds a record whole.
func wrapped(e *Entry, o *Obj) *Obj {
	rest := o.Clone()
	for _, key := range []string{"type", "id", "parentId", "timestamp", "event_id"} {
		rest.Delete(key)
	}
	said := &Salvaged{Line: int64(e.Line), Was: e.kind, Record: rest}
	w := NewObj(
		Member{"type", StringValue("custom")}, Member{"customType", StringValue(said.Kind())},
		Member{"data", ObjectValue(said.Data())},
	)
	for _, key := range []string{"id", "parentId", "timestamp", "event_id"} {
		if v := o.Get(key); !v.Is(Absent) {
			w.Set(key, v)
		}
	}
	return w
}
