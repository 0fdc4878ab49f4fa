package jsonl

import "slices"

// Context is what a session is at a leaf: the messages for the model and the
// state derived from the path. Values are those of the entries, not copies.
type Context struct {
	Messages      []Value
	ThinkingLevel Value // "off" if none was chosen
	ServiceTier   Value // Absent if none is set
	Models        *Obj  // role to "provider/model"
	Chains        *Obj  // role to configured model chain

	TTSRRules        []string
	TTSRRecords      []Value // {name, lastInjectedAt}
	TTSRMessageCount float64

	MCPTools            []Value
	HasMCPSelection     bool
	BuiltinTools        Value // an array; Absent if nothing was ever selected
	HasBuiltinSelection bool

	Mode     Value // "none" if none was entered
	ModeData Value // Absent if the mode has none
}

// PathEntry is one entry of a path, root first, by the few facts that an index
// keeps of it.
type PathEntry struct {
	Type      string
	ID        string // "" without one
	Role      string // message.role of a message
	FirstKept string // firstKeptEntryId of a compaction
	Value     *Obj   // the whole record; nil if it was not read
}

// BuildContext derives the context at the end of a path. A path that is empty
// gives the empty context. It costs time linear in the path and parses only
// the entries that NeededForContext names. Source: behaviour part 8.
func BuildContext(path []*Entry) *Context {
	facts := make([]PathEntry, len(path))
	for i, e := range path {
		id, _ := e.ID()
		facts[i] = PathEntry{Type: e.Type(), ID: id, Role: e.Role()}
		if facts[i].Type == "compaction" {
			facts[i].FirstKept = e.Value().Get("firstKeptEntryId").Str()
		}
	}
	for i, needed := range NeededForContext(facts) {
		if needed {
			facts[i].Value = path[i].Value()
		}
	}
	return BuildContextOf(facts)
}

// BuildContextOf is BuildContext for a path of which only those entries were
// read that NeededForContext names. The others may also be left out of path.
func BuildContextOf(path []PathEntry) *Context {
	s := newStateScan()
	for i := range path {
		s.entry(&path[i])
	}
	c := s.finish()
	compaction, kept := keptFrom(path)
	if compaction < 0 {
		c.addMessages(path)
		return c
	}
	message, remote := compactionMessage(path[compaction].Value)
	c.Messages = append(c.Messages, message)
	if !remote {
		c.addMessages(path[kept:compaction])
	}
	c.addMessages(path[compaction+1:])
	return c
}

// NeededForContext says, entry by entry, which records of a path decide its
// context: those that are sent to the model, those whose state is in force,
// the first entry kept by the compaction, and the first answer, which gives
// the default model its place among the models.
func NeededForContext(path []PathEntry) []bool {
	needed := make([]bool, len(path))
	compaction, kept := keptFrom(path)
	var last lastSeen
	answer := -1
	for i := len(path) - 1; i >= 0; i-- {
		e := &path[i]
		sent := i >= kept && inContext(e.Type)
		if e.Type == "compaction" {
			sent = i == compaction
		}
		needed[i] = last.decides(e) || sent
		if e.Type == "message" && e.Role == "assistant" {
			answer = i
		}
	}
	if answer >= 0 {
		needed[answer] = true
	}
	if compaction >= 0 {
		needed[kept] = true
	}
	return needed
}

// keptFrom finds the last compaction of a path (-1 if there is none) and where
// what it kept begins: at the compaction itself if that is nothing.
func keptFrom(path []PathEntry) (compaction, kept int) {
	compaction = len(path) - 1
	for compaction >= 0 && path[compaction].Type != "compaction" {
		compaction--
	}
	if compaction < 0 {
		return -1, 0
	}
	first := path[compaction].FirstKept
	for i := compaction - 1; i >= 0 && first != ""; i-- {
		if path[i].ID == first {
			return compaction, i
		}
	}
	return compaction, compaction
}

func (c *Context) addMessages(path []PathEntry) {
	read := 0
	for i := range path {
		if path[i].Value != nil {
			read++
		}
	}
	c.Messages = slices.Grow(c.Messages, read)
	for i := range path {
		if m := messageOf(&path[i]); !m.Is(Absent) {
			c.Messages = append(c.Messages, m)
		}
	}
}

// messageOf is what an entry sends to the model; Absent if that is nothing.
func messageOf(e *PathEntry) Value {
	if e.Value == nil {
		return Value{}
	}
	switch e.Type {
	case "message":
		if m := e.Value.Get("message"); m.Is(Object) {
			return m
		}
	case "custom_message":
		return customMessage(e.Value)
	case "branch_summary":
		return branchSummaryMessage(e.Value)
	}
	return Value{}
}

// Value is the context as one JSON object, keys in the original's order.
func (c *Context) Value() Value {
	rules := make([]Value, len(c.TTSRRules))
	for i, name := range c.TTSRRules {
		rules[i] = StringValue(name)
	}
	o := NewObj(Member{"messages", ArrayValue(list(c.Messages)...)})
	setPresent(o, "thinkingLevel", c.ThinkingLevel)
	setPresent(o, "serviceTier", c.ServiceTier)
	o.Set("models", ObjectValue(c.Models))
	o.Set("configuredModelChains", ObjectValue(c.Chains))
	o.Set("injectedTtsrRules", ArrayValue(rules...))
	o.Set("injectedTtsrRuleRecords", ArrayValue(list(c.TTSRRecords)...))
	o.Set("ttsrMessageCount", NumberValue(c.TTSRMessageCount))
	o.Set("selectedMCPToolNames", ArrayValue(list(c.MCPTools)...))
	setPresent(o, "selectedDiscoveredBuiltinToolNames", c.BuiltinTools)
	o.Set("hasPersistedMCPToolSelection", BoolValue(c.HasMCPSelection))
	o.Set("hasPersistedDiscoveredBuiltinToolSelection", BoolValue(c.HasBuiltinSelection))
	setPresent(o, "mode", c.Mode)
	setPresent(o, "modeData", c.ModeData)
	return ObjectValue(o)
}

// list makes a nil slice an empty one, which encodes as [].
func list(values []Value) []Value {
	if values == nil {
		return []Value{}
	}
	return values
}

// LatestCompaction is the last compaction in file order, on whatever branch;
// nil if there is none.
func LatestCompaction(entries []*Entry) *Entry {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Type() == "compaction" {
			return entries[i]
		}
	}
	return nil
}
