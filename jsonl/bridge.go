package jsonl

import "sort"

// NewBridgedTree is NewTree, but an entry whose parent is missing is linked to
// the entry before it where one of the lost lines lies between the two (or is
// the entry's own line, on which something torn stood before it). lost are
// line numbers in ascending order. Source: behaviour decision 5.
func NewBridgedTree(entries []*Entry, lost []int) *Tree {
	t := NewTree(entries)
	for i := 1; i < len(t.entries); i++ {
		if !t.orphan(i) {
			continue
		}
		from, to := t.entries[i-1].Line, t.entries[i].Line
		k := sort.SearchInts(lost, from+1)
		if k == len(lost) || lost[k] > to {
			continue
		}
		if t.bridged == nil {
			t.bridged = make(map[int32]struct{})
		}
		t.bridged[int32(i)] = struct{}{}
		t.parent[i] = int32(i - 1)
	}
	if t.bridged != nil {
		t.recut()
	}
	return t
}

// recut looks for cycles again, over all edges in file order.
func (t *Tree) recut() {
	t.cut = nil
	t.up = make([]int32, len(t.entries))
	for i := range t.up {
		t.up[i] = int32(i)
	}
	for i := range t.entries {
		t.join(int32(i))
	}
}

// orphan reports whether the entry at position i names a parent that is not there.
func (t *Tree) orphan(i int) bool {
	if t.parent[i] != none {
		return false
	}
	id, kind := t.entries[i].Parent()
	return kind == String && id != "" && t.position(id) == none
}

// Tree joins the transcript's entries; with bridge, over the lines that were
// lost (see NewBridgedTree).
func (t *Transcript) Tree(bridge bool) *Tree {
	if !bridge {
		return NewTree(t.Records)
	}
	return NewBridgedTree(t.Records, t.lostLines())
}

// lostLines are the lines of which something was lost, in ascending order.
func (t *Transcript) lostLines() []int {
	lost := append([]int(nil), t.lost...)
	sort.Ints(lost)
	return lost
}

// Warnings are what is odd about the tree, in file order: parents that are
// missing or were bridged, and compactions whose first kept entry is not on
// the path before them.
func (t *Tree) Warnings() []Warning {
	missing := t.firstKeptMissing()
	var warnings []Warning
	for i, e := range t.entries {
		if _, ok := t.bridged[int32(i)]; ok {
			warnings = append(warnings, Warning{e.Line, BridgedParent})
		} else if t.orphan(i) {
			warnings = append(warnings, Warning{e.Line, OrphanParent})
		}
		if missing[i] {
			warnings = append(warnings, Warning{e.Line, FirstKeptMissing})
		}
	}
	return warnings
}

// firstKeptMissing finds the compactions whose firstKeptEntryId names neither
// an entry above them nor themselves. One walk over the tree counts the ids of
// the path it is on, so it is linear however many compactions there are.
func (t *Tree) firstKeptMissing() map[int]bool {
	compactions := false
	for _, e := range t.entries {
		compactions = compactions || e.Type() == "compaction"
	}
	if !compactions {
		return nil
	}
	first, next := t.edgeLists()
	above := make(map[string]int)
	missing := make(map[int]bool)
	for root := range t.entries {
		if t.ParentAt(root) >= 0 {
			continue
		}
		for at, down := int32(root), true; at != none; {
			if down {
				t.enter(at, above, missing)
				if first[at] != none {
					at = first[at]
					continue
				}
			}
			if id, ok := t.entries[at].ID(); ok {
				above[id]--
			}
			switch {
			case at == int32(root):
				at = none
			case next[at] != none:
				at, down = next[at], true
			default:
				at, down = int32(t.ParentAt(int(at))), false
			}
		}
	}
	return missing
}

func (t *Tree) enter(at int32, above map[string]int, missing map[int]bool) {
	e := t.entries[at]
	id, hasID := e.ID()
	if e.Type() == "compaction" {
		first := e.Value().Get("firstKeptEntryId")
		own := hasID && first.Str() == id
		if !first.Is(String) || (above[first.Str()] == 0 && !own) {
			missing[int(at)] = true
		}
	}
	if hasID {
		above[id]++
	}
}

// edgeLists are, by position, the first child and the next sibling.
func (t *Tree) edgeLists() (first, next []int32) {
	first, next = make([]int32, len(t.entries)), make([]int32, len(t.entries))
	for i := range first {
		first[i], next[i] = none, none
	}
	for i := len(t.entries) - 1; i >= 0; i-- {
		if p := t.ParentAt(i); p >= 0 {
			next[i] = first[p]
			first[p] = int32(i)
		}
	}
	return first, next
}
