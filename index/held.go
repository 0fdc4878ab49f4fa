package index

import (
	"context"
	"sync"

	"github.com/gajae-code/gjc-index/migrations"
)

// held is what searches of prompts have read and the next ones need again. It
// holds for one generation of the database: each writer gives it another number.
// Safe for several goroutines.
type held struct {
	generation int64

	mu     sync.Mutex
	recent *recentPrompts
	tokens [][]byte
	rows   map[[2]int64]rowRange // by the ids that the range is between
}

// rowsIn is what keepRows was given for a range.
func (h *held) rowsIn(span [2]int64) (r rowRange, ok bool) {
	if h == nil {
		return r, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok = h.rows[span]
	return r, ok
}

// keepRows keeps which rows of history.db a range of prompts has. Ranges that no
// later search asks for are few: a search that begins somewhere else has one.
func (h *held) keepRows(span [2]int64, r rowRange) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows == nil || len(h.rows) > maxRanges {
		h.rows = map[[2]int64]rowRange{}
	}
	h.rows[span] = r
}

// maxRanges bounds what is kept of ranges.
const maxRanges = 10_000

// held is the one for the database as it is now. The generation is read before
// what is kept under it, so that nothing older than it says is ever used.
func (x *Index) held(ctx context.Context, db *migrations.DB) (*held, error) {
	var now int64
	err := db.GetContext(ctx, &now, `SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'generation'), 0)`)
	if err != nil {
		return nil, err
	}
	x.heldMu.Lock()
	defer x.heldMu.Unlock()
	if x.heldHas == nil || x.heldHas.generation != now {
		x.heldHas = &held{generation: now}
	}
	return x.heldHas, nil
}

// forget drops what was read of a database that is no longer open.
func (x *Index) forget() {
	x.heldMu.Lock()
	defer x.heldMu.Unlock()
	x.heldHas = nil
}

// recentOr gives the newest prompts, by read the first time.
func (h *held) recentOr(read func() (recentPrompts, error)) (recentPrompts, error) {
	if h == nil {
		return read()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent == nil {
		recent, err := read()
		if err != nil {
			return recent, err
		}
		h.recent = &recent
	}
	return *h.recent, nil
}

// tokensOr gives the lists of tokens, by read the first time.
func (h *held) tokensOr(read func() ([][]byte, error)) ([][]byte, error) {
	if h == nil {
		return read()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tokens == nil {
		lists, err := read()
		if err != nil {
			return lists, err
		}
		h.tokens = append([][]byte{}, lists...)
	}
	return h.tokens, nil
}
