package jsonl

import "strings"

// Base is what every entry has. The functions below make entries as the
// original writes them: the exact keys in the exact order, what is Absent left
// out. They change none of their arguments. Source: behaviour part 7.
type Base struct {
	ID        string
	Parent    string // "" for a root
	Timestamp string // 2006-01-02T15:04:05.000Z
}

func (b Base) members() []Member {
	parent := NullValue()
	if b.Parent != "" {
		parent = StringValue(b.Parent)
	}
	return []Member{{"id", StringValue(b.ID)}, {"parentId", parent}, {"timestamp", StringValue(b.Timestamp)}}
}

// entry begins an entry whose base comes first.
func (b Base) entry(kind string, payload ...Member) *Obj {
	base := b.members()
	o := &Obj{members: make([]Member, 0, 1+len(base)+len(payload)+1)} // and an event_id
	o.Set("type", StringValue(kind))
	for _, m := range base {
		setPresent(o, m.Key, m.Value)
	}
	for _, m := range payload {
		setPresent(o, m.Key, m.Value)
	}
	return o
}

// trailing makes an entry whose base comes last.
func (b Base) trailing(kind string, payload ...Member) *Obj {
	o := NewObj(textMember("type", kind))
	for _, m := range append(payload, b.members()...) {
		setPresent(o, m.Key, m.Value)
	}
	return o
}

// MessageEntry makes a message.
func MessageEntry(b Base, message Value) *Obj {
	return b.entry("message", Member{"message", message})
}

// ThinkingLevelEntry makes a thinking_level_change; an Absent level is null.
func ThinkingLevelEntry(b Base, level Value) *Obj {
	return b.entry("thinking_level_change", Member{"thinkingLevel", orElse(level, NullValue())})
}

// ServiceTierEntry makes a service_tier_change; an Absent tier is null.
func ServiceTierEntry(b Base, tier Value) *Obj {
	return b.entry("service_tier_change", Member{"serviceTier", orElse(tier, NullValue())})
}

// ModeEntry makes a mode_change; data may be Absent.
func ModeEntry(b Base, mode string, data Value) *Obj {
	return b.entry("mode_change", textMember("mode", mode), Member{"data", data})
}

// ModelChange is the payload of a model_change. All but Model may be Absent.
type ModelChange struct {
	Model                                      string // "provider/model"
	Role, PreviousModel, Reason, ThinkingLevel Value
}

// ModelEntry makes a model_change.
func ModelEntry(b Base, c ModelChange) *Obj {
	return b.entry("model_change", textMember("model", c.Model), Member{"role", c.Role},
		Member{"previousModel", c.PreviousModel}, Member{"reason", c.Reason},
		Member{"thinkingLevel", c.ThinkingLevel})
}

// SessionInitEntry makes a session_init. init's keys (systemPrompt, task,
// tools, outputSchema, forkContext) stay in the caller's order.
func SessionInitEntry(b Base, init *Obj) *Obj {
	return b.entry("session_init", init.Members()...)
}

// Compaction is the payload of a compaction. ShortSummary, Details,
// FromExtension and PreserveData may be Absent.
type Compaction struct {
	Summary          string
	ShortSummary     Value
	FirstKeptEntryID string
	TokensBefore     float64
	Details          Value
	FromExtension    Value
	PreserveData     Value
}

// CompactionEntry makes a compaction.
func CompactionEntry(b Base, c Compaction) *Obj {
	return b.entry("compaction", textMember("summary", c.Summary), Member{"shortSummary", c.ShortSummary},
		textMember("firstKeptEntryId", c.FirstKeptEntryID), Member{"tokensBefore", NumberValue(c.TokensBefore)},
		Member{"details", c.Details}, Member{"fromExtension", c.FromExtension},
		Member{"preserveData", c.PreserveData})
}

// BranchSummaryEntry makes a branch_summary of what was left below b.Parent,
// which it names; "root" stands for none. details and fromExtension may be
// Absent.
func BranchSummaryEntry(b Base, summary string, details, fromExtension Value) *Obj {
	from := b.Parent
	if from == "" {
		from = "root"
	}
	return b.entry("branch_summary", textMember("fromId", from), textMember("summary", summary),
		Member{"details", details}, Member{"fromExtension", fromExtension})
}

// LabelEntry makes a label; an Absent or empty label clears.
func LabelEntry(b Base, target string, label Value) *Obj {
	return b.entry("label", textMember("targetId", target), Member{"label", label})
}

// TTSREntry makes a ttsr_injection; records and count may be Absent.
func TTSREntry(b Base, rules []string, records, count Value) *Obj {
	return b.entry("ttsr_injection", Member{"injectedRules", textValues(rules)},
		Member{"injectedRuleRecords", records}, Member{"ttsrMessageCount", count})
}

// MCPSelectionEntry makes an mcp_tool_selection; correlation is "" without one.
func MCPSelectionEntry(b Base, names []string, correlation string) *Obj {
	return b.selection("mcp_tool_selection", names, correlation)
}

// BuiltinSelectionEntry makes a discovered_builtin_tool_selection; correlation
// is "" without one.
func BuiltinSelectionEntry(b Base, names []string, correlation string) *Obj {
	return b.selection("discovered_builtin_tool_selection", names, correlation)
}

func (b Base) selection(kind string, names []string, correlation string) *Obj {
	o := b.entry(kind, Member{"selectedToolNames", textValues(names)})
	setText(o, "mutationCorrelationId", correlation)
	return o
}

// ModelChain is the payload of a configured_model_chain.
type ModelChain struct {
	Role         string
	Entries      []string // "provider/model", the head first
	Origin       string
	Identity     Value // may be Absent
	ExplicitHead bool
	Cleared      bool // the role has no chain any more
}

// ModelChainEntry makes a configured_model_chain.
func ModelChainEntry(b Base, c ModelChain) *Obj {
	o := b.entry("configured_model_chain", textMember("role", c.Role), Member{"entries", textValues(c.Entries)},
		textMember("origin", c.Origin), Member{"identity", c.Identity},
		Member{"explicitHead", BoolValue(c.ExplicitHead)})
	if c.Cleared {
		o.Set("cleared", BoolValue(true))
	}
	return o
}

// CustomEntry makes a custom entry; data may be Absent.
func CustomEntry(b Base, customType string, data Value) *Obj {
	return b.trailing("custom", textMember("customType", customType), Member{"data", data})
}

// DataEntry makes a custom entry of ours.
func DataEntry(b Base, d CustomData) *Obj {
	return CustomEntry(b, d.Kind(), ObjectValue(d.Data()))
}

// ContextClearEntry makes the root at which a new path begins; its parent is
// null whatever b says. data may be Absent.
func ContextClearEntry(b Base, data Value) *Obj {
	b.Parent = ""
	return CustomEntry(b, kindContextClear, data)
}

// CustomMessage is the payload of a custom_message.
type CustomMessage struct {
	CustomType  string
	Content     Value // text, or an array of content blocks
	Display     bool
	Details     Value  // may be Absent
	Attribution string // "" means "agent"
}

// CustomMessageEntry makes a custom_message of the session with the given id.
// A tag that hosts leave in the details while a message waits to be shown is
// left out; a message from a chat room gets an id of its own in them.
func CustomMessageEntry(b Base, sessionID string, m CustomMessage) *Obj {
	if m.Details.Is(Object) {
		details := m.Details.Obj().Clone()
		details.Delete("__pendingDisplayTag")
		if strings.HasPrefix(m.CustomType, "irc:") {
			details.Set("observationId", StringValue("session:"+sessionID+":entry:"+b.ID))
		}
		m.Details = ObjectValue(details)
	}
	if m.Attribution == "" {
		m.Attribution = "agent"
	}
	return b.trailing("custom_message", textMember("customType", m.CustomType), Member{"content", m.Content},
		Member{"display", BoolValue(m.Display)}, Member{"details", m.Details},
		textMember("attribution", m.Attribution))
}

// HeaderPatch is the payload of a header_patch: what is Absent stays as it is.
type HeaderPatch struct {
	Title, TitleSource, Cwd Value
}

// HeaderPatchRecord makes a header_patch.
func HeaderPatchRecord(p HeaderPatch) *Obj {
	patch := NewObj()
	setPresent(patch, "title", p.Title)
	setPresent(patch, "titleSource", p.TitleSource)
	setPresent(patch, "cwd", p.Cwd)
	return NewObj(textMember("type", "header_patch"), Member{"patch", ObjectValue(patch)})
}

// EntryPatchRecord makes an entry_patch that replaces an entry's message.
func EntryPatchRecord(entryID string, message Value) *Obj {
	patch := NewObj(Member{"message", message})
	return NewObj(textMember("type", "entry_patch"), textMember("entryId", entryID),
		Member{"patch", ObjectValue(patch)})
}
