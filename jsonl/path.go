package jsonl

// Path is the entries from the root to leaf. It ends where a parent is missing
// or where the walk meets an entry again; it is nil for LeafRoot and for an
// unknown id.
func (t *Tree) Path(leaf Leaf) []*Entry {
	positions := t.PathPositions(leaf)
	if positions == nil {
		return nil
	}
	path := make([]*Entry, len(positions))
	for i, at := range positions {
		path[i] = t.entries[at]
	}
	return path
}

// PathPositions is Path as positions in Entries.
func (t *Tree) PathPositions(leaf Leaf) []int {
	at := t.leafPosition(leaf)
	if at == none {
		return nil
	}
	var path []int
	// Without a cut edge there is no cycle and no entry comes twice.
	var seen []bool
	if len(t.cut) > 0 {
		seen = make([]bool, len(t.entries))
	} else {
		depth := 0
		for i := at; i != none; i = t.parent[i] {
			depth++
		}
		path = make([]int, 0, depth)
	}
	for at != none && (seen == nil || !seen[at]) {
		if seen != nil {
			seen[at] = true
		}
		path = append(path, int(at))
		at = t.parent[at]
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// Unlabeled is a path as a branched session takes it: without its labels, and
// still one chain. An entry whose parent was left out, or was linked over a
// hole, names the entry before it; a firstKeptEntryId that named a label names
// the next entry kept before the compaction, or else the compaction itself.
// Entries that stay as they are are those of path; the others are copies.
// Source: behaviour part 14 and decision 7.
func Unlabeled(path []*Entry) []*Entry {
	var kept []*Entry
	seen := make(map[string]place, len(path))
	for i, e := range path {
		id, hasID := e.ID()
		if e.Type() == "label" {
			seen[id] = place{label: hasID, next: len(kept)}
			continue
		}
		var o *Obj
		if i > 0 {
			o = relinked(e, kept)
		}
		if e.Type() == "compaction" {
			o = refirsted(e, o, seen, kept)
		}
		if o != nil {
			e = NewEntry(o)
		}
		if hasID {
			seen[id] = place{}
		}
		kept = append(kept, e)
	}
	return kept
}

// place is where an id was last met on a path.
type place struct {
	label bool
	next  int // of a label: how many entries were kept before it
}

// relinked is a copy of e that names the last kept entry; nil if it does already.
func relinked(e *Entry, kept []*Entry) *Obj {
	want := NullValue()
	if len(kept) > 0 {
		id, ok := kept[len(kept)-1].ID()
		if !ok {
			return nil
		}
		want = StringValue(id)
	}
	if id, kind := e.Parent(); kind == want.Kind() && id == want.Str() {
		return nil
	}
	o := e.Value().Clone()
	o.Set("parentId", want)
	return o
}

// refirsted is o, or a copy of e if that is nil, with a firstKeptEntryId that
// names a kept entry where it named a label; o as it is where nothing changes.
func refirsted(e *Entry, o *Obj, seen map[string]place, kept []*Entry) *Obj {
	first := e.Value().Get("firstKeptEntryId")
	p := seen[first.Str()]
	if !first.Is(String) || !p.label {
		return o
	}
	id, _ := e.ID()
	if p.next < len(kept) {
		id, _ = kept[p.next].ID()
	}
	if o == nil {
		o = e.Value().Clone()
	}
	o.Set("firstKeptEntryId", StringValue(id))
	return o
}
