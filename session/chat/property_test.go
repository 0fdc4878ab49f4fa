package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// What an observer has seen equals what is read again.
func TestLiveAndReopenedChatsAreEqual(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		opt := Options{Session: "s", Redact: stars, MaxText: 20, Thinking: rapid.Bool().Draw(r, "thinking"), Public: rapid.Bool().Draw(r, "public")}
		live := New(opt)
		var file []byte
		for i := range rapid.IntRange(0, 30).Draw(r, "entries") {
			line := fmt.Sprintf(`{"id":"e%d","parentId":null,"timestamp":"t%d",%s}`, i, i, drawEntry(r))
			v, err := jsonl.ParseString(line)
			if err != nil {
				t.Fatal(line, err)
			}
			e := jsonl.NewEntry(v.Obj())
			live.Add(e)
			file = append(e.AppendJSON(file, false), '\n')
			if rapid.IntRange(0, 4).Draw(r, "look") == 0 {
				live.Items() // looking at it changes nothing
			}
		}
		read := Project(jsonl.ParseText(string(file)), opt)
		if diff := cmp.Diff(read, live.Items(), cmpopts.EquateEmpty()); diff != "" {
			r.Fatalf("(-reopened +live):\n%s", diff)
		}
		ids := map[string]bool{}
		for _, item := range read {
			if ids[item.ID] {
				r.Fatalf("two items %q", item.ID)
			}
			ids[item.ID] = true
			if s := fmt.Sprintf("%+v %+v", item, item.Tool); strings.Contains(s, "SECRET") {
				r.Fatalf("a secret is shown: %s", s)
			}
		}
	})
}

func drawEntry(r *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(r, name) }
	text := func() string {
		return pick("text", "a", "a SECRET", "SEC", "RET b", "line\nline", strings.Repeat("long ", 9))
	}
	display := func() string { return pick("display", "d1", "d2", "e3", "c1") }
	call := func() string { return pick("call", "c1", "c2", "c3") }
	switch rapid.IntRange(0, 8).Draw(r, "kind") {
	case 0:
		return said("user", text())
	case 1:
		return said("assistant", text())
	case 2:
		return fmt.Sprintf(`"type":"message","displayId":%q,"message":{"role":"assistant","content":[{"type":"thinking","thinking":%q},{"type":"text","text":%q},{"type":"toolCall","id":%q,"name":"n","arguments":{"command":%q}},{"type":"text","text":%q}]}`,
			display(), text(), text(), call(), text(), text())
	case 3:
		return result(call(), fmt.Sprintf(`{"displayId":%q,"parent":%q}`, display(), pick("parent", "", "p")))
	case 4:
		return chunk(display(), int64(rapid.IntRange(0, 3).Draw(r, "seq")), text())
	case 5:
		return custom(NewPreview(jsonl.AppliedPreview{Display: display(), Session: pick("session", "s", "t"), Seq: 0, Path: "/a"}, text(), stars))
	case 6:
		return custom(&jsonl.Attachment{Turn: pick("turn", "e0", "e1", ""), Call: call(), Tool: "t", Name: text(), Text: text()})
	case 7:
		return custom(&jsonl.Diagnostic{Text: text()})
	}
	return `"type":"compaction","summary":"s","firstKeptEntryId":"e0","tokensBefore":1`
}

// A record read without its content says the same of everything else.
func FuzzLeanRecord(f *testing.F) {
	f.Add(`{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"` + strings.Repeat(`x\"]}`, 99) + `"}],"toolCallId":"c","details":{"content":"stays"}}}`)
	f.Add(`{"message":{"content":"` + strings.Repeat(`\\`, 200) + `","content":[` + strings.Repeat(`{"a":1},`, 50) + `1] , "b" : -1e5} , "message" : 5}`)
	f.Fuzz(func(t *testing.T, s string) {
		v, n, err := jsonl.Parse([]byte(s))
		if err != nil || !v.Is(jsonl.Object) || strings.TrimSpace(s[n:]) != "" {
			return
		}
		lean, _, err := jsonl.Parse(withoutContent([]byte(s)[:n]))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, of := range []jsonl.Value{v, lean} {
			if m := of.Get("message"); m.Get("content").Kind() != jsonl.Absent {
				m.Obj().Set("content", jsonl.NullValue())
			}
		}
		if a, b := v.JSON(), lean.JSON(); a != b {
			t.Errorf("%q: %s, want %s", s, b, a)
		}
	})
}

func BenchmarkProject(b *testing.B) {
	var file strings.Builder
	body := strings.Repeat("output of a tool, line by line, with a \\\"token\\\" here and there\\n", 40)
	for i := 0; file.Len() < 20<<20; i++ {
		for n, line := range []string{
			said("user", "Please look at the parser and tell why it is slow. "+strings.Repeat("word ", 60)),
			`"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"` + strings.Repeat("hm, ", 50) + `"},{"type":"text","text":"` + strings.Repeat("I read the file first. ", 15) + `"},{"type":"toolCall","id":"c` + fmt.Sprint(i) + `","name":"bash","arguments":{"command":"rg -n token ./jsonl"}}],"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0}}`,
			`"type":"message","message":{"role":"toolResult","toolCallId":"c` + fmt.Sprint(i) + `","toolName":"bash","content":[{"type":"text","text":"` + body + `"}],"isError":false}`,
		} {
			fmt.Fprintf(&file, `{"id":"e%d-%d","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z",%s}`+"\n", i, n, line)
		}
	}
	entries := jsonl.ParseText(file.String())
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if items := Project(entries, Options{Session: "s", Redact: redact.Text}); len(items) == 0 {
			b.Fatal("no items")
		}
	}
}
