package jsonl

import "math"

// CustomData is what a custom entry of ours says. The types that implement it
// are the shapes of the kinds named in kinds.go.
type CustomData interface {
	// Kind is the customType.
	Kind() string
	// Data is the entry's data: an object whose first key is v.
	Data() *Obj
}

// customVersion is the v of every data object that this program writes.
const customVersion = 1

// ParseCustom reads the data of a custom entry of ours. ok is false where the
// shape is wrong, the version is another or the kind is not ours: the entry is
// then a custom entry like any other program's. Keys it does not know are
// passed over.
func ParseCustom(customType string, data Value) (d CustomData, ok bool) {
	s := &shape{o: data.Obj()}
	if s.o.Get("v") != NumberValue(customVersion) {
		return nil, false
	}
	switch customType {
	case KindUsage:
		d = parseUsage(s)
	case KindUsageCheckpoint:
		d = parseUsageCheckpoint(s)
	case KindExecutionEffects:
		d = parseEffects(s)
	case KindTaskScope:
		d = &TaskScope{Required: s.flag("required"), Input: s.any("input"), Policy: s.o.Get("policy")}
	case KindSteering:
		d = parseSteering(s)
	case KindTaskScopeCheckpoint:
		d = parseTaskScopeCheckpoint(s)
	case KindToolAppliedPreview:
		d = parsePreview(s)
	case KindAttachment:
		d = parseAttachment(s)
	case KindOutputChunk:
		d = &OutputChunk{Display: s.name("display"), Seq: s.count("seq"), Text: s.text("text")}
	case KindRewindOrigin:
		d = parseRewindOrigin(s)
	case KindDiagnostic:
		d = &Diagnostic{Text: s.text("text")}
	case KindSalvaged:
		d = parseSalvaged(s)
	default:
		return nil, false
	}
	if s.wrong {
		return nil, false
	}
	return d, true
}

// Custom is ParseCustom of the entry; ok is false for an entry that is none of
// ours.
func (e *Entry) Custom() (d CustomData, ok bool) {
	if e.Type() != "custom" {
		return nil, false
	}
	return ParseCustom(e.Value().Get("customType").Str(), e.Value().Get("data"))
}

// shape takes properties of an object and remembers whether one was wrong.
type shape struct {
	o     *Obj
	wrong bool
}

// want gives the property key, which must be of a kind.
func (s *shape) want(key string, kind Kind) Value {
	v := s.o.Get(key)
	if !v.Is(kind) {
		s.wrong = true
	}
	return v
}

func (s *shape) text(key string) string { return s.want(key, String).Str() }
func (s *shape) flag(key string) bool   { return s.want(key, Bool).Bool() }

// name is text that is not empty.
func (s *shape) name(key string) string {
	v := s.text(key)
	s.wrong = s.wrong || v == ""
	return v
}

// optional is text that may be missing.
func (s *shape) optional(key string) string {
	if !s.o.Has(key) {
		return ""
	}
	return s.text(key)
}

// any is a value that must be there.
func (s *shape) any(key string) Value {
	v := s.o.Get(key)
	s.wrong = s.wrong || v.Is(Absent)
	return v
}

// amount is a number that is not negative.
func (s *shape) amount(key string) float64 {
	n := s.want(key, Number).Num()
	if !(n >= 0) || math.IsInf(n, 0) {
		s.wrong = true
	}
	return n
}

// count is a whole amount that a double holds exactly.
func (s *shape) count(key string) int64 {
	n := s.amount(key)
	if n != math.Trunc(n) || n > 1<<53 {
		s.wrong = true
		return 0
	}
	return int64(n)
}

// price is an amount that may be missing or null, which means unknown.
func (s *shape) price(key string) *float64 {
	if v := s.o.Get(key); v.Is(Absent) || v.Is(Null) {
		return nil
	}
	n := s.amount(key)
	return &n
}

// items are the objects of an array.
func (s *shape) items(key string) []*shape {
	v := s.want(key, Array).Items()
	items := make([]*shape, len(v))
	for i := range v {
		s.wrong = s.wrong || !v[i].Is(Object)
		items[i] = &shape{o: v[i].Obj()}
	}
	return items
}

// texts are the strings of an array.
func (s *shape) texts(key string) []string {
	v := s.want(key, Array).Items()
	texts := make([]string, len(v))
	for i := range v {
		s.wrong = s.wrong || !v[i].Is(String)
		texts[i] = v[i].Str()
	}
	return texts
}

// oneOf is text that must be one of some words.
func (s *shape) oneOf(key string, words ...string) string {
	v := s.text(key)
	for _, w := range words {
		if v == w {
			return v
		}
	}
	s.wrong = true
	return v
}

// data begins the data of an entry of ours.
func data(members ...Member) *Obj {
	return NewObj(append([]Member{{"v", NumberValue(customVersion)}}, members...)...)
}

func textMember(key, s string) Member        { return Member{key, StringValue(s)} }
func countMember(key string, n int64) Member { return Member{key, NumberValue(float64(n))} }

func textValues(texts []string) Value {
	v := make([]Value, len(texts))
	for i, s := range texts {
		v[i] = StringValue(s)
	}
	return ArrayValue(v...)
}

func setText(o *Obj, key, s string) {
	if s != "" {
		o.Set(key, StringValue(s))
	}
}

func priceValue(p *float64) Value {
	if p == nil {
		return NullValue()
	}
	return NumberValue(*p)
}
