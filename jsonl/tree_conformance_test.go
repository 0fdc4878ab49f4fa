package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// treeDivergences are the recorded results that a decision of behaviour.md
// overrules, with what the pure functions give instead.
var treeDivergences = []struct {
	name     string // group/case
	step     int
	decision int
	want     string
}{
	{
		// The original shows the later of two entries with one id twice and
		// the earlier one not at all.
		name: "tree/tree-shape", step: 11, decision: 4,
		want: `[{"entry":{"type":"message","id":"aa000001","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"user","content":"first","timestamp":1770000000001}},"children":[` +
			`{"entry":{"type":"message","id":"d2","parentId":"aa000001","timestamp":"2026-02-10T08:02:00.000Z","message":{"role":"assistant","provider":"acme","model":"acme-large-2","content":[{"type":"text","text":"reply"}],"usage":{"input":10,"output":5,"cacheRead":2,"cacheWrite":1,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}},"timestamp":1770000000002}},"children":[` +
			`{"entry":{"type":"message","id":"aa000001","parentId":"d2","timestamp":"2026-02-10T08:03:00.000Z","message":{"role":"user","content":"again","timestamp":1770000000003}},"children":[` +
			`{"entry":{"type":"custom","id":"nots","parentId":"aa000001","timestamp":"bad","customType":"x"},"children":[]}]}]}]},` +
			`{"entry":{"type":"message","id":"noparent","timestamp":"2026-02-10T08:04:00.000Z","message":{"role":"user","content":"no parentId key","timestamp":1770000000004}},"children":[]}]`,
	},
}

// pureSteps are the operations of the recorded cases that need nothing but a
// loaded file.
var pureSteps = map[string]bool{
	"context": true, "latestCompaction": true, "open": true,
	"getTree": true, "getBranch": true, "getLeafId": true, "getLeafEntry": true,
	"getChildren": true, "getLabel": true, "buildSessionContext": true,
	"getLastModelChangeRole": true, "getInjectedTtsrRules": true, "branch": true, "getUsageStatistics": true,
}

// otherReads are steps that change nothing but are not the tree's.
var otherReads = map[string]bool{"getSessionName": true, "getHeader": true}

func TestTreeAndContextAgreeWithTheRecordedCases(t *testing.T) {
	dirs, _ := filepath.Glob("../testdata/conformance/*/*")
	ran := 0
	for _, dir := range dirs {
		group := filepath.Base(filepath.Dir(dir))
		if group != "context" && group != "tree" && group != "load" && group != "fork" {
			continue
		}
		name := group + "/" + filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			ran += runPureCase(t, dir, name)
		})
	}
	if ran < 150 {
		t.Errorf("compared %d steps, want at least 150: are the cases there?", ran)
	}
}

// runPureCase runs a case's steps up to the first that writes.
func runPureCase(t *testing.T, dir, name string) (ran int) {
	t.Helper()
	steps := readRecorded(t, filepath.Join(dir, "case.json")).Get("steps").Items()
	wants := readRecorded(t, filepath.Join(dir, "want.json")).Get("results").Items()
	trees, leaves := map[string]*Tree{}, map[string]Leaf{}
	for i, step := range steps {
		op, m := step.Get("op").Str(), orElse(step.Get("m"), StringValue("m")).Str()
		if op == "open" {
			m = orElse(step.Get("as"), StringValue("m")).Str()
			trees[m], leaves[m] = NewTree(loadCase(t, dir, step)), LeafLast()
			continue
		}
		if op == "call" {
			op = step.Get("method").Str()
		}
		if otherReads[op] || op == "load" || op == "inspect" || op == "info" {
			continue
		}
		if !pureSteps[op] || (step.Get("op").Str() == "call" && trees[m] == nil) {
			return ran
		}
		if op == "branch" {
			leaves[m] = LeafAt(step.Get("args").Items()[0].Str())
			continue
		}
		var got Value
		if step.Get("op").Str() == "call" {
			got = callTree(trees[m], leaves[m], op, step.Get("args").Items())
		} else {
			got = contextStep(t, dir, step)
		}
		want := recordedValue(wants[i].Get("ok")).JSON()
		for _, d := range treeDivergences {
			if d.name == name && d.step == i {
				want = d.want
			}
		}
		if diff := cmp.Diff(want, got.JSON()); diff != "" {
			t.Errorf("step %d (%s) (-want +got):\n%s", i, op, diff)
		}
		ran++
	}
	return ran
}

func contextStep(t *testing.T, dir string, step Value) Value {
	t.Helper()
	var entries []*Entry
	if step.Get("entries").Is(Absent) {
		entries = loadCase(t, dir, step)
	}
	if step.Get("op").Str() == "latestCompaction" {
		return entryValue(LatestCompaction(entries))
	}
	tree := NewTree(entries)
	leaf := LeafLast()
	switch id := step.Get("leafId"); id.Kind() {
	case Null:
		leaf = LeafRoot()
	case String:
		leaf = tree.ContextLeaf(id.Str())
	}
	return BuildContext(tree.Path(leaf)).Value()
}

func callTree(tree *Tree, leaf Leaf, method string, args []Value) Value {
	path := tree.Path(leaf)
	switch method {
	case "getTree":
		return treeValue(tree.Roots())
	case "getBranch":
		if len(args) > 0 && args[0].Is(String) {
			path = tree.Path(LeafAt(args[0].Str()))
		}
		return entryValues(path)
	case "getLeafId":
		id, _ := tree.LeafEntry(leaf).ID()
		return StringValue(id)
	case "getLeafEntry":
		return entryValue(tree.LeafEntry(leaf))
	case "getChildren":
		return entryValues(tree.Children(args[0].Str()))
	case "getLabel":
		if text, ok := tree.Label(args[0].Str()); ok {
			return StringValue(text)
		}
	case "buildSessionContext":
		return BuildContext(path).Value()
	case "getLastModelChangeRole":
		if role, ok := LastModelChangeRole(path); ok {
			return StringValue(role)
		}
	case "getUsageStatistics":
		return UsageOf(tree.Entries()).Value()
	case "getInjectedTtsrRules":
		return textValues(InjectedTTSRRules(path))
	}
	return Value{}
}

func entryValue(e *Entry) Value {
	if e == nil {
		return NullValue()
	}
	return ObjectValue(e.Value())
}

func entryValues(entries []*Entry) Value {
	values := []Value{}
	for _, e := range entries {
		values = append(values, entryValue(e))
	}
	return ArrayValue(values...)
}

func treeValue(nodes []*Node) Value {
	values := []Value{}
	for _, n := range nodes {
		o := NewObj(Member{"entry", entryValue(n.Entry)}, Member{"children", treeValue(n.Children)})
		setText(o, "label", n.Label)
		values = append(values, ObjectValue(o))
	}
	return ArrayValue(values...)
}

// recordedValue turns {"$number":"NaN"} into what NaN encodes as.
func recordedValue(v Value) Value {
	switch v.Kind() {
	case Array:
		items := make([]Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = recordedValue(item)
		}
		return ArrayValue(items...)
	case Object:
		if v.Obj().Has("$number") {
			return NullValue()
		}
		o := NewObj()
		for _, m := range v.Obj().Members() {
			o.Set(m.Key, recordedValue(m.Value))
		}
		return ObjectValue(o)
	}
	return v
}

func readRecorded(t *testing.T, path string) Value {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := parseWhole(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// loadCase loads the file that a step names, upgraded if the step is one that
// upgrades.
func loadCase(t *testing.T, dir string, step Value) []*Entry {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "in", step.Get("file").Str()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := ParseTranscript(t.Context(), f, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if step.Get("op").Str() == "open" || step.Get("migrate").Bool() {
		next := 0
		tr.Upgrade(func() string {
			next++
			return fmt.Sprintf("%08x", next)
		})
	}
	return tr.Records
}
