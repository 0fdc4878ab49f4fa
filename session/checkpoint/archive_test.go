package checkpoint

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// archived plans and carries out the archive of entries.
func archived(t testing.TB, entries []*jsonl.Entry, opt ArchiveOptions, prefix string) (*ArchivePlan, []*jsonl.Entry) {
	t.Helper()
	tree := jsonl.NewTree(entries)
	nodes, err := NodesOf(tree)
	if err != nil {
		return nil, nil
	}
	plan, err := PlanArchive(nodes, opt)
	if errors.Is(err, ErrNotArchivable) {
		return nil, nil
	} else if err != nil {
		t.Fatal(err)
	}
	fold := plan.Fold("s1")
	for i, e := range entries {
		fold.Add(i, e, nil)
	}
	n := 0
	rest := plan.Rest(entries, fold.Checkpoints(), func() jsonl.Base {
		n++
		return jsonl.Base{ID: fmt.Sprintf("%s%d", prefix, n), Timestamp: "2026-04-01T00:00:00.000Z"}
	})
	var lines []string
	for _, e := range rest {
		lines = append(lines, string(e.AppendJSON(nil, false)))
	}
	return plan, parse(t, lines...)
}

// facts is what must be the same before and after.
type facts struct {
	Contexts map[string]string
	Usage    []UsageTotal
	Effects  map[string]jsonl.EffectPath
	Unproven int64
	Missing  bool
	Steering map[string]string
	Labels   []jsonl.Label
}

func factsOf(entries []*jsonl.Entry, leaves []string) facts {
	tree := jsonl.NewTree(entries)
	f := facts{Contexts: map[string]string{}, Effects: map[string]jsonl.EffectPath{}, Steering: map[string]string{}, Labels: tree.Labels()}
	for _, id := range leaves {
		path := tree.Path(jsonl.LeafAt(id))
		f.Contexts[id] = jsonl.BuildContext(path).Value().JSON()
		for _, s := range FoldTaskScope(nil, path).Steering {
			f.Steering[id+" "+s.ID] = s.State
		}
	}
	f.Usage = FoldUsage(entries, UsageOptions{Origin: "s1"}).Totals()
	x := FoldEffects(nil, entries)
	for _, p := range x.Paths {
		f.Effects[p.Path] = p
	}
	f.Unproven, f.Missing = x.UnprovenCalls, x.Incomplete
	return f
}

func TestArchiveKeepsContextTotalsEffectsAndLabels(t *testing.T) {
	moved := 0
	rapid.Check(t, func(r *rapid.T) {
		w := drawWorld(r, 40)
		entries := parse(t, w.lines...)
		if len(entries) == 0 {
			return
		}
		opt := ArchiveOptions{Leaf: rapid.IntRange(0, len(entries)-1).Draw(r, "leaf"), KeepBranches: rapid.IntRange(0, 3).Draw(r, "keep") == 0}
		for round := range 2 {
			plan, rest := archived(t, entries, opt, fmt.Sprintf("cp%d-", round))
			if plan == nil || plan.First < 0 {
				return
			}
			moved += plan.Moved
			var leaves []string
			for _, i := range plan.Live {
				id, _ := entries[i].ID()
				leaves = append(leaves, id)
			}
			if diff := cmp.Diff(factsOf(entries, leaves), factsOf(rest, leaves)); diff != "" {
				r.Fatalf("round %d (-before +after):\n%s", round, diff)
			}
			chosen, _ := entries[opt.Leaf].ID()
			again := func() int {
				for i, e := range rest {
					if id, _ := e.ID(); id == chosen {
						return i
					}
				}
				r.Fatal("the chosen leaf is gone")
				return 0
			}()
			plan, _ = archived(t, rest, ArchiveOptions{Leaf: again, KeepBranches: opt.KeepBranches}, "again-")
			if plan == nil || plan.Moved != 0 {
				r.Fatalf("a second run moves entries: %+v", plan)
			}
			// Life goes on, and a later run takes what is old by then.
			more := &world{t: r, lines: linesOf(rest), ids: idsOf(rest), leaf: chosen, prefix: fmt.Sprint(round)}
			for range rapid.IntRange(0, 15).Draw(r, "more") {
				more.step()
			}
			entries = parse(t, more.lines...)
			opt.Leaf = len(entries) - 1
		}
	})
	if moved == 0 {
		t.Error("no run moved anything")
	}
}

func linesOf(entries []*jsonl.Entry) []string {
	var lines []string
	for _, e := range entries {
		lines = append(lines, string(e.Raw()))
	}
	return lines
}

func idsOf(entries []*jsonl.Entry) []string {
	var ids []string
	for i := range entries {
		id, _ := entries[i].ID()
		ids = append(ids, id)
	}
	return ids
}

func message(id, parent, role string) string {
	return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"%s","content":"%s"}}`, id, parent, role, id)
}

func TestPlanArchive(t *testing.T) {
	compaction := func(id, parent, kept string) string {
		return fmt.Sprintf(`{"type":"compaction","id":"%s","parentId":"%s","timestamp":"2026-03-01T00:00:00.000Z","summary":"s","firstKeptEntryId":"%s","tokensBefore":1}`, id, parent, kept)
	}
	label := func(id, parent, target string) string {
		return fmt.Sprintf(`{"type":"label","id":"%s","parentId":"%s","timestamp":"2026-03-01T00:00:00.000Z","targetId":"%s","label":"l"}`, id, parent, target)
	}
	steered := `{"type":"custom","customType":"gjc-index/steering","data":{"v":1,"id":"s","text":"left","state":"sent"},"id":"st","parentId":"a","timestamp":"2026-03-01T00:00:00.000Z"}`
	state := `{"type":"thinking_level_change","id":"st","parentId":"a","timestamp":"2026-03-01T00:00:00.000Z","thinkingLevel":"high"}`
	tests := []struct {
		name  string
		lines []string
		leaf  string
		keep  bool
		want  []string // what moves
		err   error
	}{
		{"nothing without a compaction", []string{message("a", "null", "user"), message("b", `"a"`, "user")}, "b", false, nil, nil},
		{"the prefix, but not its state", []string{message("a", "null", "user"), state, message("b", `"st"`, "user"), message("c", `"b"`, "user"), compaction("d", "c", "c")},
			"d", false, []string{"a", "b"}, nil},
		{"refused if the first kept entry is elsewhere", []string{message("a", "null", "user"), compaction("d", "a", "zz")}, "d", false, nil, ErrNotArchivable},
		{"a dead branch moves", []string{message("a", "null", "user"), message("dead", `"a"`, "user"), message("b", `"a"`, "user"), compaction("d", "b", "b")},
			"d", false, []string{"a", "dead"}, nil},
		{"a dead branch stays if asked", []string{message("a", "null", "user"), message("dead", `"a"`, "user"), message("b", `"a"`, "user"), compaction("d", "b", "b")},
			"d", true, nil, nil},
		{"a labelled leaf lives", []string{message("a", "null", "user"), message("dead", `"a"`, "user"), label("l", "dead", "dead"), message("b", `"a"`, "user"), compaction("d", "b", "b")},
			"d", false, nil, nil},
		{"a label on an entry of the path does not", []string{message("a", "null", "user"), label("l", "a", "a"), message("b", `"a"`, "user"), compaction("d", "b", "b")},
			"d", false, []string{"a"}, nil},
		{"the last entry lives", []string{message("a", "null", "user"), message("b", `"a"`, "user"), compaction("d", "b", "b"), message("z", `"a"`, "user")},
			"d", false, nil, nil},
		{"the last answer stays while it gives the model", []string{message("a", "null", "assistant"), message("b", `"a"`, "assistant"), message("b2", `"b"`, "assistant"), message("c", `"b2"`, "user"), compaction("d", "c", "c")},
			"d", false, []string{"a", "b"}, nil},
		{"the first answer stays while it gives the default model its place", []string{message("a", "null", "assistant"),
			`{"type":"model_change","id":"m","parentId":"a","timestamp":"2026-03-01T00:00:00.000Z","model":"p/x","role":"plan"}`,
			message("b", `"m"`, "assistant"), message("c", `"b"`, "assistant"), message("k", `"c"`, "user"), compaction("d", "k", "k")},
			"d", false, []string{"b"}, nil},
		{"no answer stays where the default model was set", []string{
			`{"type":"model_change","id":"m","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z","model":"p/x"}`,
			message("a", `"m"`, "assistant"), message("b", `"a"`, "assistant"), message("k", `"b"`, "user"), compaction("d", "k", "k")},
			"d", false, []string{"a", "b"}, nil},
		{"steering moves with what it steered", []string{message("a", "null", "user"), steered, message("z", `"st"`, "user"), message("b", `"st"`, "user"), compaction("d", "b", "b")},
			"d", false, []string{"a", "st", "z"}, nil},
		{"steering stays for a leaf that passes no checkpoint", []string{message("a", "null", "user"), steered, message("z", `"st"`, "user"), label("l", "z", "z"), message("b", `"st"`, "user"), compaction("d", "b", "b")},
			"d", false, nil, nil},
		{"no way to name the new parent", []string{message("x", "null", "assistant"), message("x", `"x"`, "user"), message("a", `"x"`, "user"), message("b", `"a"`, "user"), compaction("d", "b", "b")},
			"d", false, []string{"x", "a"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries := parse(t, tt.lines...)
			nodes, err := NodesOf(jsonl.NewTree(entries))
			if err != nil {
				t.Fatal(err)
			}
			leaf := -1
			for i := range nodes {
				if nodes[i].ID == tt.leaf {
					leaf = i
				}
			}
			plan, err := PlanArchive(nodes, ArchiveOptions{Leaf: leaf, KeepBranches: tt.keep})
			if !errors.Is(err, tt.err) {
				t.Fatalf("err = %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			var got []string
			for i, moves := range plan.Moves {
				if moves {
					got = append(got, nodes[i].ID)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}

// Past the number from which paths are not gone over whole, contexts still stay.
func TestManyBranchesKeepTheirContexts(t *testing.T) {
	state := func(id, parent, level string) string {
		return fmt.Sprintf(`{"type":"thinking_level_change","id":"%s","parentId":"%s","timestamp":"2026-03-01T00:00:00.000Z","thinkingLevel":"%s"}`, id, parent, level)
	}
	compaction := func(id, parent, kept string) string {
		return fmt.Sprintf(`{"type":"compaction","id":"%s","parentId":"%s","timestamp":"2026-03-01T00:00:00.000Z","summary":"s","firstKeptEntryId":"%s","tokensBefore":1}`, id, parent, kept)
	}
	lines := []string{message("a", "null", "assistant"), message("b", `"a"`, "user"), state("s", "b", "high"), message("c", `"s"`, "assistant"),
		message("k", `"c"`, "user"), compaction("x", "k", "k")}
	for i := range 3 * manyLeaves {
		leaf := fmt.Sprint("l", i)
		switch i % 4 {
		case 0:
			lines = append(lines, message(leaf, `"x"`, "user"))
		case 1:
			lines = append(lines, message(leaf, `"x"`, "assistant"))
		case 2:
			lines = append(lines, state(leaf, "x", "low"))
		case 3:
			lines = append(lines, compaction(leaf, "x", []string{"b", "x", "nowhere"}[i%3]))
		}
	}
	entries := parse(t, lines...)
	plan, rest := archived(t, entries, ArchiveOptions{Leaf: 6}, "cp")
	if plan == nil || len(plan.Live) != 3*manyLeaves {
		t.Fatalf("plan %+v", plan)
	}
	var leaves []string
	for _, i := range plan.Live {
		leaves = append(leaves, idsOf(entries)[i])
	}
	if diff := cmp.Diff(factsOf(entries, leaves), factsOf(rest, leaves)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestNodesOfRefusesACycle(t *testing.T) {
	tree := jsonl.NewTree(parse(t, message("a", `"b"`, "user"), message("b", `"a"`, "user")))
	if _, err := NodesOf(tree); !errors.Is(err, ErrNotArchivable) {
		t.Errorf("err = %v, want ErrNotArchivable", err)
	}
}
