package jsonl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnlabeledStaysOneChain(t *testing.T) {
	label := `{"type":"label","targetId":"e0","label":"x"}`
	compaction := func(first string) string { return `{"type":"compaction","firstKeptEntryId":"` + first + `"}` }
	tests := []struct {
		name    string
		entries []string
		want    []string // "id<parent", and the first kept id of a compaction
	}{
		{"no label", []string{userOne, userOne}, []string{"e0<", "e1<e0"}},
		{"a label in between", []string{userOne, label, userOne, userOne}, []string{"e0<", "e2<e0", "e3<e2"}},
		{"labels in a row", []string{userOne, label, label, userOne}, []string{"e0<", "e3<e0"}},
		{"a label at the root", []string{label, userOne}, []string{"e1<"}},
		{"only labels", []string{label, label}, nil},
		{
			"a compaction that keeps from a label",
			[]string{userOne, label, userOne, userOne, compaction("e1")},
			[]string{"e0<", "e2<e0", "e3<e2", "e4<e3 e2"},
		},
		{
			"a compaction that keeps from a label right before it",
			[]string{userOne, label, compaction("e1"), userOne},
			[]string{"e0<", "e2<e0 e2", "e3<e2"},
		},
		{
			"a compaction that keeps from a message",
			[]string{userOne, label, compaction("e0")},
			[]string{"e0<", "e2<e0 e0"},
		},
		{
			"a compaction that names an entry that is not there",
			[]string{userOne, compaction("gone")},
			[]string{"e0<", "e1<e0 gone"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := parseEntries(t, tt.entries...)
			var before []string
			for _, e := range path {
				before = append(before, ObjectValue(e.Value()).JSON())
			}
			var got []string
			for _, e := range Unlabeled(path) {
				id, _ := e.ID()
				parent, _ := e.Parent()
				word := id + "<" + parent
				if first := e.Value().Get("firstKeptEntryId"); first.Is(String) {
					word += " " + first.Str()
				}
				got = append(got, word)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Unlabeled (-want +got):\n%s", diff)
			}
			for i, e := range path {
				if diff := cmp.Diff(before[i], ObjectValue(e.Value()).JSON()); diff != "" {
					t.Errorf("entry %d of the path was changed (-before +after):\n%s", i, diff)
				}
			}
		})
	}
}

func TestUnlabeledKeepsTheContext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := randomPath(t)
		for i, e := range path {
			o := e.Value().Clone()
			o.Set("id", StringValue(string(rune('A'+i))))
			o.Set("parentId", NullValue())
			if i > 0 {
				o.Set("parentId", StringValue(string(rune('A'+i-1))))
			}
			if e.Type() == "compaction" {
				first := rapid.IntRange(0, len(path)).Draw(t, "first")
				o.Set("firstKeptEntryId", StringValue(string(rune('A'+first))))
			}
			e.SetValue(o)
		}
		want := BuildContext(NewTree(path).Path(LeafLast())).Value().JSON()
		kept := NewTree(Unlabeled(path))
		if diff := cmp.Diff(want, BuildContext(kept.Path(LeafLast())).Value().JSON()); diff != "" {
			t.Fatalf("context without labels (-before +after):\n%s", diff)
		}
	})
}
