package jsonl

import (
	"bytes"
	"math"
	"testing"
)

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2026-02-10T08:01:00.000Z", "+002026-02", "2026-02-10T24:00", "Tue, 10 Feb 2026 08:01:00 GMT", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ms, ok := ParseDate(s); ok && (math.Abs(ms) > maxDate || ms != math.Trunc(ms)) {
			t.Errorf("ParseDate(%q) = %v, want whole milliseconds in range", s, ms)
		}
	})
}

// What is read as one of our kinds is written as what reads the same.
func FuzzParseCustom(f *testing.F) {
	for _, tt := range customSamples {
		f.Add(tt.d.Kind(), []byte(tt.want))
	}
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		v, err := parseWhole(text)
		if err != nil {
			return
		}
		d, ok := ParseCustom(kind, v)
		if !ok {
			return
		}
		written := ObjectValue(d.Data())
		again, ok := ParseCustom(kind, written)
		if !ok || written.JSON() != ObjectValue(again.Data()).JSON() {
			t.Errorf("%s: %s reads back as %v", kind, written.JSON(), ok)
		}
	})
}

// Any file gives a tree that shows each entry once, a path and a context.
func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"type":"session","version":5,"id":"s"}
{"type":"message","id":"a","parentId":"b","message":{"role":"user"}}
{"type":"compaction","id":"b","parentId":"a","firstKeptEntryId":"a"}
{"type":"label","id":"c","parentId":"gone","targetId":"a","label":5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := ParseTranscript(t.Context(), bytes.NewReader(text), LoadOptions{})
		if err != nil {
			return
		}
		for _, bridge := range []bool{false, true} {
			tree := tr.Tree(bridge)
			shown := 0
			for range Walk(tree.Roots()) {
				shown++
			}
			if shown != tree.Len() {
				t.Errorf("the tree shows %d entries, want %d", shown, tree.Len())
			}
			path := tree.Path(LeafLast())
			tree.Warnings()
			AppendJSON(nil, BuildContext(path).Value())
			Unlabeled(path)
		}
	})
}
