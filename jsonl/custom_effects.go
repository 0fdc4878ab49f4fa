package jsonl

// ExecutionEffects keeps what removed entries say of files that were changed.
type ExecutionEffects struct {
	Paths         []EffectPath
	Overflow      int64 // paths beyond the bound, not listed
	UnprovenCalls int64 // calls that may have changed anything, such as a shell's
	Incomplete    bool  // some entries hold no evidence either way
}

// EffectPath is what happened to one file.
type EffectPath struct {
	Path        string
	Ops         EffectOps
	First, Last string // timestamps of the first and the last entry that show it
}

// EffectOps counts the changes by their kind.
type EffectOps struct {
	Create, Write, Edit, Delete, Rename int64
}

// Kind is KindExecutionEffects.
func (x *ExecutionEffects) Kind() string { return KindExecutionEffects }

// Data is the entry's data.
func (x *ExecutionEffects) Data() *Obj {
	paths := make([]Value, len(x.Paths))
	for i, p := range x.Paths {
		ops := NewObj(countMember("create", p.Ops.Create), countMember("write", p.Ops.Write),
			countMember("edit", p.Ops.Edit), countMember("delete", p.Ops.Delete),
			countMember("rename", p.Ops.Rename))
		paths[i] = ObjectValue(NewObj(textMember("path", p.Path), Member{"ops", ObjectValue(ops)},
			textMember("first", p.First), textMember("last", p.Last)))
	}
	return data(Member{"paths", ArrayValue(paths...)}, countMember("overflow", x.Overflow),
		countMember("unprovenCalls", x.UnprovenCalls), Member{"incomplete", BoolValue(x.Incomplete)})
}

func parseEffects(s *shape) *ExecutionEffects {
	x := &ExecutionEffects{
		Overflow:      s.count("overflow"),
		UnprovenCalls: s.count("unprovenCalls"),
		Incomplete:    s.flag("incomplete"),
	}
	for _, p := range s.items("paths") {
		ops := &shape{o: p.want("ops", Object).Obj()}
		x.Paths = append(x.Paths, EffectPath{
			Path: p.name("path"),
			Ops: EffectOps{
				Create: ops.count("create"),
				Write:  ops.count("write"),
				Edit:   ops.count("edit"),
				Delete: ops.count("delete"),
				Rename: ops.count("rename"),
			},
			First: p.text("first"),
			Last:  p.text("last"),
		})
		s.wrong = s.wrong || p.wrong || ops.wrong
	}
	return x
}
