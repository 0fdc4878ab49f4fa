package jsonl

import "math"

// stateScan derives a path's state, entry by entry from the root. State is
// taken from the whole path, also from what a compaction drops.
type stateScan struct {
	c               *Context
	explicitDefault bool           // a model_change has set the default model
	rules           map[string]int // rule name to its place in TTSRRecords
}

func newStateScan() *stateScan {
	return &stateScan{
		c: &Context{
			ThinkingLevel: StringValue("off"),
			Models:        NewObj(),
			Chains:        NewObj(),
			Mode:          StringValue("none"),
		},
		rules: make(map[string]int),
	}
}

func (s *stateScan) entry(e *PathEntry) {
	v := e.Value
	if v == nil {
		return
	}
	switch e.Type {
	case "message":
		if e.Role == "assistant" && !s.explicitDefault {
			m := v.Get("message")
			s.c.Models.Set("default", StringValue(textOf(m.Get("provider"))+"/"+textOf(m.Get("model"))))
		}
	case "thinking_level_change":
		s.c.ThinkingLevel = orElse(v.Get("thinkingLevel"), StringValue("off"))
	case "service_tier_change":
		s.c.ServiceTier = orElse(v.Get("serviceTier"), Value{})
	case "mode_change":
		s.c.Mode, s.c.ModeData = v.Get("mode"), v.Get("data")
	case "model_change":
		s.model(v)
	case "configured_model_chain":
		s.chain(v)
	case "ttsr_injection":
		s.ttsr(v)
	case "mcp_tool_selection":
		s.c.MCPTools, s.c.HasMCPSelection = v.Get("selectedToolNames").Items(), true
		// Before version 5 one entry chose in both domains.
		if both := v.Get("selectedDiscoveredBuiltinToolNames"); both.Is(Array) {
			s.c.BuiltinTools, s.c.HasBuiltinSelection = both, true
		}
	case "discovered_builtin_tool_selection":
		s.c.BuiltinTools = ArrayValue(list(v.Get("selectedToolNames").Items())...)
		s.c.HasBuiltinSelection = true
	}
}

func (s *stateScan) model(v *Obj) {
	model := v.Get("model")
	if !model.Truthy() {
		return
	}
	role := modelRole(v)
	s.c.Models.Set(role, model)
	s.explicitDefault = s.explicitDefault || role == "default"
}

// modelRole is the role that a model_change is about.
func modelRole(v *Obj) string {
	return textOf(orElse(v.Get("role"), StringValue("default")))
}

func (s *stateScan) chain(v *Obj) {
	role := v.Get("role")
	if role.Str() == "" {
		return
	}
	if v.Get("cleared").Bool() {
		s.c.Chains.Delete(role.Str())
		return
	}
	var models []Value
	for _, m := range v.Get("entries").Items() {
		if m.Str() != "" {
			models = append(models, m)
		}
	}
	if len(models) == 0 {
		return
	}
	chain := NewObj(Member{"role", role}, Member{"entries", ArrayValue(models...)},
		Member{"origin", orElse(v.Get("origin"), StringValue("session"))})
	setPresent(chain, "identity", v.Get("identity"))
	chain.Set("explicitHead", BoolValue(v.Get("explicitHead").Bool()))
	s.c.Chains.Set(role.Str(), ObjectValue(chain))
}

func (s *stateScan) ttsr(v *Obj) {
	for _, name := range v.Get("injectedRules").Items() {
		s.rule(name, Value{})
	}
	for _, record := range v.Get("injectedRuleRecords").Items() {
		s.rule(record.Get("name"), record)
	}
	if n := v.Get("ttsrMessageCount"); n.Is(Number) && !math.IsInf(n.Num(), 0) && !math.IsNaN(n.Num()) {
		s.c.TTSRMessageCount = n.Num()
	}
}

// rule takes a rule's name and, if there is one, its explicit record.
func (s *stateScan) rule(name, record Value) {
	if !name.Is(String) {
		return
	}
	i, known := s.rules[name.Str()]
	if !known {
		i = len(s.c.TTSRRecords)
		s.rules[name.Str()] = i
		s.c.TTSRRules = append(s.c.TTSRRules, name.Str())
		s.c.TTSRRecords = append(s.c.TTSRRecords, ObjectValue(NewObj(
			Member{"name", name}, Member{"lastInjectedAt", NumberValue(0)})))
	}
	if !record.Is(Absent) {
		s.c.TTSRRecords[i] = record
	}
}

// finish gives each model without a chain one of its own.
func (s *stateScan) finish() *Context {
	for _, m := range s.c.Models.Members() {
		if s.c.Chains.Has(m.Key) {
			continue
		}
		s.c.Chains.Set(m.Key, ObjectValue(NewObj(
			Member{"role", StringValue(m.Key)},
			Member{"entries", ArrayValue(m.Value)},
			Member{"origin", StringValue("legacy_session")},
			Member{"explicitHead", BoolValue(true)},
		)))
	}
	return s.c
}

// orElse is ECMAScript's v ?? other.
func orElse(v, other Value) Value {
	if v.Is(Absent) || v.Is(Null) {
		return other
	}
	return v
}

// lastSeen goes up a path from its end and tells which entries' state nothing
// below replaces.
type lastSeen struct {
	thinking, tier, mode, mcp, builtin, assistant bool
}

func (l *lastSeen) decides(e *PathEntry) bool {
	switch e.Type {
	case "thinking_level_change":
		return first(&l.thinking)
	case "service_tier_change":
		return first(&l.tier)
	case "mode_change":
		return first(&l.mode)
	case "discovered_builtin_tool_selection":
		return first(&l.builtin)
	case "mcp_tool_selection":
		// It may hold a choice of built-in tools as well.
		return first(&l.mcp) || !l.builtin
	case "message":
		return e.Role == "assistant" && first(&l.assistant)
	case "model_change", "configured_model_chain", "ttsr_injection":
		return true
	}
	return false
}

// first reports whether seen was false, and sets it.
func first(seen *bool) bool {
	was := *seen
	*seen = true
	return !was
}

// LastModelChangeRole is the role of the last model_change on a path; ok is
// false without one.
func LastModelChangeRole(path []*Entry) (role string, ok bool) {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type() == "model_change" {
			return modelRole(path[i].Value()), true
		}
	}
	return "", false
}

// InjectedTTSRRules are the names of all rules injected on a path, each once,
// in the order in which they were first injected.
func InjectedTTSRRules(path []*Entry) []string {
	s := newStateScan()
	for _, e := range path {
		if e.Type() == "ttsr_injection" {
			s.ttsr(e.Value())
		}
	}
	return s.c.TTSRRules
}
