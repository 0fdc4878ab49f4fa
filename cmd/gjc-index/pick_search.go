package main

import (
	"bytes"
	"context"
	"math/bits"
	"slices"

	"github.com/gajae-code/gjc-index/index"
)

// A session is found if each term stands in its title, its first prompt, its
// directory or its id, or in one prompt together with all the other terms that
// don't. The first part is looked up here, the second asked of the index: one
// search for each set of terms that some sessions lack.

// pickMetas are what is searched of each session without the index, kept from
// one key to the next.
type pickMetas struct {
	ask        pickAsk
	generation int64
	rows       []pickMeta
}

type pickMeta struct {
	item   pickItem
	folded []byte
}

const (
	searchedTerms = 16   // more are not looked for in titles
	searchedSets  = 6    // searches of prompts for one query
	searchedHits  = 1000 // prompts of one such search, for a first answer
	deepHits      = 20000
	shownTitle    = 40   // columns of a title, which are surely seen
	foldedPrompt  = 1024 // bytes of a first prompt; the index knows the rest
)

// metasOf are all sessions of an ask in its order.
func (p *pickIndex) metasOf(ctx context.Context, x *index.Index, ask pickAsk) ([]pickMeta, error) {
	ask.text, ask.limit, ask.deep = "", 0, false
	generation := p.generation.Load()
	p.mu.Lock()
	kept := p.metas
	p.mu.Unlock()
	if kept.ask == ask && kept.generation == generation && kept.rows != nil {
		return kept.rows, nil
	}
	rows, total, err := x.Sessions(ctx, ask.filter())
	if err != nil {
		return nil, err
	}
	metas := make([]pickMeta, 0, total)
	var text []byte
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		text = append(append(text[:0], row.Title...), '\n')
		text = append(append(text, row.FirstPrompt[:min(len(row.FirstPrompt), foldedPrompt)]...), '\n')
		text = append(append(append(append(text, row.Cwd...), '\n'), row.ID...), '\n')
		metas = append(metas, pickMeta{pickItem{Row: cutRow(row)}, slices.Clip(index.Fold(nil, string(text)))})
	}
	p.mu.Lock()
	p.metas = pickMetas{ask, generation, metas}
	p.mu.Unlock()
	return metas, nil
}

func (p *pickIndex) search(ctx context.Context, x *index.Index, ask pickAsk, q index.Query) (pickRows, error) {
	metas, err := p.metasOf(ctx, x, ask)
	if err != nil {
		return pickRows{}, err
	}
	terms := q.Terms[:min(len(q.Terms), searchedTerms)]
	lacks := make([]uint32, len(metas)) // the terms that a session's own line lacks
	count := map[uint32]int{}
	for i, meta := range metas {
		for n, term := range terms {
			if !bytes.Contains(meta.folded, term) {
				lacks[i] |= 1 << n
			}
		}
		if len(q.Terms) > len(terms) {
			lacks[i] = 1<<len(terms) - 1 // a prompt must hold them all
		}
		count[lacks[i]]++
	}
	var out pickRows
	found := map[uint32]map[string]string{}
	for _, set := range searchedFirst(count, len(terms)) {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		hits, more, err := prompts(ctx, x, ask, termsOf(q, terms, set))
		if err != nil {
			return out, err
		}
		found[set], out.partial = hits, out.partial || more
	}
	for i, meta := range metas {
		item := meta.item
		snippet, ok := found[lacks[i]][item.Path]
		if lacks[i] != 0 && !ok {
			continue
		}
		if item.found = snippet; lacks[i] == 0 && index.ParseQuery(ask.text).Match(index.Fold(nil, fit(titleOf(item.Row), shownTitle))) {
			item.found = "" // the title shows why it is here
		}
		out.items = append(out.items, item)
	}
	out.total = len(out.items)
	out.partial = out.partial && out.total < len(metas)
	return out, nil
}

// searchedFirst are the sets of terms that prompts are searched for: all of
// them, and those that most sessions lack.
func searchedFirst(count map[uint32]int, terms int) []uint32 {
	all := uint32(1)<<terms - 1
	sets := []uint32{all}
	for set := range count {
		if set != 0 && set != all {
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets[1:], func(a, b uint32) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return bits.OnesCount32(a) - bits.OnesCount32(b)
	})
	return sets[:min(len(sets), searchedSets)]
}

// termsOf is the query of a set of terms.
func termsOf(q index.Query, terms [][]byte, set uint32) index.Query {
	if bits.OnesCount32(set) == len(terms) {
		return q
	}
	var out index.Query
	for n, term := range terms {
		if set&(1<<n) != 0 {
			out.Terms = append(out.Terms, term)
		}
	}
	return out
}

// prompts are the newest prompts that a query finds: the text of each session's
// newest by the session's path. more says that there are others.
func prompts(ctx context.Context, x *index.Index, ask pickAsk, q index.Query) (found map[string]string, more bool, err error) {
	most := searchedHits
	if ask.deep {
		most = deepHits
	}
	all, err := x.Search(ctx, index.SearchRequest{Query: q, Role: index.RoleUser, Project: ask.project,
		Sources: []index.Source{index.SourceSession}, Repeats: true, Limit: most})
	if err != nil {
		return nil, false, err
	}
	found = map[string]string{}
	for _, hit := range all.Hits {
		if _, ok := found[hit.Path]; !ok {
			found[hit.Path] = hit.Snippet
		}
	}
	return found, len(all.Hits) >= most, nil
}
