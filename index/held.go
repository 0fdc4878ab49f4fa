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
}

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
