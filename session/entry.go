package session

import (
	"bytes"

	"github.com/gajae-code/gjc-index/jsonl"
)

// New is an entry to be appended: it makes the record once the entry's id,
// parent and time are known. session is the session's id.
type New func(b jsonl.Base, session string) *jsonl.Obj

// NewMessage is a message.
func NewMessage(message jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.MessageEntry(b, message) }
}

// NewThinkingLevel is a thinking_level_change; an Absent level is null.
func NewThinkingLevel(level jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ThinkingLevelEntry(b, level) }
}

// NewServiceTier is a service_tier_change; an Absent tier is null.
func NewServiceTier(tier jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ServiceTierEntry(b, tier) }
}

// NewModel is a model_change.
func NewModel(change jsonl.ModelChange) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ModelEntry(b, change) }
}

// NewModelChain is a configured_model_chain.
func NewModelChain(chain jsonl.ModelChain) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ModelChainEntry(b, chain) }
}

// NewMode is a mode_change; data may be Absent.
func NewMode(mode string, data jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ModeEntry(b, mode, data) }
}

// NewSessionInit is a session_init with the keys of init in their order.
func NewSessionInit(init *jsonl.Obj) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.SessionInitEntry(b, init) }
}

// NewCompaction is a compaction.
func NewCompaction(c jsonl.Compaction) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.CompactionEntry(b, c) }
}

// NewCustom is a custom entry of an extension; data may be Absent.
func NewCustom(customType string, data jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.CustomEntry(b, customType, data) }
}

// NewData is a custom entry of ours.
func NewData(d jsonl.CustomData) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.DataEntry(b, d) }
}

// NewCustomMessage is a custom_message.
func NewCustomMessage(m jsonl.CustomMessage) New {
	return func(b jsonl.Base, session string) *jsonl.Obj { return jsonl.CustomMessageEntry(b, session, m) }
}

// NewContextClear is the root of a new path; data may be Absent.
func NewContextClear(data jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.ContextClearEntry(b, data) }
}

// NewTTSR is a ttsr_injection; records and count may be Absent.
func NewTTSR(rules []string, records, count jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.TTSREntry(b, rules, records, count) }
}

// NewMCPSelection is an mcp_tool_selection; correlation is "" without one.
func NewMCPSelection(names []string, correlation string) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.MCPSelectionEntry(b, names, correlation) }
}

// NewBuiltinSelection is a discovered_builtin_tool_selection; correlation is
// "" without one.
func NewBuiltinSelection(names []string, correlation string) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.BuiltinSelectionEntry(b, names, correlation) }
}

// SelectTools are the entries of a change in both domains of tools: the MCP
// entry first, both with one correlation.
func SelectTools(mcp, builtin []string) []New {
	correlation := uuid4()
	return []New{NewMCPSelection(mcp, correlation), NewBuiltinSelection(builtin, correlation)}
}

// NewRecord is an entry as JSON gives it: its type and its payload. What the
// session decides (id, parent, time, event id) is passed over.
func NewRecord(record *jsonl.Obj) New {
	return func(b jsonl.Base, session string) *jsonl.Obj {
		switch record.Get("type").Str() {
		case "custom":
			return jsonl.CustomEntry(b, record.Get("customType").Str(), record.Get("data"))
		case "custom_message":
			return jsonl.CustomMessageEntry(b, session, jsonl.CustomMessage{
				CustomType: record.Get("customType").Str(), Content: record.Get("content"), Display: record.Get("display").Truthy(),
				Details: record.Get("details"), Attribution: record.Get("attribution").Str(),
			})
		}
		o := jsonl.NewObj(
			jsonl.Member{Key: "type", Value: record.Get("type")},
			jsonl.Member{Key: "id", Value: jsonl.StringValue(b.ID)},
			jsonl.Member{Key: "parentId", Value: jsonl.NullValue()},
			jsonl.Member{Key: "timestamp", Value: jsonl.StringValue(b.Timestamp)},
		)
		if b.Parent != "" {
			o.Set("parentId", jsonl.StringValue(b.Parent))
		}
		for _, m := range record.Members() {
			if !o.Has(m.Key) && m.Key != eventKey {
				o.Set(m.Key, m.Value)
			}
		}
		return o
	}
}

// newLabel is a label; SetLabel checks its target.
func newLabel(target string, label jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj { return jsonl.LabelEntry(b, target, label) }
}

// newBranchSummary is a branch_summary.
func newBranchSummary(summary string, details, fromExtension jsonl.Value) New {
	return func(b jsonl.Base, _ string) *jsonl.Obj {
		return jsonl.BranchSummaryEntry(b, summary, details, fromExtension)
	}
}

// refMark begins every reference to a blob.
var refMark = []byte("blob:sha256:")

// mayRefer reports whether an entry may hold a reference to a blob.
func mayRefer(e *jsonl.Entry) bool {
	raw := e.Raw()
	return raw == nil || bytes.Contains(raw, refMark)
}

// hasAnswer reports whether an entry is a message of the assistant, also one
// that only tells of an error.
func hasAnswer(e *jsonl.Entry) bool { return e.Role() == "assistant" }
