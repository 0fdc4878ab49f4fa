package export

import (
	"iter"

	"github.com/gajae-code/gjc-index/jsonl"
)

// step is one entry of the output, in its order.
type step struct {
	entry  *jsonl.Entry
	label  string
	branch int // which of its siblings it is, from 1; 0 if it has none
	of     int // how many siblings begin where this one does
	depth  int // forks above it
	after  int // number in the output of the entry it follows; -1 for none
}

// steps are the entries in the order of the output: a path as it goes, all
// branches each to its end before the next begins.
func (d *document) steps() iter.Seq[step] {
	if d.opt.AllBranches {
		return d.allSteps()
	}
	return func(yield func(step) bool) {
		tree := d.s.Tree
		kids := branchCounts(tree)
		for i, e := range tree.Path(d.leaf) {
			id, _ := e.ID()
			label, _ := tree.Label(id)
			st := step{entry: e, label: label, after: i - 1}
			if parent, kind := e.Parent(); kind == jsonl.String && kids[parent] > 1 {
				st.of = kids[parent]
			}
			if !yield(st) {
				return
			}
		}
	}
}

// branchCounts counts the entries that follow each entry. A label that nothing
// follows is no branch.
func branchCounts(tree *jsonl.Tree) map[string]int {
	followed := map[string]bool{}
	for _, e := range tree.Entries() {
		if parent, kind := e.Parent(); kind == jsonl.String {
			followed[parent] = true
		}
	}
	kids := map[string]int{}
	for _, e := range tree.Entries() {
		id, _ := e.ID()
		if parent, kind := e.Parent(); kind == jsonl.String && (e.Type() != "label" || followed[id]) {
			kids[parent]++
		}
	}
	return kids
}

func (d *document) allSteps() iter.Seq[step] {
	type waiting struct {
		node *jsonl.Node
		step step
	}
	return func(yield func(step) bool) {
		var stack []waiting
		push := func(nodes []*jsonl.Node, depth, after int) {
			of := 0
			for _, n := range nodes {
				if !isLooseLabel(n) {
					of++
				}
			}
			if of > 1 {
				depth++
			}
			for i, branch := len(nodes)-1, of; i >= 0; i-- {
				st := step{entry: nodes[i].Entry, label: nodes[i].Label, depth: depth, after: after}
				if of > 1 && !isLooseLabel(nodes[i]) {
					st.branch, st.of = branch, of
					branch--
				}
				stack = append(stack, waiting{nodes[i], st})
			}
		}
		push(d.s.Tree.Roots(), 0, -1)
		for n := 0; len(stack) > 0; n++ {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(top.step) {
				return
			}
			push(top.node.Children, top.step.depth, n)
		}
	}
}

func isLooseLabel(n *jsonl.Node) bool { return n.Entry.Type() == "label" && len(n.Children) == 0 }
