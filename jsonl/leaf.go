package jsonl

// Leaf says where in a tree one stands: at the last entry (the zero Leaf),
// before all entries, or at an entry. It is comparable.
type Leaf struct {
	kind leafKind
	id   string
}

type leafKind uint8

const (
	leafLast leafKind = iota
	leafRoot
	leafAt
)

// LeafLast is the last entry in file order.
func LeafLast() Leaf { return Leaf{} }

// LeafRoot stands before all entries: the path is empty and the next entry
// becomes a root. The format calls it a null leaf.
func LeafRoot() Leaf { return Leaf{kind: leafRoot} }

// LeafAt is the last entry with id.
func LeafAt(id string) Leaf { return Leaf{kind: leafAt, id: id} }

// IsRoot reports whether l is LeafRoot.
func (l Leaf) IsRoot() bool { return l.kind == leafRoot }

// ID is the entry id that l names; ok is false unless it was made by LeafAt.
func (l Leaf) ID() (id string, ok bool) { return l.id, l.kind == leafAt }

// LeafEntry is the entry at leaf; nil for LeafRoot, an unknown id or a tree
// without entries.
func (t *Tree) LeafEntry(leaf Leaf) *Entry {
	if i := t.leafPosition(leaf); i != none {
		return t.entries[i]
	}
	return nil
}

func (t *Tree) leafPosition(leaf Leaf) int32 {
	switch leaf.kind {
	case leafRoot:
		return none
	case leafAt:
		return t.position(leaf.id)
	}
	return int32(len(t.entries)) - 1
}

// ContextLeaf is the leaf whose context is built when one asks by id: an id
// that is empty or unknown means the last entry. Source: behaviour part 8.
func (t *Tree) ContextLeaf(id string) Leaf {
	if t.position(id) == none {
		return LeafLast()
	}
	return LeafAt(id)
}
