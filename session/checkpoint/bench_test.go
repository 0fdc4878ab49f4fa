package checkpoint

import (
	"fmt"
	"strings"
	"testing"
	"unique"

	"github.com/gajae-code/gjc-index/jsonl"
)

// BenchmarkPlanArchive plans for a path of 100,000 entries and branches after
// its compaction.
func BenchmarkPlanArchive(b *testing.B) {
	for _, branches := range []int{1, 50} {
		b.Run(fmt.Sprint(branches, " branches"), func(b *testing.B) {
			nodes := make([]Node, 0, 100_100)
			add := func(typ, role string, parent int) {
				nodes = append(nodes, Node{ID: fmt.Sprint("e", len(nodes)), kind: unique.Make(nodeKind{typ, role}), Parent: parent, heavy: true, answer: role == "assistant"})
			}
			for i := range 100_000 {
				add("message", []string{"user", "assistant", "toolResult"}[i%3], i-1)
			}
			add("compaction", "", len(nodes)-1)
			compaction := len(nodes) - 1
			nodes[compaction].said = &nodeSay{firstKept: "e99990"}
			for range branches {
				add("message", "user", compaction)
			}
			b.ResetTimer()
			for b.Loop() {
				if p, err := PlanArchive(nodes, ArchiveOptions{Leaf: len(nodes) - 1}); err != nil || p.Moved < 99_000 {
					b.Fatal(p.Moved, err)
				}
			}
		})
	}
}

// BenchmarkFold folds a transcript of 20 MB.
func BenchmarkFold(b *testing.B) {
	body := strings.Repeat("output of a tool, line by line\\n", 100)
	lines := []string{
		callLine("bash", `{"command":"go test ./..."}`),
		`{"type":"message","id":"r","parentId":null,"timestamp":"` + t0 + `","message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"` + body + `"}],"isError":false}}`,
	}
	var file strings.Builder
	for file.Len() < 20<<20 {
		file.WriteString(lines[0] + "\n" + lines[1] + "\n")
	}
	entries := jsonl.ParseText(file.String())
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		FoldUsage(entries, UsageOptions{})
		FoldEffects(nil, entries)
	}
}
