package jsonl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The taxonomy of the format, and the kinds of custom entries this program
// writes: a kind that is added to neither list fails the test.
const (
	taxonomy = "message thinking_level_change service_tier_change model_change configured_model_chain " +
		"compaction branch_summary custom custom_message label ttsr_injection session_init mode_change " +
		"mcp_tool_selection discovered_builtin_tool_selection"
	customKinds = "context_clear gjc-index/usage gjc-index/usage_checkpoint gjc-index/execution_effects " +
		"gjc-index/task_scope gjc-index/steering gjc-index/task_scope_checkpoint " +
		"gjc-index/tool_applied_preview gjc-index/attachment gjc-index/output_chunk " +
		"gjc-index/rewind_origin gjc-index/diagnostic gjc-index/salvaged"
)

func TestKindsIsTheWholeTaxonomy(t *testing.T) {
	var types, customs []string
	for _, k := range Kinds() {
		if !k.Known || k.Since < 1 || k.Since > 5 {
			t.Errorf("%s: Known = %v, Since = %d", k.Name, k.Known, k.Since)
		}
		if k.Custom {
			customs = append(customs, k.Name)
		} else {
			types = append(types, k.Name)
		}
	}
	if diff := cmp.Diff(strings.Fields(taxonomy), types); diff != "" {
		t.Errorf("entry types (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Fields(customKinds), customs); diff != "" {
		t.Errorf("custom kinds (-want +got):\n%s", diff)
	}
}

func TestKindsSayWhatTakesPart(t *testing.T) {
	tests := []struct {
		what string
		has  func(EntryKind) bool
		want string
	}{
		{
			"context", func(k EntryKind) bool { return k.Context },
			"message compaction branch_summary custom_message",
		},
		{
			"state", func(k EntryKind) bool { return k.State },
			"thinking_level_change service_tier_change model_change configured_model_chain label ttsr_injection " +
				"session_init mode_change mcp_tool_selection discovered_builtin_tool_selection " +
				"context_clear gjc-index/task_scope gjc-index/rewind_origin",
		},
		{
			"checkpoint", func(k EntryKind) bool { return k.Checkpoint },
			"gjc-index/usage_checkpoint gjc-index/execution_effects gjc-index/task_scope_checkpoint",
		},
		{
			"local", func(k EntryKind) bool { return k.Local },
			"gjc-index/usage gjc-index/usage_checkpoint gjc-index/execution_effects gjc-index/tool_applied_preview " +
				"gjc-index/attachment gjc-index/output_chunk gjc-index/rewind_origin gjc-index/diagnostic gjc-index/salvaged",
		},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			var got []string
			for _, k := range Kinds() {
				if tt.has(k) {
					got = append(got, k.Name)
				}
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.what, diff)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	tests := []struct {
		entryType, customType string
		want                  string
		known, local          bool
	}{
		{"message", "", "message", true, false},
		{"message", KindUsage, "message", true, false},
		{"custom", KindUsage, KindUsage, true, true},
		{"custom", "of-another-program", "custom", true, false},
		{"custom", "message", "custom", true, false},
		{KindUsage, "", KindUsage, false, false},
		{"from_the_future", "", "from_the_future", false, false},
		{"", "", "", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.entryType+" "+tt.customType, func(t *testing.T) {
			k := KindOf(tt.entryType, tt.customType)
			if k.Name != tt.want || k.Known != tt.known || k.Local != tt.local {
				t.Errorf("KindOf = %+v, want %s, known %v, local %v", k, tt.want, tt.known, tt.local)
			}
		})
	}
}

func TestEntryKindLooksAtTheShape(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"type":"custom","customType":"gjc-index/diagnostic","data":{"v":1,"text":"x"}}`, KindDiagnostic},
		{`{"type":"custom","customType":"gjc-index/diagnostic","data":{"v":1}}`, "custom"},
		{`{"type":"custom","customType":"context_clear"}`, "context_clear"},
		{`{"type":"label"}`, "label"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got := parseEntries(t, tt.text)[0].Kind().Name; got != tt.want {
				t.Errorf("Kind() = %s, want %s", got, tt.want)
			}
		})
	}
}
