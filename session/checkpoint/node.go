package checkpoint

import (
	"fmt"
	"strings"
	"unique"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Node is what PlanArchive needs to know of one entry, so that it can plan for
// a transcript too large to be held. It is small, since there may be millions.
type Node struct {
	ID       string // "" without one
	Parent   int    // position of its parent among the nodes; -1 for a root
	Labeled  bool   // it carries a label that is in force
	Inferred bool   // Parent is not what its parentId names: lines were lost

	heavy  bool // of a kind that an archive takes
	always bool // stays even on a branch that moves
	steers bool // steering
	answer bool // of the assistant: it says what was used, or could have
	kind   unique.Handle[nodeKind]
	said   *nodeSay
}

// nodeKind is the same for many entries.
type nodeKind struct {
	typ  string
	role string // of a message; of a model_change the role whose model it sets
}

// nodeSay is what few entries say: a pointer keeps a node small.
type nodeSay struct {
	firstKept string // firstKeptEntryId of a compaction

	fact   usageFact // of a record of a request
	counts bool
	open   []string // of a usage checkpoint: the answers that it keeps by themselves
}

// Type is the entry's type.
func (n *Node) Type() string { return n.kind.Value().typ }

// Role is that of a message; of a model_change the role whose model it sets.
func (n *Node) Role() string { return n.kind.Value().role }

// FirstKept is the firstKeptEntryId of a compaction.
func (n *Node) FirstKept() string {
	if n.said == nil {
		return ""
	}
	return n.said.firstKept
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
	kind := nodeKind{typ: e.Type(), role: e.Role()}
	n := Node{Parent: -1}
	n.ID, _ = e.ID()
	switch kind.typ {
	case "message", "branch_summary", "custom_message":
		n.heavy = true
	case "compaction":
		n.heavy = true
		n.said = &nodeSay{firstKept: e.Value().Get("firstKeptEntryId").Str()}
	case "model_change":
		kind.role = modelRole(e.Value())
	case "label", "session_init":
		n.always = true
	case "custom":
		k := e.Kind()
		n.heavy = !k.State && !k.Checkpoint
		n.always = k.Checkpoint || k.Name == jsonl.KindTaskScope || k.Name == jsonl.KindRewindOrigin
		n.steers = k.Name == jsonl.KindSteering
		n.said = sayOf(e)
	}
	n.answer = kind.role == "assistant"
	n.kind = unique.Make(kind)
	return n
}

// NodeMaker makes nodes of records, with few allocations. The zero value is
// ready. For one goroutine.
type NodeMaker struct {
	entries jsonl.EntryMaker
	kinds   map[string]unique.Handle[nodeKind] // of messages, by role as it stands
}

// Node is the node of a record that is an entry, as NodeOf makes it. e is the
// entry, nil for a message.
func (m *NodeMaker) Node(rec *jsonl.Record) (n Node, e *jsonl.Entry) {
	if !rec.Fields.Type.Equal("message") {
		e = m.entries.Entry(rec)
		n = NodeOf(e)
		n.ID = strings.Clone(n.ID)
		return n, e
	}
	role := rec.Fields.Role
	kind, ok := m.kinds[string(role.Raw())]
	if !ok {
		kind = unique.Make(nodeKind{typ: "message", role: role.WTF8()})
		if m.kinds == nil {
			m.kinds = map[string]unique.Handle[nodeKind]{}
		}
		if len(m.kinds) < 1000 {
			m.kinds[string(role.Raw())] = kind
		}
	}
	n = Node{Parent: -1, heavy: true, kind: kind, answer: role.Equal("assistant")}
	if rec.Fields.IDKind == jsonl.String {
		n.ID = rec.Fields.ID.WTF8()
	}
	return n, nil
}

// Folds reports whether an ArchiveFold has use for the entry.
func (n *Node) Folds() bool {
	switch k := n.kind.Value(); k.typ {
	case "message":
		return n.answer || k.role == "toolResult" || k.role == "bashExecution" || k.role == "pythonExecution"
	case "custom":
		return true
	}
	return false
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
func sayOf(e *jsonl.Entry) *nodeSay {
	var say nodeSay
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
