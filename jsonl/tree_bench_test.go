package jsonl

import (
	"fmt"
	"testing"
)

const million = 1_000_000

// millionEntries makes entries of which the i-th names the parent that parent
// gives: "" for none.
func millionEntries(b *testing.B, parent func(i int) int) []*Entry {
	b.Helper()
	entries := make([]*Entry, million)
	for i := range entries {
		base := Base{ID: fmt.Sprintf("%08x", i), Timestamp: "2026-02-10T08:01:00.000Z"}
		if p := parent(i); p >= 0 {
			base.Parent = fmt.Sprintf("%08x", p)
		}
		entries[i] = NewEntry(CustomEntry(base, "x", Value{}))
		entries[i].Line = i + 2
	}
	return entries
}

// shapes are trees of a million entries, the last two made to hurt.
func benchShapes() []struct {
	name   string
	parent func(i int) int
} {
	return []struct {
		name   string
		parent func(i int) int
	}{
		{"chain", func(i int) int { return i - 1 }},
		{"bush", func(i int) int { return (i - 1) / 2 }},
		{"star", func(i int) int { return min(i, 1) - 1 }},
		{"upwards", func(i int) int { return i + 1 }},
		{"cycle", func(i int) int { return (i + 1) % million }},
	}
}

func BenchmarkNewTree(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.name, func(b *testing.B) {
			entries := millionEntries(b, s.parent)
			b.ResetTimer()
			b.ReportAllocs()
			for b.Loop() {
				NewTree(entries)
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.name, func(b *testing.B) {
			tree := NewTree(millionEntries(b, s.parent))
			b.ResetTimer()
			for b.Loop() {
				tree.Path(LeafLast())
			}
		})
	}
}

func BenchmarkRoots(b *testing.B) {
	for _, s := range benchShapes() {
		b.Run(s.name, func(b *testing.B) {
			tree := NewTree(millionEntries(b, s.parent))
			b.ResetTimer()
			for b.Loop() {
				for range Walk(tree.Roots()) {
				}
			}
		})
	}
}

func BenchmarkBuildContext(b *testing.B) {
	entries := make([]*Entry, million)
	for i := range entries {
		base := Base{ID: fmt.Sprintf("%08x", i), Timestamp: "2026-02-10T08:01:00.000Z"}
		message := NewObj(Member{"role", StringValue("user")}, Member{"content", StringValue("text")})
		entries[i] = NewEntry(MessageEntry(base, ObjectValue(message)))
	}
	b.ResetTimer()
	for b.Loop() {
		BuildContext(entries)
	}
}
