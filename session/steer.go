package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// Steer appends an instruction for the task that runs, or its acknowledgement.
// It is checked first against what was sent before.
//
// Errors: checkpoint.ErrSteering, those of AppendBatch.
func (s *Session) Steer(ctx context.Context, steering jsonl.Steering) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return "", err
	}
	if err := s.loadLocked(ctx); err != nil {
		return "", err
	}
	task := checkpoint.FoldTaskScope(nil, s.tree.Path(s.leaf))
	if err := task.Admit(steering); err != nil {
		return "", err
	}
	r, err := s.appendLocked(ctx, NewData(&steering))
	if err != nil {
		return "", err
	}
	return r.IDs[0], nil
}
