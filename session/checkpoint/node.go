package checkpoint

import (
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Node is what PlanArchive needs to know of one entry, so that it can plan for
// a transcript too large to be held.
type Node struct {
	ID        string // "" without one
	Type      string
	Role      string // of a message; of a model_change the role whose model it sets
	FirstKept string // firstKeptEntryId of a compaction
	Parent    int    // position of its parent among the nodes; -1 for a root
	Labeled   bool   // it carries a label that is in force
	Inferred  bool   // Parent is not what its parentId names: lines were lost

	heavy  bool // of a kind that an archive takes
	always bool // stays even on a branch that moves
	steers bool // steering
	answer bool // of the assistant: it says what was used, or could have
	said   *nodeUsage
}

// nodeUsage is what few entries say: a pointer keeps a node small.
type nodeUsage struct {
	fact   usageFact // of a record of a request
	counts bool
	open   []string // of a usage checkpoint: the answers that it keeps by themselves
}

// usage is the fact that an entry has; ok is false without one.
func (n *Node) usage() (f usageFact, ok bool) {
	if n.answer {
		return usageFact{answer: n.ID}, true
	}
	if n.said == nil {
		return usageFact{}, false
	}
	return n.said.fact, n.said.counts
}

// open are the answers that a usage checkpoint keeps by themselves.
func (n *Node) open() []string {
	if n.said == nil {
		return nil
	}
	return n.said.open
}

// NodeOf is the node of an entry, without Parent, Labeled and Inferred. It
// keeps none of the entry's memory but its id.
func NodeOf(e *jsonl.Entry) Node {
	n := Node{Type: e.Type(), Role: e.Role(), Parent: -1}
	n.ID, _ = e.ID()
	switch n.Type {
	case "message", "branch_summary", "custom_message":
		n.heavy = true
	case "compaction":
		n.heavy = true
		n.FirstKept = e.Value().Get("firstKeptEntryId").Str()
	case "model_change":
		n.Role = modelRole(e.Value())
	case "label", "session_init":
		n.always = true
	case "custom":
		kind := e.Kind()
		n.heavy = !kind.State && !kind.Checkpoint
		n.always = kind.Checkpoint || kind.Name == jsonl.KindTaskScope || kind.Name == jsonl.KindRewindOrigin
		n.steers = kind.Name == jsonl.KindSteering
		n.said = sayOf(e)
	}
	n.answer = n.Role == "assistant"
	return n
}

// modelRole is the role whose model a model_change sets; "" if it sets none.
func modelRole(o *jsonl.Obj) string {
	if !o.Get("model").Truthy() {
		return ""
	}
	if role := o.Get("role"); !role.Is(jsonl.Absent) && !role.Is(jsonl.Null) {
		return role.JSON()
	}
	return defaultRole
}

// defaultRole is the role "default", as JSON.
const defaultRole = `"default"`

// sayOf is what a custom entry says of usage; nil for most.
func sayOf(e *jsonl.Entry) *nodeUsage {
	var say nodeUsage
	for _, f := range carriedAnswers(e) {
		say.open = append(say.open, f.answer)
	}
	say.fact, say.counts = usageFactOf(e)
	if !say.counts && len(say.open) == 0 {
		return nil
	}
	return &say
}

// NodesOf are the nodes of a tree, in the order of its entries. A tree with a
// cycle can't be archived: ErrNotArchivable.
func NodesOf(t *jsonl.Tree) ([]Node, error) {
	entries := t.Entries()
	nodes := make([]Node, len(entries))
	for i, e := range entries {
		n := NodeOf(e)
		n.Parent = t.ParentAt(i)
		_, n.Labeled = t.Label(n.ID)
		parent, kind := e.Parent()
		named := kind == jsonl.String && parent != ""
		switch {
		case n.Parent >= 0:
			id, _ := entries[n.Parent].ID()
			n.Inferred = id != parent
		case named && t.Entry(parent) != nil:
			return nil, fmt.Errorf("%w: line %d closes a cycle of parents", ErrNotArchivable, e.Line)
		}
		nodes[i] = n
	}
	return nodes, nil
}
