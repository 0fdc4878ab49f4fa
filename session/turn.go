package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// Turn is the right to run one turn of a session: a process runs one at a time
// on each, over all clones. End it.
type Turn struct {
	ctx  context.Context
	end  func()
	once sync.Once
}

// Context is what the work of the turn is called with: it says that the turn
// is running, so that nested work joins it.
func (t *Turn) Context() context.Context { return t.ctx }

// End lets the next turn begin. The second call does nothing.
func (t *Turn) End() { t.once.Do(t.end) }

// BeginTurn waits until no other turn runs, or until ctx ends. Within the
// context of a turn of the same session it joins that turn.
//
// Errors: ctx's own, ErrClosed, ErrTaskScope if the task that the session was
// delegated, and its policy, are required and missing or can't be read.
func (s *Session) BeginTurn(ctx context.Context) (*Turn, error) {
	if admitted(ctx, rankActivation, s.core) {
		return &Turn{ctx: ctx, end: func() {}}, nil
	}
	inner := enter(ctx, rankActivation, s.core)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, fmt.Errorf("begin turn: %w", ctx.Err())
	}
	t := &Turn{ctx: inner, end: func() { s.turn <- struct{}{} }}
	if err := s.mayRun(ctx); err != nil {
		t.End()
		return nil, fmt.Errorf("begin turn: %w", err)
	}
	return t, nil
}

// mayRun refuses a turn of a session that is closed, or whose required task
// scope can't be honoured.
func (s *Session) mayRun(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	task := checkpoint.FoldTaskScope(nil, s.tree.Path(s.leaf))
	if err := task.Check(s.st.opt.RequireTaskScope); err != nil {
		return fmt.Errorf("%w: %w", ErrTaskScope, err)
	}
	return nil
}
