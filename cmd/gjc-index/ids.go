package main

import (
	"cmp"
	"context"
	"slices"
	"unicode"

	"github.com/gajae-code/gjc-index/index"
)

// shortestID is the least that is shown of an id, so that a new session seldom
// makes yesterday's short form ambiguous.
const shortestID = 4

// ShortIDs gives for each id the shortest beginning of at least four
// characters that begins no other one, whatever its case; an id that is the
// beginning of another, or is there twice, stays whole. It takes one sort.
func ShortIDs(ids []string) map[string]string {
	type folded struct {
		id    string
		runes []rune
	}
	list := make([]folded, 0, len(ids))
	for _, id := range ids {
		f := folded{id, []rune(id)}
		for i, r := range f.runes {
			f.runes[i] = unicode.ToLower(r)
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y folded) int {
		return cmp.Or(slices.Compare(x.runes, y.runes), cmp.Compare(x.id, y.id))
	})
	short := make(map[string]string, len(list))
	for i, f := range list {
		need := shortestID
		if i > 0 {
			need = max(need, shared(f.runes, list[i-1].runes)+1)
		}
		if i+1 < len(list) {
			need = max(need, shared(f.runes, list[i+1].runes)+1)
		}
		short[f.id] = firstRunes(f.id, need)
	}
	return short
}

// shared is how many runes two texts begin with in common.
func shared(x, y []rune) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// idLister gives the ids of all sessions without the rest of their rows.
type idLister interface {
	IDs(ctx context.Context) ([]string, error)
}

// shortIDs are the short forms of all ids of the index.
func shortIDs(ctx context.Context, x *index.Index) (map[string]string, error) {
	if l, ok := any(x).(idLister); ok {
		ids, err := l.IDs(ctx)
		return ShortIDs(ids), err
	}
	rows, _, err := x.Sessions(ctx, index.Filter{Damaged: index.DamagedToo, Children: true})
	if err != nil {
		return nil, err
	}
	var ids []string
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.ID)
	}
	return ShortIDs(ids), nil
}
