package main

import (
	"context"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/index"
)

// shortestID is the least that is shown of an id, so that a new session seldom
// makes yesterday's short form ambiguous.
const shortestID = 4

// ShortIDs gives for each id the shortest beginning of at least four
// characters that begins no other one, whatever its case; an id that is the
// beginning of another, or is there twice, stays whole. It takes one sort.
func ShortIDs(ids []string) map[string]string {
	type folded struct{ low, id string }
	list := make([]folded, len(ids))
	for i, id := range ids {
		list[i] = folded{strings.ToLower(id), id}
	}
	slices.SortFunc(list, func(x, y folded) int { return strings.Compare(x.low, y.low) })
	short := make(map[string]string, len(list))
	for i, f := range list {
		need := 0 // bytes
		if i > 0 {
			need = shared(f.low, list[i-1].low) + 1
		}
		if i+1 < len(list) {
			need = max(need, shared(f.low, list[i+1].low)+1)
		}
		if len(f.low) == len(f.id) { // else its small letters are longer, and stand elsewhere
			short[f.id] = beginning(f.id, need)
		} else {
			short[f.id] = f.id
		}
	}
	return short
}

// shared is how many bytes two texts begin with in common.
func shared(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

// beginning is the shortest beginning of whole characters that has so many
// bytes, and as many characters as are always shown.
func beginning(id string, bytes int) string {
	characters := 0
	for i := range id {
		if i >= bytes && characters >= shortestID {
			return id[:i]
		}
		characters++
	}
	return id
}

// shortIDs are the short forms of some ids of the index, and perhaps of others.
func shortIDs(ctx context.Context, x *index.Index, ids []string) (map[string]string, error) {
	near, err := x.NearIDs(ctx, ids)
	return ShortIDs(near), err
}

// sessionsOf are the sessions of hits.
func sessionsOf(hits []index.Hit) []string {
	var ids []string
	for _, h := range hits {
		if h.SessionID != "" {
			ids = append(ids, h.SessionID)
		}
	}
	return ids
}
