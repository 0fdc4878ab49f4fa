package session

import (
	"context"
	"errors"
	"sync"

	"github.com/gajae-code/gjc-index/jsonl"
)

// ErrRecorded is a request whose last snapshot was recorded already.
var ErrRecorded = errors.New("request is finished")

// UsageRecorder records what one request to a provider uses, while it runs:
// snapshots that replace one another, the last of which says how it ended. Safe
// for several goroutines.
type UsageRecorder struct {
	s       *Session
	request string

	mu       sync.Mutex
	finished bool
	last     UsageSnapshot
}

// UsageSnapshot is what a request has used so far.
type UsageSnapshot struct {
	EntryID         string // the message that answers it; "" if there is none yet
	Provider, Model string

	Input, Output, CacheRead, CacheWrite float64 // tokens

	Cost *float64 // nil: the price is not known
}

// RecordUsage begins to record a request. Its name tells it from the session's
// other requests; nothing is appended yet.
func (s *Session) RecordUsage(request string) *UsageRecorder {
	return &UsageRecorder{s: s, request: request}
}

// Partial records a snapshot of a request that goes on. One that says what the
// last one said is not written again.
func (r *UsageRecorder) Partial(ctx context.Context, u UsageSnapshot) error {
	return r.record(ctx, jsonl.UsagePartial, u)
}

// Final records what a request has used in all. If the message that answers it
// tells the same usage, the record is not needed.
func (r *UsageRecorder) Final(ctx context.Context, u UsageSnapshot) error {
	return r.record(ctx, jsonl.UsageFinal, u)
}

// Aborted records what is known of a request that was given up. Its usage stays
// incomplete.
func (r *UsageRecorder) Aborted(ctx context.Context, u UsageSnapshot) error {
	return r.record(ctx, jsonl.UsageAborted, u)
}

// Failed records what is known of a request that ended in an error. Its usage
// stays incomplete.
func (r *UsageRecorder) Failed(ctx context.Context, u UsageSnapshot) error {
	return r.record(ctx, jsonl.UsageError, u)
}

func (r *UsageRecorder) record(ctx context.Context, state string, u UsageSnapshot) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.finished:
		return ErrRecorded
	case state == jsonl.UsagePartial && sameSnapshot(u, r.last):
		return nil
	}
	_, err := r.s.Append(ctx, NewData(&jsonl.UsageRecord{Request: r.request, State: state, EntryID: u.EntryID,
		Provider: u.Provider, Model: u.Model, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Cost: u.Cost}))
	if err == nil {
		r.last, r.finished = u, state != jsonl.UsagePartial
	}
	return err
}

func sameSnapshot(a, b UsageSnapshot) bool {
	if (a.Cost == nil) != (b.Cost == nil) || a.Cost != nil && *a.Cost != *b.Cost {
		return false
	}
	a.Cost, b.Cost = nil, nil
	return a == b
}
