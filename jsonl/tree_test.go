package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sketchEntries makes entries from "id<parent" words, one a line from line 2;
// "-" is no parent, "!" takes a line and makes no entry, "id@time" gives a time.
func sketchEntries(t testing.TB, sketch string) (entries []*Entry, lost []int) {
	t.Helper()
	for i, word := range strings.Fields(sketch) {
		if word == "!" {
			lost = append(lost, i+2)
			continue
		}
		id, parent, _ := strings.Cut(word, "<")
		id, at, timed := strings.Cut(id, "@")
		b := Base{ID: id, Parent: strings.Trim(parent, "-"), Timestamp: "bad"}
		if timed {
			b.Timestamp = "2026-01-01T00:00:0" + at + "Z"
		}
		e := NewEntry(CustomEntry(b, "x", NumberValue(float64(i+2))))
		e.Line = i + 2
		entries = append(entries, e)
	}
	return entries, lost
}

// sketchTree shows trees as "id:line(children)".
func sketchTree(nodes []*Node) string {
	var b strings.Builder
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(' ')
		}
		id, _ := n.Entry.ID()
		fmt.Fprintf(&b, "%s:%d", id, n.Entry.Line)
		if len(n.Children) > 0 {
			b.WriteString("(" + sketchTree(n.Children) + ")")
		}
	}
	return b.String()
}

func sketchPath(path []*Entry) string {
	var words []string
	for _, e := range path {
		id, _ := e.ID()
		words = append(words, fmt.Sprintf("%s:%d", id, e.Line))
	}
	return strings.Join(words, " ")
}

func TestTreeLinksEntries(t *testing.T) {
	tests := []struct {
		name, entries string
		bridge        bool
		tree, path    string
		warnings      []Warning
	}{
		{name: "chain", entries: "a<- b<a c<b", tree: "a:2(b:3(c:4))", path: "a:2 b:3 c:4"},
		{name: "branches", entries: "a<- b<a c<a", tree: "a:2(b:3 c:4)", path: "a:2 c:4"},
		{
			name:    "siblings by time, equal ones in file order",
			entries: "a<- d@9<a b@3<a c@3<a", tree: "a:2(b:4 c:5 d:3)", path: "a:2 c:5",
		},
		{
			name:    "an unreadable time is equal to any",
			entries: "a<- d@9<a b@3<a c<a e@1<a", tree: "a:2(b:4 d:3 c:5 e:6)", path: "a:2 e:6",
		},
		{name: "later parent", entries: "b<a a<- c<b", tree: "a:3(b:2(c:4))", path: "a:3 b:2 c:4"},
		{name: "first of two later parents", entries: "b<a a<- a<- c<b", tree: "a:3(b:2(c:5)) a:4", path: "a:3 b:2 c:5"},
		{name: "nearest earlier parent", entries: "a<- a<a b<a a<b c<b", tree: "a:2(a:3(b:4(a:5 c:6)))", path: "a:2 a:3 b:4 c:6"},
		{name: "own parent", entries: "a<a b<a", tree: "a:2(b:3)", path: "a:2 b:3"},
		{
			name:    "a cycle is cut at its last edge",
			entries: "a<c b<a c<b", tree: "c:4(a:2(b:3))", path: "a:2 b:3 c:4",
		},
		{
			name:    "two cycles that touch",
			entries: "a<b b<a c<d d<c e<a", tree: "b:3(a:2(e:6)) d:5(c:4)", path: "b:3 a:2 e:6",
		},
		{
			name:    "orphan",
			entries: "a<- b<gone c<b", tree: "a:2 b:3(c:4)", path: "b:3 c:4",
			warnings: []Warning{{3, OrphanParent}},
		},
		{
			name:    "orphan after a lost line, strict",
			entries: "a<- ! b<gone c<b", tree: "a:2 b:4(c:5)", path: "b:4 c:5",
			warnings: []Warning{{4, OrphanParent}},
		},
		{
			name: "orphan after a lost line, bridged", bridge: true,
			entries: "a<- ! b<gone c<b", tree: "a:2(b:4(c:5))", path: "a:2 b:4 c:5",
			warnings: []Warning{{4, BridgedParent}},
		},
		{
			name: "a lost line elsewhere bridges nothing", bridge: true,
			entries: "a<- ! b<a c<gone", tree: "a:2(b:4) c:5", path: "c:5",
			warnings: []Warning{{5, OrphanParent}},
		},
		{
			name: "nothing before the hole", bridge: true,
			entries: "! b<gone", tree: "b:3", path: "b:3",
			warnings: []Warning{{3, OrphanParent}},
		},
		{
			name: "a bridge that would close a cycle", bridge: true,
			entries: "b<a ! a<gone c<b", tree: "a:4(b:2(c:5))", path: "a:4 b:2 c:5",
			warnings: []Warning{{4, BridgedParent}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, lost := sketchEntries(t, tt.entries)
			tree := NewTree(entries)
			if tt.bridge {
				tree = NewBridgedTree(entries, lost)
			}
			if diff := cmp.Diff(tt.tree, sketchTree(tree.Roots())); diff != "" {
				t.Errorf("Roots() (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.path, sketchPath(tree.Path(LeafLast()))); diff != "" {
				t.Errorf("Path(last) (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, tree.Warnings()); diff != "" {
				t.Errorf("Warnings() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeafNamesAnEntry(t *testing.T) {
	entries, _ := sketchEntries(t, "a<- b<a a<b c<a")
	tree := NewTree(entries)
	tests := []struct {
		name string
		leaf Leaf
		want string
	}{
		{"last", LeafLast(), "a:2 b:3 a:4 c:5"},
		{"root", LeafRoot(), ""},
		{"the last entry of an id", LeafAt("a"), "a:2 b:3 a:4"},
		{"unknown id", LeafAt("gone"), ""},
		{"empty id", LeafAt(""), ""},
		{"unknown id for a context", tree.ContextLeaf("gone"), "a:2 b:3 a:4 c:5"},
		{"known id for a context", tree.ContextLeaf("b"), "a:2 b:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sketchPath(tree.Path(tt.leaf)); got != tt.want {
				t.Errorf("Path(%v) = %q, want %q", tt.leaf, got, tt.want)
			}
		})
	}
	if got := sketchPath(tree.Children("a")); got != "b:3 c:5" {
		t.Errorf("Children(a) = %q, want both entries that name a", got)
	}
	if got := sketchPath(tree.Leaves()); got != "c:5" {
		t.Errorf("Leaves() = %q, want c:5", got)
	}
	if p := NewTree(nil).Path(LeafLast()); p != nil {
		t.Errorf("Path(last) of no entries = %v, want nil", p)
	}
}

func TestLabelsKeepTheOrderInWhichTheyWereSet(t *testing.T) {
	set := func(target, label string) *Entry {
		return NewEntry(LabelEntry(Base{ID: "l"}, target, StringValue(label)))
	}
	entries, _ := sketchEntries(t, "a<- b<a a<b")
	entries = append(entries,
		set("a", "one"), set("b", "two"), set("gone", "three"), set("a", "four"), set("b", ""),
		NewEntry(LabelEntry(Base{ID: "l"}, "gone", Value{})),
		NewEntry(LabelEntry(Base{ID: "l"}, "never", NullValue())),
		set("b", "five"), set("l", "on a label"))
	tree := NewTree(entries)
	want := []Label{{"a", "four"}, {"b", "five"}, {"l", "on a label"}}
	if diff := cmp.Diff(want, tree.Labels()); diff != "" {
		t.Errorf("Labels() (-want +got):\n%s", diff)
	}
	if text, ok := tree.Label("gone"); ok {
		t.Errorf("Label(gone) = %q, want none", text)
	}
	shown := map[int]string{}
	for _, n := range Walk(tree.Roots()) {
		if id, _ := n.Entry.ID(); id == "a" {
			shown[n.Entry.Line] = n.Label
		}
	}
	if diff := cmp.Diff(map[int]string{2: "", 4: "four"}, shown); diff != "" {
		t.Errorf("labels shown on the entries of a (-want +got):\n%s", diff)
	}
}

func TestFirstKeptMissingIsToldForEachCompaction(t *testing.T) {
	compaction := func(id, parent, first string) *Entry {
		return NewEntry(CompactionEntry(Base{ID: id, Parent: parent}, Compaction{FirstKeptEntryID: first}))
	}
	entries, _ := sketchEntries(t, "a<- b<a x<a")
	more := []*Entry{
		compaction("c1", "b", "a"), compaction("c2", "c1", "x"), compaction("c3", "c2", "c3"),
		compaction("c4", "c3", "gone"), compaction("c5", "x", "x"), compaction("c6", "c4", "c1"),
	}
	for i, e := range more {
		e.Line = 5 + i
	}
	tree := NewTree(append(entries, more...))
	want := []Warning{{6, FirstKeptMissing}, {8, FirstKeptMissing}}
	if diff := cmp.Diff(want, tree.Warnings()); diff != "" {
		t.Errorf("Warnings() (-want +got):\n%s", diff)
	}
}

func TestWarningsOfTheFaultCases(t *testing.T) {
	files, _ := filepath.Glob("../testdata/faults/*/expect.json")
	compared := 0
	for _, file := range files {
		for _, m := range readRecorded(t, file).Obj().Members() {
			name := filepath.Join(filepath.Dir(file), m.Key)
			f, err := os.Open(name)
			if err != nil || !m.Value.Get("context").Is(Array) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				limit := int64(m.Value.Get("line_limit_bytes").Num())
				tr, err := ParseTranscript(t.Context(), f, LoadOptions{MaxLine: limit})
				if err != nil {
					t.Fatal(err)
				}
				tr.Upgrade(nil)
				compared++
				checkFault(t, tr, m.Value)
			})
			f.Close()
		}
	}
	if compared == 0 {
		t.Error("no fault case was compared: are they there?")
	}
}

func checkFault(t *testing.T, tr *Transcript, expect Value) {
	t.Helper()
	tree := tr.Tree(true)
	warnings := []Value{}
	for _, w := range tr.Summary(tree.Warnings()...).Warnings {
		warnings = append(warnings, ArrayValue(NumberValue(float64(w.Line)), StringValue(string(w.Kind))))
	}
	if diff := cmp.Diff(expect.Get("warnings").JSON(), ArrayValue(warnings...).JSON()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	leaf := LeafLast()
	if id := expect.Get("leaf"); id.Is(String) {
		leaf = LeafAt(id.Str())
	}
	if diff := cmp.Diff(expect.Get("context").JSON(), contextLines(tree, leaf).JSON()); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if strict := expect.Get("context_strict_spec"); strict.Is(Array) {
		if diff := cmp.Diff(strict.JSON(), contextLines(tr.Tree(false), LeafLast()).JSON()); diff != "" {
			t.Errorf("strict context (-want +got):\n%s", diff)
		}
	}
}

// contextLines are the messages of a context as "role: text".
func contextLines(tree *Tree, leaf Leaf) Value {
	lines := []Value{}
	for _, m := range BuildContext(tree.Path(leaf)).Messages {
		text := MessageText(m)
		if s := m.Get("summary"); s.Is(String) {
			text = s.Str()
		}
		lines = append(lines, StringValue(m.Get("role").Str()+": "+text))
	}
	return ArrayValue(lines...)
}

// randomLinks draws entries whose ids and parents come from few names, so that
// duplicates, orphans, later parents and cycles all occur.
func randomLinks(t *rapid.T) []*Entry {
	names := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f", "g", "h", "gone"})
	n := rapid.IntRange(0, 14).Draw(t, "n")
	entries := make([]*Entry, n)
	for i := range entries {
		id, parent := names.Draw(t, "id"), names.Draw(t, "parent")
		if id == "gone" {
			id = "a"
		}
		entries[i] = NewEntry(CustomEntry(Base{ID: id, Parent: parent}, "x", Value{}))
		entries[i].Line = i + 1
	}
	return entries
}

// slowParent is the rule for parents, word by word.
func slowParent(entries []*Entry, i int) int {
	id, kind := entries[i].Parent()
	if kind != String || id == "" {
		return -1
	}
	own, _ := entries[i].ID()
	for j := i - 1; j >= 0; j-- {
		if have, _ := entries[j].ID(); have == id {
			return j
		}
	}
	for j := i + 1; j < len(entries) && own != id; j++ {
		if have, _ := entries[j].ID(); have == id {
			return j
		}
	}
	return -1
}

func TestTreeFollowsTheRuleForParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := randomLinks(t)
		tree := NewTree(entries)
		edges := make([]int, len(entries))
		for i := range edges {
			edges[i] = -1
		}
		for i := range entries {
			edges[i] = slowParent(entries, i)
			at := edges[i]
			for at >= 0 && at != i {
				at = edges[at]
			}
			if at == i {
				edges[i] = -1
			}
		}
		got := make([]int, len(entries))
		for i := range got {
			got[i] = tree.ParentAt(i)
		}
		if diff := cmp.Diff(edges, got); diff != "" {
			t.Fatalf("edges (-want +got):\n%s", diff)
		}
		for leaf := range entries {
			id, _ := entries[leaf].ID()
			if tree.position(id) != int32(leaf) {
				continue
			}
			var want []int
			seen := map[int]bool{}
			for at := leaf; at >= 0 && !seen[at]; at = slowParent(entries, at) {
				seen[at] = true
				want = append([]int{at}, want...)
			}
			if diff := cmp.Diff(want, tree.PathPositions(LeafAt(id))); diff != "" {
				t.Fatalf("PathPositions(%s) (-want +got):\n%s", id, diff)
			}
		}
	})
}

func TestTreeShowsEveryEntryOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := randomLinks(t)
		lost := rapid.SliceOfDistinct(rapid.IntRange(1, 14), rapid.ID[int]).Draw(t, "lost")
		seen := map[*Entry]int{}
		sort.Ints(lost)
		for _, n := range Walk(NewBridgedTree(entries, lost).Roots()) {
			seen[n.Entry]++
		}
		for i, e := range entries {
			if seen[e] != 1 {
				t.Fatalf("entry %d is shown %d times, want once", i, seen[e])
			}
		}
	})
}
