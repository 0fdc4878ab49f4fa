package index

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/migrations"
)

// searchPlan says how the older prompts are searched.
type searchPlan struct {
	nothing bool   // no prompt can match
	match   string // FTS5 expression that all matching prompts meet; "": look at all
}

const (
	// mostTokens is how many tokens a piece may stand for and still narrow.
	mostTokens = 300
	// mostPieces is how many pieces of a query narrow it; all but the best one
	// must not stand for more than alsoTokens.
	mostPieces = 8
	alsoTokens = 12
	// Looking at all prompts costs less than a narrowed search if more than
	// this part of them has all pieces, or each piece.
	manyHaveAll  = 0.08
	manyHaveEach = 0.25
)

// plan decides by the newest prompts how common the query's pieces are.
func (s *promptSearch) plan(ctx context.Context, recent []recentPrompt) (searchPlan, error) {
	var pieces []piece
	for _, term := range s.query.Terms {
		pieces = append(pieces, piecesOf(term)...)
		if len(pieces) > 4*mostPieces {
			break
		}
	}
	if len(pieces) == 0 || tooCommon(pieces, recent) {
		return searchPlan{}, nil
	}
	lists, err := s.tokenLists(ctx, pieces)
	if err != nil {
		return searchPlan{}, err
	}
	return planOf(pieces, lists), nil
}

// tooCommon reports whether so many prompts have the pieces that it is no use
// to look for them.
func tooCommon(pieces []piece, recent []recentPrompt) bool {
	if len(recent) < 200 {
		return false
	}
	all := 0
	each := make([]int, len(pieces))
	for _, p := range recent {
		having := 0
		for i, piece := range pieces {
			if bytes.Contains(p.text, piece.text) {
				each[i]++
				having++
			}
		}
		if having == len(pieces) {
			all++
		}
	}
	n := float64(len(recent))
	return float64(all) > manyHaveAll*n || float64(slices.Min(each)) > manyHaveEach*n
}

// tokenLists reads the lists of tokens, if a piece needs them.
func (s *promptSearch) tokenLists(ctx context.Context, pieces []piece) ([][]byte, error) {
	if !slices.ContainsFunc(pieces, func(p piece) bool { return !p.exact() }) {
		return nil, nil
	}
	return s.held.tokensOr(func() ([][]byte, error) {
		var blobs []migrations.Blob
		err := s.db.SelectContext(ctx, &blobs, `SELECT data FROM prompt_tokens`)
		lists := make([][]byte, len(blobs))
		for i, b := range blobs {
			lists[i] = b
		}
		return lists, err
	})
}

// planOf makes the FTS5 expression of the pieces with the fewest tokens.
func planOf(pieces []piece, lists [][]byte) searchPlan {
	type choice struct {
		tokens [][]byte
		dense  bool
	}
	var choices []choice
	for _, p := range pieces {
		tokens := p.lookup(lists, mostTokens)
		if len(tokens) == 0 && p.dense {
			return searchPlan{nothing: true}
		}
		if len(tokens) <= mostTokens {
			choices = append(choices, choice{tokens, p.dense})
		}
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return len(a.tokens) - len(b.tokens) })
	for i := range choices {
		if i == mostPieces || i > 0 && len(choices[i].tokens) > alsoTokens {
			choices = choices[:i]
			break
		}
	}
	var b strings.Builder
	for i, c := range choices {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteByte('(')
		seen := make(map[string]bool, len(c.tokens))
		for _, token := range c.tokens {
			if seen[string(token)] {
				continue
			}
			if len(seen) > 0 {
				b.WriteString(" OR ")
			}
			seen[string(token)] = true
			b.WriteString(`"` + string(token) + `"`)
		}
		if !c.dense { // it may stand in a run that is too long to be a token
			if len(seen) > 0 {
				b.WriteString(" OR ")
			}
			b.WriteString(`"` + longToken + `"`)
		}
		b.WriteByte(')')
	}
	return searchPlan{match: b.String()}
}

// searchWords looks at the prompts that FTS5 gives.
func (s *promptSearch) searchWords(ctx context.Context, match string) error {
	args := append([]any{match, s.low, s.high}, s.args...)
	return s.check(ctx, `
		SELECT `+candidateColumns+` FROM prompt_words w
		CROSS JOIN prompts p ON p.id = w.rowid`+withTexts+`
		WHERE w.prompt_words MATCH ? AND w.rowid >= ? AND w.rowid < ?`+s.where+`
		ORDER BY w.rowid DESC`, args...)
}

// marks are the ends of the ranges that the rowids to look at are cut into, the
// newest first.
func (s *promptSearch) marks(ctx context.Context) ([]int64, error) {
	var marks []int64
	err := s.db.SelectContext(ctx, &marks, `
		SELECT id FROM prompt_marks WHERE id > ? AND id < ? ORDER BY id DESC`, s.low, min(s.high, math.MaxInt64))
	return append(marks, s.low), err
}
