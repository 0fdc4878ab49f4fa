package checkpoint

import (
	"fmt"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
)

// ArchiveOptions say what an archive has to respect.
type ArchiveOptions struct {
	Leaf         int  // position of the chosen leaf
	KeepBranches bool // every branch is live
}

// ArchivePlan says which entries move to the archive. Slices are by position
// among the nodes.
type ArchivePlan struct {
	Moves    []bool
	Held     []bool // of what moves: answers that the usage checkpoint keeps by themselves
	Parents  []int  // of what stays: its parent then, -1 for none
	Relinked []bool // of what stays: parentId has to be written anew
	Moved    int    // how many move
	First    int    // the compaction's first kept entry: the checkpoints stand right before it, as its ancestors; -1 without a compaction
	Branches []int  // last entries of the branches that move
	Live     []int  // the leaves whose context stays what it is

	onLive []bool          // on the path of a live leaf
	named  map[string]bool // answers that a usage record names
}

// PlanArchive finds what of a transcript nobody needs for a context: entries
// before the first one that the last compaction on the chosen leaf's path has
// kept, and branches that are not live. Live are the chosen leaf, the last
// entry, leaves that carry a label and leaves whose path passes the
// compaction. A label put on an entry is no leaf of its own. Entries that
// carry state for a live leaf stay, as do labels, checkpoints, the session's
// beginning and the usage records of unfinished requests.
//
// Without a compaction on the path nothing moves. Errors: ErrNotArchivable if
// the compaction's first kept entry is not on the path or what stays could not
// be joined by ids.
func PlanArchive(nodes []Node, opt ArchiveOptions) (*ArchivePlan, error) {
	a := &archiver{nodes: nodes, plan: &ArchivePlan{
		Moves:    make([]bool, len(nodes)),
		Held:     make([]bool, len(nodes)),
		Parents:  make([]int, len(nodes)),
		Relinked: make([]bool, len(nodes)),
		First:    -1,
	}}
	for i := range nodes {
		a.plan.Parents[i] = nodes[i].Parent
	}
	if opt.Leaf < 0 || opt.Leaf >= len(nodes) {
		return a.plan, nil
	}
	path := a.path(opt.Leaf, -1)
	compaction, first := a.compaction(path)
	if compaction < 0 {
		return a.plan, nil
	}
	if first < 0 {
		return nil, fmt.Errorf("%w: the first entry that the compaction kept is not on the path", ErrNotArchivable)
	}
	a.plan.First = path[first]
	a.findLive(opt, path[:compaction+1])
	a.choose(path[:first])
	a.keepUsage()
	if err := a.relink(); err != nil {
		return nil, err
	}
	return a.plan, nil
}

type archiver struct {
	nodes  []Node
	plan   *ArchivePlan
	leaves []int  // last entries of branches, labels aside
	passed []bool // on the path of a live leaf
	aside  []bool // on that of one that does not pass the first kept entry
	needed []bool // by the context of a live leaf
}

// path is the positions from an ancestor, which is left out, to a leaf; -1
// stands above the root.
func (a *archiver) path(leaf, above int) []int {
	depth := 0
	for i := leaf; i >= 0 && i != above; i = a.nodes[i].Parent {
		depth++
	}
	path := make([]int, depth)
	for i := leaf; depth > 0; i = a.nodes[i].Parent {
		depth--
		path[depth] = i
	}
	return path
}

// compaction finds the last compaction of a path, -1 without one, and the
// first entry that it kept, -1 if that is not before it. Both are places in
// the path.
func (a *archiver) compaction(path []int) (compaction, first int) {
	compaction = len(path) - 1
	for compaction >= 0 && a.nodes[path[compaction]].Type() != "compaction" {
		compaction--
	}
	if compaction < 0 {
		return -1, -1
	}
	kept := a.nodes[path[compaction]].FirstKept()
	for first = compaction - 1; first >= 0 && kept != ""; first-- {
		if a.nodes[path[first]].ID == kept {
			return compaction, first
		}
	}
	return compaction, -1
}

// manyLeaves is from how many live leaves on their paths are not gone over
// whole, so that the time stays linear.
const manyLeaves = 64

// findLive finds the leaves, those that are live, and what their contexts
// need. shared is the path to the compaction.
func (a *archiver) findLive(opt ArchiveOptions, shared []int) {
	inner := a.inner()
	after := a.below(shared[len(shared)-1])
	kept := a.below(a.plan.First)
	a.passed = make([]bool, len(a.nodes))
	a.plan.onLive = a.passed
	a.aside = make([]bool, len(a.nodes))
	a.needed = make([]bool, len(a.nodes))
	for i := range a.nodes {
		leaf := a.nodes[i].Type() != "label" && !inner[i]
		if leaf {
			a.leaves = append(a.leaves, i)
		}
		chosen := i == opt.Leaf || i == len(a.nodes)-1
		if !chosen && (!leaf || !(opt.KeepBranches || a.nodes[i].Labeled || after[i])) {
			continue
		}
		a.plan.Live = append(a.plan.Live, i)
		for at := i; !kept[i] && at >= 0 && !a.aside[at]; at = a.nodes[at].Parent {
			a.aside[at] = true
		}
		if len(a.plan.Live) == manyLeaves {
			a.need(shared)
		}
		if after[i] && len(a.plan.Live) >= manyLeaves && a.needRest(i) {
			continue
		}
		a.need(a.path(i, -1))
	}
}

// needRest marks what a leaf below the compaction needs from the first kept
// entry on. What it needs of the entries above, the path to the compaction
// needs as well, unless a later compaction has kept some of them: then it
// reports false.
func (a *archiver) needRest(leaf int) bool {
	rest := a.path(leaf, a.nodes[a.plan.First].Parent)
	if _, first := a.compaction(rest); first < 0 {
		return false
	}
	a.need(rest)
	return true
}

// inner tells the entries that something other than labels hangs on.
func (a *archiver) inner() []bool {
	inner := make([]bool, len(a.nodes))
	for i := range a.nodes {
		if a.nodes[i].Type() == "label" {
			continue
		}
		p := a.nodes[i].Parent
		for p >= 0 && !inner[p] {
			inner[p] = true
			if a.nodes[p].Type() != "label" {
				break
			}
			p = a.nodes[p].Parent
		}
	}
	return inner
}

// below tells the entries whose path passes an entry.
func (a *archiver) below(top int) []bool {
	const unknown, yes, no = 0, 1, 2
	state := make([]uint8, len(a.nodes))
	state[top] = yes
	below := make([]bool, len(a.nodes))
	var walk []int
	for i := range a.nodes {
		at := i
		for at >= 0 && state[at] == unknown {
			walk = append(walk, at)
			at = a.nodes[at].Parent
		}
		found := uint8(no)
		if at >= 0 {
			found = state[at]
		}
		for _, w := range walk {
			state[w] = found
		}
		walk = walk[:0]
		below[i] = state[i] == yes
	}
	return below
}

// need marks what a live leaf's path needs.
func (a *archiver) need(path []int) {
	for _, at := range path {
		a.passed[at] = true
	}
	path = a.deciding(path)
	facts := make([]jsonl.PathEntry, len(path))
	for i, at := range path {
		n := &a.nodes[at]
		facts[i] = jsonl.PathEntry{Type: n.Type(), ID: n.ID, Role: n.Role(), FirstKept: n.FirstKept()}
	}
	needed := jsonl.NeededForContext(facts)
	a.spareAnswers(path, facts, needed)
	for i := range needed {
		if needed[i] {
			a.needed[path[i]] = true
		}
	}
}

// deciding is a path without the entries that decide nothing of its context:
// before the first entry that its compaction kept, texts that are not sent any
// more, and of answers that follow one another all but the first and the last.
func (a *archiver) deciding(path []int) []int {
	compaction, kept := a.compaction(path)
	if compaction < 0 {
		return path
	}
	if kept < 0 {
		kept = compaction
	}
	if first := slices.Index(path[:kept], a.plan.First); first >= 0 {
		kept = first // what stands from there on stays in any case
	}
	few := make([]int, 0, len(path)-kept)
	run := 0 // of answers, the one before
	for _, at := range path[:kept] {
		n := &a.nodes[at]
		switch typ := n.Type(); {
		case typ == "message" && n.answer:
			if run++; run > 2 {
				few = few[:len(few)-1]
			}
			few = append(few, at)
			continue
		case typ == "message", typ == "custom_message", typ == "branch_summary", typ == "custom", typ == "compaction":
			continue
		}
		run = 0
		few = append(few, at)
	}
	return append(few, path[kept:]...)
}

// choose marks what moves: of live paths what stands before the first kept
// entry, and branches that are dead.
func (a *archiver) choose(before []int) {
	for _, i := range before {
		// The checkpoint of the task scope stands at the first kept entry: who
		// does not pass that needs the steering itself.
		steered := a.nodes[i].steers && a.aside[i]
		a.plan.Moves[i] = a.nodes[i].heavy && !a.needed[i] && !steered
	}
	for i := range a.nodes {
		if !a.passed[i] {
			a.plan.Moves[i] = !a.nodes[i].always
		}
	}
	for _, leaf := range a.leaves {
		if a.plan.Moves[leaf] && !a.passed[leaf] {
			a.plan.Branches = append(a.plan.Branches, leaf)
		}
	}
}

// keepUsage takes back the usage records whose requests are not finished. An
// answer that no record names is a request by itself.
func (a *archiver) keepUsage() {
	named := map[string]bool{}
	for i := range a.nodes {
		if said := a.nodes[i].said; said != nil && said.counts && said.fact.answer != "" {
			named[said.fact.answer] = true
		}
	}
	a.plan.named = named
	var facts []usageFact
	var at []int
	for i := range a.nodes {
		n := &a.nodes[i]
		if f, ok := n.usage(); ok && (f.request != "" || named[f.answer]) {
			f.kept = !a.plan.Moves[i]
			facts, at = append(facts, f), append(at, i)
		}
		for _, answer := range n.open() {
			facts, at = append(facts, usageFact{answer: answer, kept: true}), append(at, -1)
		}
	}
	for n, open := range unfinished(facts) {
		switch i := at[n]; {
		case i < 0 || !open || !a.plan.Moves[i]:
		case facts[n].request != "":
			a.plan.Moves[i] = false
		default:
			a.plan.Held[i] = true
		}
	}
}

// relink gives what stays its parents and checks that ids can name them.
func (a *archiver) relink() error {
	p := a.plan
	above := make([]int, len(a.nodes)) // the nearest ancestor that stays; -2: not known yet
	for i := range above {
		above[i] = -2
	}
	var walk []int
	for i := range a.nodes {
		if p.Moves[i] {
			p.Moved++
			continue
		}
		at := a.nodes[i].Parent
		for at >= 0 && p.Moves[at] && above[at] == -2 {
			walk = append(walk, at)
			at = a.nodes[at].Parent
		}
		if at >= 0 && p.Moves[at] {
			at = above[at]
		}
		for _, w := range walk {
			above[w] = at
		}
		walk = walk[:0]
		p.Parents[i] = at
		p.Relinked[i] = at != a.nodes[i].Parent || a.nodes[i].Inferred
	}
	return a.checkIDs()
}

// checkIDs refuses entries whose new parent has no id, or one that would name
// another entry: the nearest earlier one, else the first later one.
func (a *archiver) checkIDs() error {
	last := make(map[string]int)
	first := make(map[string]int)
	for i := len(a.nodes) - 1; i >= 0; i-- {
		if !a.plan.Moves[i] {
			first[a.nodes[i].ID] = i
		}
	}
	for i := range a.nodes {
		if a.plan.Moves[i] {
			continue
		}
		if parent := a.plan.Parents[i]; a.plan.Relinked[i] && parent >= 0 {
			id := a.nodes[parent].ID
			named, ok := last[id]
			if !ok {
				named = first[id]
			}
			if id == "" || named != parent {
				return fmt.Errorf("%w: no id names the new parent of entry %d", ErrNotArchivable, i+1)
			}
		}
		last[a.nodes[i].ID] = i
	}
	return nil
}
