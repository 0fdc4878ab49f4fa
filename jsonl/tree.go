package jsonl

// Tree is the entries of one transcript joined by their parents. The parent of
// an entry is the nearest earlier entry with the id that parentId names; only
// if there is none, the first later one. An entry is itself and not its id:
// entries that share an id are nodes of their own. An edge that would close a
// cycle makes its child a root; edges are tried in file order.
//
// A Tree is safe for several goroutines as long as none calls Append. Source:
// behaviour part 13 and decision 4.
type Tree struct {
	entries []*Entry
	parent  []int32            // by position: what parentId resolves to, -1 without one
	cut     map[int32]struct{} // children whose edge would close a cycle
	bridged map[int32]struct{} // children linked over lost lines
	up      []int32            // union-find over the edges; made at the first later parent

	symbols   map[string]int32 // a number for each id that is borne or named
	newest    symbol           // the one asked for last: an entry mostly names the one before
	last      []int32          // by symbol: the last entry that bears it, -1 if none does
	named     []chain          // by symbol: the entries that name it as their parent
	nextNamed []int32          // by position: the next entry that names the same parent

	labels labelMap
}

// symbol is an id and its number.
type symbol struct {
	id  string
	num int32
}

// chain is a list of positions kept in Tree.nextNamed.
type chain struct{ first, last int32 }

const none = int32(-1)

// NewTree joins entries, which are in file order, in linear time. Records that
// are no nodes (second headers) are left out.
func NewTree(entries []*Entry) *Tree {
	t := &Tree{
		entries:   make([]*Entry, 0, len(entries)),
		parent:    make([]int32, 0, len(entries)),
		nextNamed: make([]int32, 0, len(entries)),
		symbols:   make(map[string]int32, len(entries)),
		last:      make([]int32, 0, len(entries)),
		named:     make([]chain, 0, len(entries)),
	}
	for _, e := range entries {
		t.Append(e)
	}
	return t
}

// Append adds the entry that comes next in the file. Its cost does not depend
// on the tree's size.
func (t *Tree) Append(e *Entry) {
	if e.Type() == "session" {
		return
	}
	at := int32(len(t.entries))
	t.entries = append(t.entries, e)
	t.parent = append(t.parent, none)
	t.nextNamed = append(t.nextNamed, none)
	if t.up != nil {
		t.up = append(t.up, at)
	}
	if parent, kind := e.Parent(); kind == String && parent != "" {
		sym := t.number(parent)
		t.name(at, sym)
		t.parent[at] = t.last[sym]
	}
	if id, ok := e.ID(); ok && id != "" {
		t.bear(at, t.number(id))
	}
	if t.up != nil {
		t.join(at)
	}
	if e.Type() == "label" {
		t.labels.apply(e.Value())
	}
}

// number is the symbol of an id that is not empty.
func (t *Tree) number(id string) int32 {
	if t.newest.id == id {
		return t.newest.num
	}
	s, ok := t.symbols[id]
	if ok {
		t.newest = symbol{id, s}
		return s
	}
	s = int32(len(t.last))
	t.newest = symbol{id, s}
	t.symbols[id] = s
	t.last = append(t.last, none)
	t.named = append(t.named, chain{none, none})
	return s
}

// name adds the entry to those that name an id.
func (t *Tree) name(at, sym int32) {
	c := &t.named[sym]
	if c.first == none {
		c.first = at
	} else {
		t.nextNamed[c.last] = at
	}
	c.last = at
}

// bear makes the newest entry the bearer of its id. If it is the first one,
// the earlier entries that name the id become its children; only then can its
// own edge close a cycle.
func (t *Tree) bear(at, sym int32) {
	first := t.last[sym] == none
	t.last[sym] = at
	if !first {
		return
	}
	for child := t.named[sym].first; child != none; child = t.nextNamed[child] {
		if child == at {
			continue // it names itself: a root
		}
		if t.up == nil {
			t.startUnion()
		}
		t.parent[child] = at
		t.up[child] = at
	}
}

// startUnion makes the union-find of all edges but the newest entry's.
func (t *Tree) startUnion() {
	t.up = make([]int32, len(t.entries), cap(t.entries))
	for i, p := range t.parent {
		t.up[i] = int32(i)
		if p != none && i < len(t.parent)-1 {
			t.up[i] = p
		}
	}
}

// join adds the edge of the newest entry, or cuts it if it closes a cycle.
func (t *Tree) join(at int32) {
	p := t.parent[at]
	if p == none {
		return
	}
	if t.find(p) != at {
		t.up[at] = p
		return
	}
	if t.cut == nil {
		t.cut = make(map[int32]struct{})
	}
	t.cut[at] = struct{}{}
}

func (t *Tree) find(i int32) int32 {
	for t.up[i] != i {
		t.up[i] = t.up[t.up[i]]
		i = t.up[i]
	}
	return i
}

// Len is the number of entries.
func (t *Tree) Len() int { return len(t.entries) }

// Entries are all entries in file order. The caller must not change the slice.
func (t *Tree) Entries() []*Entry { return t.entries }

// ParentAt is the position of the parent of the entry at position i in
// Entries; -1 for a root.
func (t *Tree) ParentAt(i int) int {
	if _, ok := t.cut[int32(i)]; ok {
		return -1
	}
	return int(t.parent[i])
}

// Entry is the last entry with id; nil if there is none.
func (t *Tree) Entry(id string) *Entry {
	if i := t.position(id); i != none {
		return t.entries[i]
	}
	return nil
}

func (t *Tree) position(id string) int32 {
	if s, ok := t.symbols[id]; ok {
		return t.last[s]
	}
	return none
}

// Children are the entries that name id as their parent, in file order,
// whichever entry of that id their edge leads to.
func (t *Tree) Children(id string) []*Entry {
	s, ok := t.symbols[id]
	if !ok {
		return nil
	}
	var children []*Entry
	for i := t.named[s].first; i != none; i = t.nextNamed[i] {
		children = append(children, t.entries[i])
	}
	return children
}

// Leaves are the entries without children, in file order.
func (t *Tree) Leaves() []*Entry {
	inner := make([]bool, len(t.entries))
	for i := range t.entries {
		if p := t.ParentAt(i); p >= 0 {
			inner[p] = true
		}
	}
	var leaves []*Entry
	for i, e := range t.entries {
		if !inner[i] {
			leaves = append(leaves, e)
		}
	}
	return leaves
}
