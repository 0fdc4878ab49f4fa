package chat

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// parse reads entries; each line is what follows the id, parent and time.
func parse(t testing.TB, lines ...string) []*jsonl.Entry {
	t.Helper()
	parent := "null"
	for i, line := range lines {
		lines[i] = fmt.Sprintf(`{"id":"e%d","parentId":%s,"timestamp":"2026-03-01T00:00:%02d.000Z",%s}`, i, parent, i%60, line)
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	entries := jsonl.ParseText(strings.Join(lines, "\n") + "\n")
	if len(entries) != len(lines) {
		t.Fatalf("%d entries of %d lines", len(entries), len(lines))
	}
	return entries
}

func said(role, text string) string {
	return fmt.Sprintf(`"type":"message","message":{"role":%q,"content":%q}`, role, text)
}

func custom(d jsonl.CustomData) string {
	return fmt.Sprintf(`"type":"custom","customType":%q,"data":%s`, d.Kind(), jsonl.ObjectValue(d.Data()).JSON())
}

func calls(id, name, arguments string) string {
	return fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":%s}]}`, id, name, arguments)
}

func result(call, details string) string {
	return fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":%q,"toolName":"edit","content":[{"type":"text","text":"BODY %s"}],"isError":false,"details":%s}`,
		call, strings.Repeat("x", 300), details)
}

func chunk(display string, seq int64, text string) string {
	return custom(&jsonl.OutputChunk{Display: display, Seq: seq, Text: text})
}

// stars hides words of capitals that go over line breaks, too.
func stars(text string) string {
	return strings.NewReplacer("SECRET", "***", "SEC\nRET", "***\n***").Replace(text)
}

var content = cmpopts.IgnoreFields(Item{}, "Time", "Turn", "ID")

func TestProject(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []Item
	}{
		{"what was said", []string{said("user", "hello"), said("assistant", "hi")}, []Item{
			{Entry: "e0", Kind: User, Text: "hello"}, {Entry: "e1", Kind: Assistant, Text: "hi"}}},
		{"no internal prompts or provider records", []string{
			`"type":"session_init","systemPrompt":"be good","task":"t","tools":[]`,
			said("system", "be good"), said("developer", "be good"),
			`"type":"message","message":{"role":"user","content":"go on","synthetic":true}`,
			`"type":"custom_message","customType":"note","content":"hidden","display":false`,
			`"type":"custom_message","customType":"note","content":"seen","display":true,"details":{"x":"y"}`,
			custom(&jsonl.TaskScope{Required: true, Input: jsonl.StringValue("do it")}),
			custom(&jsonl.Steering{ID: "s", Text: "left", State: jsonl.SteeringSent}),
			custom(&jsonl.UsageRecord{Request: "r", State: jsonl.UsageFinal}),
			`"type":"message","message":{"role":"assistant","providerPayload":{"items":["private"]},"content":[{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"text","text":"ok"}]}`,
		}, []Item{{Entry: "e5", Kind: Note, Text: "seen"}, {Entry: "e9", Kind: Assistant, Text: "ok"}}},
		{"tools in one line", []string{
			calls("c1", "bash", `{"command":"go test ./...\n  echo done"}`), result("c1", `{}`),
			calls("c2", "other", `{"x":1}`),
			`"type":"message","message":{"role":"toolResult","toolCallId":"c9","toolName":"read","content":"BODY","isError":true}`,
			`"type":"message","message":{"role":"bashExecution","command":"ls","output":"BODY"}`,
		}, []Item{
			{Entry: "e0", Kind: ToolUse, Tool: &Tool{Call: "c1", Name: "bash", Summary: "go test ./... echo done", State: Done}},
			{Entry: "e2", Kind: ToolUse, Tool: &Tool{Call: "c2", Name: "other", State: Running}},
			{Entry: "e3", Kind: ToolUse, Tool: &Tool{Call: "c9", Name: "read", State: Failed}},
			{Entry: "e4", Kind: Command, Text: "ls"},
		}},
		{"secrets over the border of two blocks and of a tool's line", []string{
			`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a SECRET b"},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"echo SEC\nRET"}}]}`,
		}, []Item{{Entry: "e0", Kind: Assistant, Text: "a *** b"}, {Entry: "e0", Kind: ToolUse, Tool: &Tool{Call: "c", Name: "bash", Summary: "echo *** ***", State: Running}}}},
		{"a final message replaces its pieces", []string{said("user", "q"), chunk("d1", 2, "lo"), chunk("d1", 1, "hel"),
			`"type":"message","displayId":"d1","message":{"role":"assistant","content":"hello"}`, chunk("d1", 3, "late")},
			[]Item{{Entry: "e0", Kind: User, Text: "q"}, {Entry: "e3", Kind: Assistant, Text: "hello"}}},
		{"by the message's own display id", []string{chunk("d1", 1, "hel"), `"type":"message","message":{"role":"assistant","displayId":"d1","content":"hello"}`},
			[]Item{{Entry: "e1", Kind: Assistant, Text: "hello"}}},
		{"by the entry's id", []string{chunk("e1", 1, "hel"), said("assistant", "hello")}, []Item{{Entry: "e1", Kind: Assistant, Text: "hello"}}},
		{"pieces without a final message, in order, the first of two with one number", []string{chunk("d1", 2, "lo"), chunk("d1", 1, "hel"), chunk("d1", 2, "p")},
			[]Item{{Entry: "e0", Kind: Assistant, Text: "hello", Partial: true}}},
		{"a secret in two pieces", []string{chunk("d1", 1, "SEC"), chunk("d1", 2, "RET")}, []Item{{Entry: "e0", Kind: Assistant, Text: "***", Partial: true}}},
		{"the output of a tool is no text", []string{calls("c1", "bash", `{}`), chunk("c1", 1, "BODY")},
			[]Item{{Entry: "e0", Kind: ToolUse, Tool: &Tool{Call: "c1", Name: "bash", State: Running}}}},
		{"a call id used again", []string{calls("c1", "a", `{}`), result("c1", `{}`), calls("c1", "b", `{}`)}, []Item{
			{Entry: "e0", Kind: ToolUse, Tool: &Tool{Call: "c1", Name: "a", State: Done}},
			{Entry: "e2", Kind: ToolUse, Tool: &Tool{Call: "c1", Name: "b", State: Running}}}},
		{"summaries and images", []string{
			`"type":"compaction","summary":"long","shortSummary":"short","firstKeptEntryId":"e1","tokensBefore":1`,
			`"type":"branch_summary","fromId":"x","summary":"other way"`,
			`"type":"message","message":{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`},
			[]Item{{Entry: "e0", Kind: Summary, Text: "short"}, {Entry: "e1", Kind: Summary, Text: "other way"}, {Entry: "e2", Kind: User, Images: 1}}},
		{"damaged blocks", []string{`"type":"message","message":{"role":"assistant","content":[5,{"type":"text"},{"type":"toolCall"},null]}`, `"type":"message","message":null`, `"type":"message"`},
			[]Item{{Entry: "e0", Kind: ToolUse, Tool: &Tool{State: Running}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Project(parse(t, tt.lines...), Options{Redact: stars})
			if diff := cmp.Diff(tt.want, got, content, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Project (-want +got):\n%s", diff)
			}
			if strings.Contains(fmt.Sprint(got), "BODY") {
				t.Error("the body of a tool is shown")
			}
		})
	}
}

func TestItemsAreNamedAndBelongToTurns(t *testing.T) {
	items := Project(parse(t, said("assistant", "welcome"), said("user", "q"),
		`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"toolCall","id":"c","name":"n","arguments":{}},{"type":"text","text":"b"}]}`), Options{})
	var got []string
	for _, i := range items {
		got = append(got, i.ID+" "+i.Turn)
	}
	if diff := cmp.Diff([]string{"e0 ", "e1 e1", "e2 e1", "e2#1 e1", "e2#2 e1"}, got); diff != "" {
		t.Errorf("ids and turns (-want +got):\n%s", diff)
	}
}

func TestThinkingAndPublic(t *testing.T) {
	entries := parse(t, `"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"}]}`,
		custom(&jsonl.Diagnostic{Text: "careful"}), chunk("d", 1, "so far"))
	kinds := func(o Options) (kinds []Kind) {
		for _, i := range Project(entries, o) {
			kinds = append(kinds, i.Kind)
		}
		return kinds
	}
	if diff := cmp.Diff([]Kind{Thinking, Assistant, Note, Assistant}, kinds(Options{Thinking: true})); diff != "" {
		t.Errorf("with thinking (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Kind{Assistant}, kinds(Options{Public: true})); diff != "" {
		t.Errorf("public (-want +got):\n%s", diff)
	}
}

func TestTextIsRedactedBeforeItIsCut(t *testing.T) {
	tests := []struct {
		name, text, want string
		cut              bool
	}{
		{"at the bound", "12345678", "12345678", false},
		{"past it", "123456789", "12345678", true},
		{"a secret on the border", "12345SECRET", "12345***", false},
		{"no broken character", "1234567é", "1234567", true},
		{"a lone surrogate", "a\xed\xa0\x80", "a\uFFFD", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Redact: stars, MaxText: 8}
			if got, cut := o.show(tt.text); got != tt.want || cut != tt.cut {
				t.Errorf("show = %q, %v, want %q, %v", got, cut, tt.want, tt.cut)
			}
		})
	}
}

func TestLine(t *testing.T) {
	o := Options{}
	tests := []struct{ in, want string }{
		{"", ""},
		{" a\n\tb\x1b[31m  c\u2028d ", "a b [31m c d"},
		{strings.Repeat("é", 5), "éé…"},
	}
	for _, tt := range tests {
		most := 100
		if strings.HasSuffix(tt.want, "…") {
			most = 5
		}
		if got := o.line(tt.in, most); got != tt.want {
			t.Errorf("line(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPages(t *testing.T) {
	c := New(Options{Session: "s", Revision: 7})
	for _, e := range parse(t, said("user", "0"), said("user", "1"), said("user", "2"), said("user", strings.Repeat("x", MaxPageBytes/16)), said("user", "4")) {
		c.Add(e)
	}
	id := c.Snapshot()
	if id.String() != "12@s" {
		t.Errorf("snapshot %s", id)
	}
	if back, err := ParseSnapshotID(id.String()); err != nil || back != id {
		t.Errorf("ParseSnapshotID = %v, %v", back, err)
	}
	tests := []struct{ from, limit, wantFrom, want int }{
		{0, 2, 0, 2}, {2, 2, 2, 2}, {4, 2, 4, 1}, {5, 2, 5, 0}, {99, 2, 5, 0}, {-2, 9, 3, 2}, {-99, 1, 0, 1}, {0, 0, 0, 5}, {0, 1 << 30, 0, 5},
	}
	for _, tt := range tests {
		p, err := c.Page(id, tt.from, tt.limit)
		if err != nil || p.From != tt.wantFrom || len(p.Items) != tt.want || p.Total != 5 {
			t.Errorf("Page(%d, %d): from %d, %d items, total %d, %v", tt.from, tt.limit, p.From, len(p.Items), p.Total, err)
		}
	}
	c.Add(parse(t, custom(&jsonl.UsageRecord{Request: "r", State: jsonl.UsageFinal}))[0])
	if _, err := c.Page(id, 0, 1); !errors.Is(err, ErrStale) {
		t.Errorf("after an entry: %v, want ErrStale", err)
	}
	id = c.Snapshot()
	c.Reset(nil)
	if _, err := c.Page(id, 0, 1); !errors.Is(err, ErrStale) {
		t.Errorf("after another path: %v, want ErrStale", err)
	}
	for _, s := range []string{"", "x@s", "12"} {
		if _, err := ParseSnapshotID(s); err == nil {
			t.Errorf("ParseSnapshotID(%q): no error", s)
		}
	}
}

func TestPagesAreBoundedInBytes(t *testing.T) {
	c := New(Options{MaxText: 3 * MaxPageBytes})
	for _, e := range parse(t, said("user", strings.Repeat("x", 2*MaxPageBytes)), said("user", strings.Repeat("x", MaxPageBytes/2)), said("user", "a"), said("user", strings.Repeat("x", MaxPageBytes/2))) {
		c.Add(e)
	}
	for at, want := range map[int]int{0: 1, 1: 2, 3: 1} {
		if p, err := c.Page(c.Snapshot(), at, 0); err != nil || len(p.Items) != want {
			t.Errorf("page at %d: %d items, want %d (%v)", at, len(p.Items), want, err)
		}
	}
}

func TestAttachments(t *testing.T) {
	of := func(turn, parent, call, tool string) string {
		return custom(&jsonl.Attachment{Turn: turn, Parent: parent, Call: call, Tool: tool, Name: "SECRET.txt", MIME: "text/plain", Text: "a SECRET"})
	}
	c := New(Options{Redact: stars})
	for _, e := range parse(t, said("user", "q"), calls("c1", "a", `{}`), result("c1", `{}`), of("e0", "", "c1", "save"),
		calls("c2", "a", `{}`), of("e0", "", "c2", "save"), of("e0", "", "c2", "save"),
		calls("c3", "a", `{}`), of("e9", "", "c3", "save"), of("e0", "p", "c3", "save"),
		calls("c4", "a", `{}`), result("c4", `{"parent":"p"}`), of("e0", "p", "c4", "save")) {
		c.Add(e)
	}
	got := map[string]*Attachment{}
	for _, i := range c.Items() {
		if i.Tool != nil {
			got[i.Tool.Call] = i.Tool.Attachment
		}
	}
	want := map[string]*Attachment{
		"c1": {Key: AttachmentKey{"e0", "", "c1"}, Name: "***.txt", MIME: "text/plain"},
		"c2": nil, "c3": nil,
		"c4": {Key: AttachmentKey{"e0", "p", "c4"}, Name: "***.txt", MIME: "text/plain"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
	renamed := func(saved, live string) bool { return saved == "save" && live == "store" }
	tests := []struct {
		name string
		key  AttachmentKey
		tool string
		same func(a, b string) bool
		ok   bool
	}{
		{"one", AttachmentKey{"e0", "", "c1"}, "save", nil, true},
		{"under another dispatch name", AttachmentKey{"e0", "", "c1"}, "store", renamed, true},
		{"another tool", AttachmentKey{"e0", "", "c1"}, "store", nil, false},
		{"the host knows better", AttachmentKey{"e0", "", "c1"}, "save", renamed, false},
		{"twice", AttachmentKey{"e0", "", "c2"}, "save", nil, false},
		{"none", AttachmentKey{"e0", "", "c9"}, "save", nil, false},
		{"of another turn", AttachmentKey{"e9", "", "c3"}, "save", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := c.OpenAttachment(tt.key, tt.tool, tt.same)
			if (err == nil) != tt.ok || (err != nil && !errors.Is(err, ErrAttachment)) {
				t.Fatalf("OpenAttachment: %v, want ok %v", err, tt.ok)
			}
			if a != nil && a.Text != "a ***" {
				t.Errorf("text %q", a.Text)
			}
		})
	}
}
