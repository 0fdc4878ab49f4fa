package jsonl

import "iter"

// Node is one entry with its children, oldest first.
type Node struct {
	Entry    *Entry
	Label    string // "" without one; entries that share an id show it on the last
	Children []*Node
}

// Roots are the trees of all entries that have no parent, in file order. Nodes
// can be as deep as there are entries: walk them with Walk, not by recursion.
// Source: behaviour part 13.
func (t *Tree) Roots() []*Node {
	nodes := make([]Node, len(t.entries))
	count := make([]int32, len(t.entries))
	for i := range t.entries {
		nodes[i].Entry = t.entries[i]
		if p := t.ParentAt(i); p >= 0 {
			count[p]++
		}
	}
	slab := make([]*Node, 0, len(t.entries))
	for i, n := range count {
		if n > 0 {
			nodes[i].Children = slab[len(slab) : len(slab) : len(slab)+int(n)]
			slab = slab[:len(slab)+int(n)]
		}
	}
	var roots []*Node
	for i := range nodes {
		if p := t.ParentAt(i); p >= 0 {
			nodes[p].Children = append(nodes[p].Children, &nodes[i])
		} else {
			roots = append(roots, &nodes[i])
		}
	}
	for i := range nodes {
		sortByTime(nodes[i].Children)
	}
	for _, l := range t.Labels() {
		if i := t.position(l.Target); i != none {
			nodes[i].Label = l.Text
		}
	}
	return roots
}

// Walk goes through trees from the top, parents before their children, with
// each node's depth (0 for a root).
func Walk(roots []*Node) iter.Seq2[int, *Node] {
	type place struct {
		nodes []*Node
		next  int
	}
	return func(yield func(int, *Node) bool) {
		stack := []place{{nodes: roots}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(top.nodes) {
				stack = stack[:len(stack)-1]
				continue
			}
			n := top.nodes[top.next]
			top.next++
			if !yield(len(stack)-1, n) {
				return
			}
			stack = append(stack, place{nodes: n.Children})
		}
	}
}

// sortByTime puts siblings in the order of their timestamps, those that can't
// be read as equal to any. Such a comparison is no order, so the result hangs
// on the algorithm: a merge sort from the bottom up, as the original's.
func sortByTime(nodes []*Node) {
	if len(nodes) < 2 {
		return
	}
	type dated struct {
		node *Node
		ms   float64
		ok   bool
	}
	src := make([]dated, len(nodes))
	for i, n := range nodes {
		ms, ok := ParseDate(n.Entry.Timestamp())
		src[i] = dated{n, ms, ok}
	}
	dst := make([]dated, len(nodes))
	for width := 1; width < len(src); width *= 2 {
		for start := 0; start < len(src); start += 2 * width {
			left, right := start, min(start+width, len(src))
			leftEnd, rightEnd := right, min(right+width, len(src))
			for at := start; at < rightEnd; at++ {
				takeRight := left >= leftEnd
				if !takeRight && right < rightEnd {
					l, r := src[left], src[right]
					takeRight = l.ok && r.ok && r.ms < l.ms
				}
				if takeRight {
					dst[at] = src[right]
					right++
				} else {
					dst[at] = src[left]
					left++
				}
			}
		}
		src, dst = dst, src
	}
	for i := range nodes {
		nodes[i] = src[i].node
	}
}
