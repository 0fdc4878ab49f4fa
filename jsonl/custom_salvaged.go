package jsonl

// Salvaged is a record that the format does not know, or whose shape is wrong,
// as a mended copy keeps it: nothing of it is sent to a model or shown to
// people, and nothing of it is lost.
type Salvaged struct {
	Line   int64  // in the damaged file
	Was    string // its type; "" if it had none
	Record *Obj   // the rest of it, without what stands in the entry itself
}

// Kind is KindSalvaged.
func (s *Salvaged) Kind() string { return KindSalvaged }

// Data is the entry's data.
func (s *Salvaged) Data() *Obj {
	return data(countMember("line", s.Line), textMember("was", s.Was), Member{"record", ObjectValue(s.Record)})
}

func parseSalvaged(s *shape) *Salvaged {
	return &Salvaged{Line: s.count("line"), Was: s.text("was"), Record: s.want("record", Object).Obj()}
}
