package session

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// Effects is the evidence of files that a session has changed, over all its
// branches and what was archived. It is only ever added to: neither a restore
// nor a summary takes anything away. Calls without structured results, such as
// a shell's, prove nothing and are counted.
//
// Errors: those of Whole.
func (s *Store) Effects(ctx context.Context, path string) (*checkpoint.Effects, error) {
	t, err := s.Whole(ctx, path)
	if err != nil {
		return nil, err
	}
	return effectsOf(t), nil
}

func effectsOf(t *jsonl.Transcript) *checkpoint.Effects {
	return checkpoint.FoldEffects(nil, t.Entries())
}

// EffectFile is the file that an effect is about: relative paths lie in the
// session's workspace.
func EffectFile(cwd, path string) string {
	if filepath.IsAbs(path) || cwd == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// TaskScope is what the session was delegated, and the steering that came since,
// on the way to the leaf.
func (s *Session) TaskScope(ctx context.Context) (*checkpoint.TaskScope, error) {
	var task *checkpoint.TaskScope
	err := s.View(ctx, func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		task = checkpoint.FoldTaskScope(nil, tree.Path(leaf))
		return nil
	})
	return task, err
}

// Delegate records what a session is asked to do, right after its session_init.
// A turn then begins only while the scope can be read, if it is required.
//
// Errors: ErrTaskScope if the session was delegated something already, or its
// last entry is no session_init; those of AppendBatch.
func (s *Session) Delegate(ctx context.Context, task jsonl.TaskScope) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return "", err
	}
	path := s.tree.Path(s.leaf)
	if len(path) == 0 || path[len(path)-1].Type() != "session_init" {
		return "", fmt.Errorf("%w: it comes right after session_init", ErrTaskScope)
	}
	if checkpoint.FoldTaskScope(nil, path).Found {
		return "", fmt.Errorf("%w: there is one already", ErrTaskScope)
	}
	r, err := s.appendLocked(ctx, NewData(&task))
	if err != nil {
		return "", err
	}
	return r.IDs[0], nil
}
