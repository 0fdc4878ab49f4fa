package chat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Whatever a file holds, a chat of it is made, its texts within bounds.
func FuzzProject(f *testing.F) {
	for _, s := range []string{said("user", "hello"), calls("c", "bash", `{"command":"ls"}`), result("c", `{"displayId":"d"}`), chunk("d", 1, "x"),
		custom(&jsonl.AppliedPreview{Display: "d", Session: "s", Path: "/a", Lines: []string{"+"}}), custom(&jsonl.Attachment{Call: "c"}),
		`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"\ud800"},{"type":"toolCall","arguments":5}]}`} {
		f.Add("{" + s + "}")
	}
	f.Fuzz(func(t *testing.T, text string) {
		opt := Options{Session: "s", MaxText: 100, Thinking: true}
		for _, item := range Project(jsonl.ParseText(text), opt) {
			if len(item.Text) > 100 || !utf8.ValidString(item.Text) {
				t.Errorf("text %q", item.Text)
			}
			if item.Tool != nil && (strings.ContainsAny(item.Tool.Name+item.Tool.Summary, "\n\r\x1b") || !utf8.ValidString(item.Tool.Summary)) {
				t.Errorf("tool %+v", item.Tool)
			}
		}
	})
}
