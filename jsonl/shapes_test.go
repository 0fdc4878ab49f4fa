package jsonl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyShape makes each entry of the recorded case append/every-entry-shape.
func everyShape(t *testing.T, next func() Base) []*Obj {
	t.Helper()
	val := func(text string) Value {
		v, err := ParseString(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	str := StringValue
	none := Value{}
	root := func() Base {
		b := next()
		b.Parent = ""
		return b
	}
	under := func(parent string) Base {
		b := next()
		b.Parent = parent
		return b
	}
	const session = "01950000-0000-7000-8000-000000000001"
	assistant := val(`{"role":"assistant","provider":"acme","model":"acme-large-2","content":[{"type":"text","text":"ack"}],"usage":{"input":3,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"timestamp":1770000000500}`)
	return []*Obj{
		MessageEntry(next(), assistant),
		MessageEntry(next(), val(`{"role":"user","content":"ping","timestamp":1770000000400}`)),
		ThinkingLevelEntry(next(), str("high")),
		ThinkingLevelEntry(next(), none),
		ServiceTierEntry(next(), str("flex")),
		ServiceTierEntry(next(), NullValue()),
		ModeEntry(next(), "plan", val(`{"planFile":"/p.md"}`)),
		ModeEntry(next(), "none", none),
		ModelEntry(next(), ModelChange{Model: "zed/one"}),
		ModelEntry(next(), ModelChange{"zed/two", str("smol"), str("zed/one"), str("quota"), str("low")}),
		SessionInitEntry(next(), val(`{"systemPrompt":"sp","task":"t","tools":["read"],"outputSchema":{"type":"object"}}`).Obj()),
		SessionInitEntry(next(), val(`{"systemPrompt":"sp","task":"t","tools":[]}`).Obj()),
		CompactionEntry(next(), Compaction{"recap", str("short"), "00000001", 99, val(`{"readFiles":["a"]}`), BoolValue(false), val(`{"keep":1}`)}),
		CompactionEntry(next(), Compaction{Summary: "recap2", FirstKeptEntryID: "00000002", TokensBefore: 98}),
		CustomEntry(next(), "ext", val(`{"n":1}`)),
		CustomEntry(next(), "ext", none),
		CustomMessageEntry(next(), session, CustomMessage{CustomType: "ext", Content: str("hello"), Display: true}),
		CustomMessageEntry(next(), session, CustomMessage{"ext", val(`[{"type":"text","text":"b"}]`), false, val(`{"__pendingDisplayTag":"zz","kept":1}`), "user"}),
		CustomMessageEntry(next(), session, CustomMessage{CustomType: "irc:room", Content: str("msg"), Display: true, Details: val(`{"a":1}`)}),
		ContextClearEntry(next(), val(`{"why":"x"}`)),
		MCPSelectionEntry(next(), []string{"a.b"}, ""),
		MCPSelectionEntry(next(), []string{"a.b"}, "corr-1"),
		BuiltinSelectionEntry(next(), []string{"t1"}, "corr-1"),
		TTSREntry(next(), []string{"r1"}, none, none),
		TTSREntry(next(), []string{"r1", "r2"}, val(`[{"name":"r1","lastInjectedAt":3}]`), NumberValue(8)),
		LabelEntry(next(), "00000001", str("mark")),
		LabelEntry(next(), "00000001", none),
		BranchSummaryEntry(under("00000002"), "abandoned", val(`{"d":1}`), BoolValue(true)),
		BranchSummaryEntry(root(), "from the top", none, none),
		ModelChainEntry(next(), ModelChain{Role: "default", Entries: []string{"zed/a"}, Origin: "session", ExplicitHead: true}),
		HeaderPatchRecord(HeaderPatch{Title: str("My name [31m here two"), TitleSource: str("user")}),
	}
}

func TestEveryEntryShapeIsTheOriginals(t *testing.T) {
	want := readRecorded(t, filepath.Join("..", "testdata", "conformance", "append", "every-entry-shape", "want.json"))
	results := want.Get("results").Items()
	text := results[len(results)-1].Get("ok").Str()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
	n := 0
	got := everyShape(t, func() Base {
		n++
		b := Base{ID: fmt.Sprintf("%08x", n), Timestamp: "2026-03-01T12:00:00.000Z"}
		if n > 1 {
			b.Parent = fmt.Sprintf("%08x", n-1)
		}
		return b
	})
	if len(got) != len(lines) {
		t.Fatalf("%d records, want %d", len(got), len(lines))
	}
	for i, line := range lines {
		if diff := cmp.Diff(line, ObjectValue(got[i]).JSON()); diff != "" {
			t.Errorf("record %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestShapesLeaveTheirArgumentsAlone(t *testing.T) {
	details := NewObj(Member{"__pendingDisplayTag", StringValue("t")})
	init := NewObj(Member{"task", StringValue("t")})
	CustomMessageEntry(Base{ID: "a"}, "s", CustomMessage{CustomType: "irc:x", Details: ObjectValue(details)})
	SessionInitEntry(Base{ID: "a"}, init)
	if got := ObjectValue(details).JSON() + ObjectValue(init).JSON(); got != `{"__pendingDisplayTag":"t"}{"task":"t"}` {
		t.Errorf("arguments after the calls: %s", got)
	}
	got := ObjectValue(EntryPatchRecord("e", ObjectValue(init))).JSON()
	if want := `{"type":"entry_patch","entryId":"e","patch":{"message":{"task":"t"}}}`; got != want {
		t.Errorf("EntryPatchRecord = %s, want %s", got, want)
	}
}
