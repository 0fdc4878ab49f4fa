package index

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// textHit is a text that matches.
type textHit struct {
	file  *ScanFile
	order int64 // Unix ms; the lowest number if unknown
	line  int
	entry string
	role  Role
	text  string // empty if it was too old when found
	sum   uint64
}

// newer orders hits as they are shown.
func newer(a, b *textHit) int {
	return cmp.Or(cmp.Compare(b.order, a.order), cmp.Compare(a.file.Path, b.file.Path), cmp.Compare(b.line, a.line))
}

// top keeps the newest hits, equal texts once.
type top struct {
	limit  int
	counts map[uint64]int // by sum
	kept   map[uint64]*textHit
	oldest atomic.Int64 // a hit older than that has no place, once there are limit of them
}

func newTop(limit int) *top {
	t := &top{limit: limit, counts: map[uint64]int{}, kept: map[uint64]*textHit{}}
	t.oldest.Store(math.MinInt64)
	return t
}

// add takes a file's hits.
func (t *top) add(hits []*textHit) {
	for _, h := range hits {
		t.counts[h.sum]++
		had := t.kept[h.sum]
		if h.order < t.oldest.Load() || had != nil && newer(had, h) <= 0 {
			continue
		}
		t.kept[h.sum] = h
	}
	if t.limit > 0 && len(t.kept) >= 2*t.limit+64 {
		t.prune()
	}
}

// prune lets go of what is too old to be shown.
func (t *top) prune() {
	list := t.sorted()
	if t.limit > 0 && len(list) > t.limit {
		for _, h := range list[t.limit:] {
			delete(t.kept, h.sum)
		}
		t.oldest.Store(list[t.limit-1].order)
	}
}

func (t *top) sorted() []*textHit {
	list := make([]*textHit, 0, len(t.kept))
	for _, h := range t.kept {
		list = append(list, h)
	}
	slices.SortFunc(list, newer)
	return list
}

func (t *top) hits(q Query) []Hit {
	list := t.sorted()
	if t.limit > 0 && len(list) > t.limit {
		list = list[:t.limit]
	}
	hits := make([]Hit, len(list))
	for i, h := range list {
		hits[i] = Hit{
			Source: SourceSession, SessionID: h.file.SessionID, Path: h.file.Path, EntryID: h.entry, Line: h.line,
			Cwd: h.file.Cwd, Role: string(h.role), Text: h.text, Snippet: Snippet(h.text, q.Terms),
			Count: t.counts[h.sum],
		}
		if h.order != math.MinInt64 {
			hits[i].Time = time.UnixMilli(h.order).UTC()
		}
	}
	return hits
}
