package jsonl

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parseEntries makes a chain of entries from JSON texts without id, parentId
// and timestamp; an id that is given stays.
func parseEntries(t testing.TB, texts ...string) []*Entry {
	t.Helper()
	var entries []*Entry
	parent := NullValue()
	for i, text := range texts {
		v, err := ParseString(text)
		if err != nil {
			t.Fatalf("ParseString(%s): %v", text, err)
		}
		o := v.Obj()
		if !o.Has("id") {
			o.Set("id", StringValue(fmt.Sprintf("e%d", i)))
		}
		o.Set("parentId", parent)
		if !o.Has("timestamp") {
			o.Set("timestamp", StringValue("1970-01-01T00:00:01.000Z"))
		}
		parent = o.Get("id")
		entries = append(entries, NewEntry(o))
	}
	return entries
}

const (
	userOne      = `{"type":"message","message":{"role":"user","content":"one"}}`
	assistantZed = `{"type":"message","message":{"role":"assistant","provider":"zed","model":"m"}}`
)

func TestBuildContextOfOddEntries(t *testing.T) {
	tests := []struct {
		name    string
		entries []string
		key     string // of the context
		want    string // JSON of that property
	}{
		{
			name:    "messages that are no objects are not sent",
			entries: []string{`{"type":"message"}`, `{"type":"message","message":null}`, userOne},
			key:     "messages", want: `[{"role":"user","content":"one"}]`,
		},
		{
			name:    "an answer without a model",
			entries: []string{`{"type":"message","message":{"role":"assistant"}}`},
			key:     "models", want: `{"default":"undefined/undefined"}`,
		},
		{
			name:    "the last answer decides while nobody chose",
			entries: []string{assistantZed, `{"type":"message","message":{"role":"assistant","provider":"a","model":"b"}}`},
			key:     "models", want: `{"default":"a/b"}`,
		},
		{
			name:    "an answer after a choice decides nothing",
			entries: []string{`{"type":"model_change","model":"x/y"}`, assistantZed},
			key:     "models", want: `{"default":"x/y"}`,
		},
		{
			name:    "roles in the order in which they were first set",
			entries: []string{assistantZed, `{"type":"model_change","model":"s/t","role":"smol"}`, assistantZed},
			key:     "models", want: `{"default":"zed/m","smol":"s/t"}`,
		},
		{
			name:    "an empty model is no choice",
			entries: []string{`{"type":"model_change","model":""}`, assistantZed},
			key:     "models", want: `{"default":"zed/m"}`,
		},
		{
			name: "a chain that was cleared goes last when it is set again",
			entries: []string{
				`{"type":"configured_model_chain","role":"a","entries":["1"]}`,
				`{"type":"configured_model_chain","role":"b","entries":["2",""],"identity":null,"explicitHead":1}`,
				`{"type":"configured_model_chain","role":"a","cleared":true}`,
				`{"type":"configured_model_chain","role":"a","entries":["3"],"origin":"settings"}`,
			},
			key: "configuredModelChains",
			want: `{"b":{"role":"b","entries":["2"],"origin":"session","identity":null,"explicitHead":false},` +
				`"a":{"role":"a","entries":["3"],"origin":"settings","explicitHead":false}}`,
		},
		{
			name: "an explicit rule record replaces in place",
			entries: []string{
				`{"type":"ttsr_injection","injectedRules":["q","q","p",5],"ttsrMessageCount":3}`,
				`{"type":"ttsr_injection","injectedRules":["p"],"injectedRuleRecords":[{"name":"q","lastInjectedAt":7},{"name":"r","lastInjectedAt":8}],"ttsrMessageCount":"9"}`,
			},
			key:  "injectedTtsrRuleRecords",
			want: `[{"name":"q","lastInjectedAt":7},{"name":"p","lastInjectedAt":0},{"name":"r","lastInjectedAt":8}]`,
		},
		{
			name: "a later combined selection wins over a built-in one",
			entries: []string{
				`{"type":"discovered_builtin_tool_selection","selectedToolNames":["new"]}`,
				`{"type":"mcp_tool_selection","selectedToolNames":["m"],"selectedDiscoveredBuiltinToolNames":["old"]}`,
				`{"type":"mcp_tool_selection","selectedToolNames":["n"]}`,
			},
			key: "selectedDiscoveredBuiltinToolNames", want: `["old"]`,
		},
		{
			name: "the nearest entry with the first kept id counts",
			entries: []string{
				`{"type":"message","id":"k","message":{"role":"user","content":"far"}}`,
				`{"type":"message","id":"k","message":{"role":"user","content":"near"}}`,
				`{"type":"compaction","summary":"s","firstKeptEntryId":"k","tokensBefore":1}`,
			},
			key: "messages",
			want: `[{"role":"compactionSummary","summary":"s","tokensBefore":1,"timestamp":1000},` +
				`{"role":"user","content":"near"}]`,
		},
		{
			name: "only the last compaction counts",
			entries: []string{
				userOne,
				`{"type":"compaction","summary":"first","firstKeptEntryId":"e0","tokensBefore":1}`,
				`{"type":"compaction","summary":"second","firstKeptEntryId":"e0","tokensBefore":2,"timestamp":"bad"}`,
			},
			key: "messages",
			want: `[{"role":"compactionSummary","summary":"second","tokensBefore":2,"timestamp":null},` +
				`{"role":"user","content":"one"}]`,
		},
		{
			name:    "a mode keeps its data when that is null",
			entries: []string{`{"type":"mode_change","mode":"plan","data":null}`},
			key:     "modeData", want: `null`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := BuildContext(parseEntries(t, tt.entries...)).Value().Get(tt.key)
			if diff := cmp.Diff(tt.want, got.JSON()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.key, diff)
			}
		})
	}
}

// randomPath draws a path with every kind of entry on it.
func randomPath(t *rapid.T) []*Entry {
	name := rapid.SampledFrom([]string{"a", "b", "c", "default", "smol", ""})
	text := rapid.SampledFrom([]string{
		`{"type":"message","message":{"role":"user","content":"%[1]s"}}`,
		`{"type":"message","message":{"role":"assistant","provider":"%[1]s","model":"%[2]s"}}`,
		`{"type":"message","message":{"role":"toolResult","content":"%[1]s"}}`,
		`{"type":"message","message":[]}`,
		`{"type":"custom_message","customType":"%[1]s","content":"%[2]s","display":true}`,
		`{"type":"branch_summary","fromId":"%[1]s","summary":"%[2]s"}`,
		`{"type":"compaction","summary":"%[1]s","firstKeptEntryId":"e%[3]d","tokensBefore":1}`,
		`{"type":"compaction","firstKeptEntryId":"e%[3]d","preserveData":{"openaiRemoteCompaction":{"provider":"%[1]s","replacementHistory":[]}}}`,
		`{"type":"thinking_level_change","thinkingLevel":"%[1]s"}`,
		`{"type":"service_tier_change","serviceTier":"%[1]s"}`,
		`{"type":"mode_change","mode":"%[1]s","data":{"k":"%[2]s"}}`,
		`{"type":"model_change","model":"%[1]s"}`,
		`{"type":"model_change","model":"%[1]s","role":"%[2]s"}`,
		`{"type":"configured_model_chain","role":"%[1]s","entries":["%[2]s"]}`,
		`{"type":"configured_model_chain","role":"%[1]s","cleared":true}`,
		`{"type":"ttsr_injection","injectedRules":["%[1]s"],"injectedRuleRecords":[{"name":"%[2]s"}],"ttsrMessageCount":%[3]d}`,
		`{"type":"mcp_tool_selection","selectedToolNames":["%[1]s"]}`,
		`{"type":"mcp_tool_selection","selectedToolNames":[],"selectedDiscoveredBuiltinToolNames":["%[1]s"]}`,
		`{"type":"discovered_builtin_tool_selection","selectedToolNames":["%[1]s"]}`,
		`{"type":"label","targetId":"%[1]s","label":"%[2]s"}`,
		`{"type":"session_init","task":"%[1]s"}`,
		`{"type":"custom","customType":"%[1]s"}`,
		`{"type":"from_the_future","payload":"%[1]s"}`,
	})
	n := rapid.IntRange(0, 24).Draw(t, "n")
	var entries []*Entry
	for i := 0; i < n; i++ {
		form := text.Draw(t, "form")
		v, err := ParseString(fmt.Sprintf(form+"%[4]s", name.Draw(t, "x"), name.Draw(t, "y"), rapid.IntRange(0, n).Draw(t, "k"), ""))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		o := v.Obj()
		o.Set("id", StringValue(fmt.Sprintf("e%d", rapid.IntRange(0, n).Draw(t, "id"))))
		o.Set("timestamp", StringValue("1970-01-01T00:00:01.000Z"))
		entries = append(entries, NewEntry(o))
	}
	return entries
}

func TestContextOfNeededEntriesIsTheContextOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := randomPath(t)
		all, some := make([]PathEntry, len(path)), make([]PathEntry, len(path))
		for i, e := range path {
			id, _ := e.ID()
			all[i] = PathEntry{Type: e.Type(), ID: id, Role: e.Role(), FirstKept: e.Value().Get("firstKeptEntryId").Str()}
			some[i] = all[i]
			all[i].Value = e.Value()
		}
		var only []PathEntry
		for i, needed := range NeededForContext(some) {
			if needed {
				some[i].Value = path[i].Value()
				only = append(only, some[i])
			}
		}
		want := BuildContextOf(all).Value().JSON()
		if diff := cmp.Diff(want, BuildContextOf(some).Value().JSON()); diff != "" {
			t.Fatalf("context of the needed entries (-all +needed):\n%s", diff)
		}
		if diff := cmp.Diff(want, BuildContextOf(only).Value().JSON()); diff != "" {
			t.Fatalf("context of a path of the needed entries alone (-all +only):\n%s", diff)
		}
		if diff := cmp.Diff(want, BuildContext(path).Value().JSON()); diff != "" {
			t.Fatalf("context of the path (-facts +entries):\n%s", diff)
		}
	})
}

func TestNeededForContextLeavesOutWhatIsReplaced(t *testing.T) {
	entries := parseEntries(t,
		userOne, assistantZed,
		`{"type":"thinking_level_change","thinkingLevel":"low"}`,
		`{"type":"custom","customType":"x"}`,
		assistantZed,
		userOne,
		`{"type":"compaction","summary":"s","firstKeptEntryId":"e5"}`,
		`{"type":"thinking_level_change","thinkingLevel":"high"}`,
		`{"type":"label","targetId":"e0","label":"x"}`,
		userOne,
	)
	facts := make([]PathEntry, len(entries))
	for i, e := range entries {
		id, _ := e.ID()
		facts[i] = PathEntry{Type: e.Type(), ID: id, Role: e.Role(), FirstKept: e.Value().Get("firstKeptEntryId").Str()}
	}
	want := []bool{false, true, false, false, true, true, true, true, false, true}
	if diff := cmp.Diff(want, NeededForContext(facts)); diff != "" {
		t.Errorf("NeededForContext (-want +got):\n%s", diff)
	}
}

func TestEveryKindOfStateIsNeeded(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			if k.Custom {
				return
			}
			// Labels and the first input are no part of a context.
			want := k.Context || (k.State && k.Name != "label" && k.Name != "session_init")
			got := NeededForContext([]PathEntry{{Type: k.Name}})[0]
			if got != want {
				t.Errorf("NeededForContext(%s) = %v, want %v", k.Name, got, want)
			}
		})
	}
}

func TestLatestCompactionGoesByFileOrder(t *testing.T) {
	entries := parseEntries(t, userOne, `{"type":"compaction","id":"c1"}`, `{"type":"compaction","id":"c2"}`, userOne)
	if id, _ := LatestCompaction(entries).ID(); id != "c2" {
		t.Errorf("LatestCompaction = %q, want c2", id)
	}
	if e := LatestCompaction(entries[:1]); e != nil {
		t.Errorf("LatestCompaction without one = %v, want nil", e)
	}
}
