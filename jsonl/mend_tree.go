package jsonl

// rename gives every entry an id of its own. Of several with one id the last
// keeps it, since that is the one that everything outside of the tree means.
func (m *mender) rename() {
	m.tree = NewTree(m.t.Records)
	m.ids = make([]string, m.tree.Len())
	used := make(map[string]bool, len(m.tree.symbols))
	for id := range m.tree.symbols {
		used[id] = true // also of parents that are missing: nobody shall become one
	}
	next := uint64(0)
	for i, e := range m.tree.entries {
		id, ok := e.ID()
		if ok && id != "" && m.tree.position(id) == int32(i) {
			m.ids[i] = id
			continue
		}
		for next++; used[hexString(next, 8)]; next++ {
		}
		m.ids[i] = hexString(next, 8)
		if ok && id != "" {
			m.note(e.Line, MendRenamed, "")
		} else {
			m.note(e.Line, MendCompleted, "")
		}
	}
}

// relink gives every entry a parent that is there. Where the file names none,
// or one that is not there, that is the entry before it, unless that one
// descends from it.
func (m *mender) relink() {
	n := m.tree.Len()
	m.parent = make([]int32, n)
	up := make([]int32, n)
	var lost []int
	for i, e := range m.tree.entries {
		m.parent[i], up[i] = int32(m.tree.ParentAt(i)), int32(i)
		if m.parent[i] >= 0 {
			up[i] = m.parent[i]
			continue
		}
		said, kind := e.Parent()
		if kind != Null && (kind != String || said != "") {
			lost = append(lost, i)
		}
	}
	for _, i := range lost {
		what := MendRelinked
		if said, _ := m.tree.entries[i].Parent(); said != "" && m.tree.position(said) != none {
			what = MendUncycled
		}
		if before := int32(i) - 1; before >= 0 && rootOf(up, before) != int32(i) {
			m.parent[i], up[i] = before, before
		}
		m.note(m.tree.entries[i].Line, what, "")
	}
}

// rootOf is the root above an entry; it shortens the way for the next time.
func rootOf(up []int32, i int32) int32 {
	for up[i] != i {
		up[i] = up[up[i]]
		i = up[i]
	}
	return i
}

// keepFirst makes every compaction name an entry above it, or itself, as the
// first that it keeps: the nearest above it with that id. One walk over the tree
// knows the entries of the path that it is on by their ids.
func (m *mender) keepFirst() {
	m.named = map[int]string{}
	some := false
	for _, e := range m.tree.entries {
		some = some || e.kind == "compaction"
	}
	if !some {
		return
	}
	first, next := m.edges()
	above := map[string][]int32{}
	for root, p := range m.parent {
		if p >= 0 {
			continue
		}
		for at, down := int32(root), true; at != none; {
			e := m.tree.entries[at]
			id, ok := e.ID()
			if down {
				m.keepAt(at, e, above)
				if ok {
					above[id] = append(above[id], at)
				}
				if first[at] != none {
					at = first[at]
					continue
				}
			}
			if ok {
				above[id] = above[id][:len(above[id])-1]
			}
			switch {
			case at == int32(root):
				at = none
			case next[at] != none:
				at, down = next[at], true
			default:
				at, down = m.parent[at], false
			}
		}
	}
}

// keepAt settles what one compaction keeps.
func (m *mender) keepAt(at int32, e *Entry, above map[string][]int32) {
	if e.kind != "compaction" {
		return
	}
	said := e.Value().Get("firstKeptEntryId").Str()
	want := m.ids[at]
	id, ok := e.ID()
	if path := above[said]; len(path) > 0 {
		want = m.ids[path[len(path)-1]]
	} else if !ok || said != id {
		m.note(e.Line, MendKept, "")
	}
	if want != said {
		m.named[int(at)] = want
	}
}

// edges are, by position, the first child and the next sibling.
func (m *mender) edges() (first, next []int32) {
	first, next = make([]int32, len(m.parent)), make([]int32, len(m.parent))
	for i := range first {
		first[i], next[i] = none, none
	}
	for i := len(m.parent) - 1; i >= 0; i-- {
		if p := m.parent[i]; p >= 0 {
			next[i] = first[p]
			first[p] = int32(i)
		}
	}
	return first, next
}
