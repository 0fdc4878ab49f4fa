package jsonl

// EntryKind is what the store knows of one kind of entry: an entry type, or a
// custom entry's customType. This table is the only list of kinds: whoever
// asks whether an entry takes part in something asks here.
type EntryKind struct {
	Name       string // the type; for a custom kind the customType
	Custom     bool   // a kind of custom entry
	Known      bool   // false: of another program, or newer
	Context    bool   // its content is sent to the model
	State      bool   // carries state that is derived over the whole path: an archive leaves it
	Checkpoint bool   // keeps what was said by entries that were removed: an archive leaves it
	Local      bool   // never to a provider, never in exports for people
	Since      int    // the version of the format that brought it
}

// customPrefix begins every customType of ours.
const customPrefix = "gjc-index/"

// The kinds of custom entries that this program writes.
const (
	KindUsage               = customPrefix + "usage"
	KindUsageCheckpoint     = customPrefix + "usage_checkpoint"
	KindExecutionEffects    = customPrefix + "execution_effects"
	KindTaskScope           = customPrefix + "task_scope"
	KindSteering            = customPrefix + "steering"
	KindTaskScopeCheckpoint = customPrefix + "task_scope_checkpoint"
	KindToolAppliedPreview  = customPrefix + "tool_applied_preview"
	KindAttachment          = customPrefix + "attachment"
	KindOutputChunk         = customPrefix + "output_chunk"
	KindRewindOrigin        = customPrefix + "rewind_origin"
	KindDiagnostic          = customPrefix + "diagnostic"
	KindSalvaged            = customPrefix + "salvaged"
)

// kindContextClear is the custom entry at which a new path begins.
const kindContextClear = "context_clear"

var kinds = [...]EntryKind{
	{Name: "message", Context: true, Since: 1},
	{Name: "thinking_level_change", State: true, Since: 1},
	{Name: "service_tier_change", State: true, Since: 1},
	{Name: "model_change", State: true, Since: 1},
	{Name: "configured_model_chain", State: true, Since: 1},
	{Name: "compaction", Context: true, Since: 1},
	{Name: "branch_summary", Context: true, Since: 2},
	{Name: "custom", Since: 1},
	{Name: "custom_message", Context: true, Since: 1},
	{Name: "label", State: true, Since: 2},
	{Name: "ttsr_injection", State: true, Since: 1},
	{Name: "session_init", State: true, Since: 1},
	{Name: "mode_change", State: true, Since: 1},
	{Name: "mcp_tool_selection", State: true, Since: 1},
	{Name: "discovered_builtin_tool_selection", State: true, Since: 5},

	{Name: kindContextClear, Custom: true, State: true, Since: 1},
	{Name: KindUsage, Custom: true, Local: true, Since: 5},
	{Name: KindUsageCheckpoint, Custom: true, Checkpoint: true, Local: true, Since: 5},
	{Name: KindExecutionEffects, Custom: true, Checkpoint: true, Local: true, Since: 5},
	{Name: KindTaskScope, Custom: true, State: true, Since: 5},
	{Name: KindSteering, Custom: true, Since: 5},
	{Name: KindTaskScopeCheckpoint, Custom: true, Checkpoint: true, Since: 5},
	{Name: KindToolAppliedPreview, Custom: true, Local: true, Since: 5},
	{Name: KindAttachment, Custom: true, Local: true, Since: 5},
	{Name: KindOutputChunk, Custom: true, Local: true, Since: 5},
	{Name: KindRewindOrigin, Custom: true, State: true, Local: true, Since: 5},
	{Name: KindDiagnostic, Custom: true, Local: true, Since: 5},
	{Name: KindSalvaged, Custom: true, Local: true, Since: 5},
}

// Kinds is the whole table: the taxonomy, then the kinds of custom entries.
func Kinds() []EntryKind {
	all := make([]EntryKind, len(kinds))
	for i, k := range kinds {
		k.Known = true
		all[i] = k
	}
	return all
}

// KindOf is the kind of an entry by its type and, for a custom entry, its
// customType; the latter is ignored for any other type. A type that is not in
// the table takes part in nothing; a custom entry of another program is the
// plain kind custom.
func KindOf(entryType, customType string) EntryKind {
	if entryType == "custom" {
		if k, ok := findKind(customType, true); ok {
			return k
		}
	}
	if k, ok := findKind(entryType, false); ok {
		return k
	}
	return EntryKind{Name: entryType}
}

// Kind is the kind of the entry. A custom entry of ours whose data has the
// wrong shape is a custom entry like any other program's.
func (e *Entry) Kind() EntryKind {
	if e.Type() != "custom" {
		return KindOf(e.Type(), "")
	}
	name := e.Value().Get("customType").Str()
	if _, ok := ParseCustom(name, e.Value().Get("data")); !ok && name != kindContextClear {
		name = ""
	}
	return KindOf("custom", name)
}

func findKind(name string, custom bool) (EntryKind, bool) {
	for i := range kinds {
		if kinds[i].Custom == custom && kinds[i].Name == name {
			k := kinds[i]
			k.Known = true
			return k, true
		}
	}
	return EntryKind{}, false
}

// inContext is KindOf(entryType, "").Context without a copy of the row.
func inContext(entryType string) bool {
	for i := range kinds {
		if k := &kinds[i]; !k.Custom && k.Name == entryType {
			return k.Context
		}
	}
	return false
}
