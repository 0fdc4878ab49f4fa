package index

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
)

func TestStatsAreTheSameFromIndexAndFiles(t *testing.T) {
	home := t.TempDir()
	result := func(id, at, tool string) string {
		return `{"type":"message","id":"` + id + `","parentId":null,"timestamp":"2026-01-03T` + at + `Z","message":{"role":"toolResult","toolCallId":"c","toolName":"` + tool + `","content":[]}}` + "\n"
	}
	put(t, home, "s/a.jsonl", longText("aaaa0001")+result("r1", "01:00:00.000", "bash")+result("r2", "02:00:00.000", "grep"))
	put(t, home, "s/b.jsonl", longText("bbbb0001")+result("r1", "01:00:00.000", "bash")+result("r3", "03:00:00.000", "bash"))
	x := openAt(t, home, Options{})
	refresh(t, x)
	stored, err := x.Stats(t.Context(), StatsFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []CountOf{{"bash", 2}, {"grep", 1}}; !gocmp.Equal(want, stored.Tools) || stored.Prompts != 40 || stored.Sessions != 2 {
		t.Errorf("Stats: %d prompts in %d sessions, tools %v, want 40, 2, %v", stored.Prompts, stored.Sessions, stored.Tools, want)
	}
	x.setPending(&pending{all: true, walk: walked(t, x)})
	fromFiles, err := x.Stats(t.Context(), StatsFilter{})
	if diff := gocmp.Diff(stored, fromFiles); diff != "" || err != nil {
		t.Errorf("Stats from the files: %v (-index +files):\n%s", err, diff)
	}
}

// FuzzToolName: what the beginning of a record tells is what the whole says.
func FuzzToolName(f *testing.F) {
	for _, seed := range []string{
		`{"type":"message","message":{"role":"toolResult","toolName":"bash","content":[]}}`,
		`{"message":{"details":{"toolName":"no"},"x":["toolName",{"toolName":"no"}],"toolName" : "b"},"type":"message"}`,
		`{"toolName":"no","type":"message","message":"x"}`,
		`{"type":"message","message":{"toolName":"a\u0062"}}`,
		`{"type":"message","message":{"toolName":3}}`,
		`{"type":"message","x":"message","y":{"toolName":"no"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		name, ok := toolNameIn(line)
		v, n, err := jsonl.Parse(line)
		if !ok || err != nil || n != len(line) || !v.Is(jsonl.Object) {
			return
		}
		once := func(o *jsonl.Obj, key string) (jsonl.Value, bool) {
			found := 0
			for _, m := range o.Members() {
				if m.Key == key {
					found++
				}
			}
			return o.Get(key), found == 1
		}
		message, sure := once(v.Obj(), "message")
		if !sure || !message.Is(jsonl.Object) {
			return // a key that stands twice
		}
		if want, sure := once(message.Obj(), "toolName"); sure && want.Str() != name {
			t.Errorf("toolNameIn(%q) = %q, want %q", line, name, want.Str())
		}
	})
}
