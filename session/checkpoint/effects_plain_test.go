package checkpoint

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Results whose bytes are at hand are read in part; what they tell is what the
// parsed ones tell.
func TestEffectsOfBytesAreThoseOfValues(t *testing.T) {
	details := []string{``, `,"details":{}`, `,"details":{"diff":"+x","path":"p"}`, `,"d\u0065tails":{"op":"write","path":"q"}`,
		`,"details":null`, `,"isError":true`, `,"isError":true,"details":{"mutations":[{"op":"delete","path":"d"}]}`}
	rapid.Check(t, func(r *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(1, 12).Draw(r, "entries") {
			id, tool := fmt.Sprint("c", rapid.IntRange(0, 3).Draw(r, "call")), rapid.SampledFrom([]string{"write", "wr\\u0069te", "edit", "bash", "read", "other", ""}).Draw(r, "tool")
			if rapid.Bool().Draw(r, "calls") {
				kind := rapid.SampledFrom([]string{"toolCall", "tool\\u0043all", "text"}).Draw(r, "kind")
				lines = append(lines, fmt.Sprintf(`{"type":"message","id":"e%d","parentId":null,"timestamp":"%s","message":{"role":"assistant","content":[{"type":"%s","id":"%s","name":"%s","arguments":{"path":"file%d"}}]}}`, i, t0, kind, id, tool, i))
				continue
			}
			lines = append(lines, fmt.Sprintf(`{"type":"message","id":"e%d","parentId":null,"timestamp":"%s","message":{"role":"toolResult","toolCallId":"%s","toolName":"%s","content":[{"type":"text","text":"out"}]%s}}`,
				i, t0, id, tool, rapid.SampledFrom(details).Draw(r, "details")))
		}
		entries := parse(t, lines...)
		values := make([]*jsonl.Entry, len(entries))
		for i, e := range entries {
			values[i] = jsonl.NewEntry(e.Value().Clone())
		}
		got, want := FoldEffects(nil, entries).Data(), FoldEffects(nil, values).Data()
		if g, w := jsonl.ObjectValue(got).JSON(), jsonl.ObjectValue(want).JSON(); g != w {
			r.Fatalf("of bytes %s\nof values %s", g, w)
		}
	})
}
