package checkpoint

import (
	"errors"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Whatever a file holds, folds and plans end, and a checkpoint of all of it
// reads as the fold did.
func FuzzFoldsAndPlan(f *testing.F) {
	f.Add(answerLine("a", t0, ten) + "\n" + usageLine("r", "partial", "a", three) + "\n" + resultLine("edit", edited))
	f.Add(customLine(jsonl.KindUsageCheckpoint, `{"v":1,"totals":[],"answers":[{"entryId":"a","cost":-1},5]}`))
	f.Add(customLine(jsonl.KindExecutionEffects, `{"v":1,"paths":[],"overflow":0,"unprovenCalls":0,"incomplete":false,"calls":[{"id":"c"},null]}`))
	f.Add(customLine(jsonl.KindTaskScopeCheckpoint, `{"v":1,"version":1,"input":null,"steering":[],"digest":""}`))
	f.Add(message("a", `"b"`, "user") + "\n" + message("b", `"a"`, "user") + `{"type":"compaction","id":"c","parentId":"b","firstKeptEntryId":"a"}`)
	f.Fuzz(func(t *testing.T, text string) {
		entries := jsonl.ParseText(text)
		u, stay := CutUsage(entries, nil, UsageOptions{Origin: "s"})
		got := FoldUsage(append([]*jsonl.Entry{asEntry(t, u)}, stay...), UsageOptions{Origin: "s"}).Total().Requests
		if want := FoldUsage(entries, UsageOptions{Origin: "s"}).Total().Requests; got != want {
			t.Errorf("%d requests, want %d", got, want)
		}
		FoldEffects(nil, entries)
		scope := FoldTaskScope(nil, entries)
		if err := scope.Check(true); err != nil && !errors.Is(err, ErrTaskScope) {
			t.Error(err)
		}
		tree := jsonl.NewTree(entries)
		nodes, err := NodesOf(tree)
		if err != nil {
			return
		}
		for leaf := range nodes {
			plan, err := PlanArchive(nodes, ArchiveOptions{Leaf: leaf})
			if err != nil {
				if !errors.Is(err, ErrNotArchivable) {
					t.Error(err)
				}
				continue
			}
			fold := plan.Fold("s")
			for i, e := range tree.Entries() {
				fold.Add(i, e, nil)
			}
			rest := jsonl.NewTree(plan.Rest(tree.Entries(), fold.Checkpoints(), func() jsonl.Base { return jsonl.Base{ID: "new"} }))
			if rest.Len() < len(nodes)-plan.Moved {
				t.Errorf("%d of %d entries are left, %d move", rest.Len(), len(nodes), plan.Moved)
			}
		}
	})
}
