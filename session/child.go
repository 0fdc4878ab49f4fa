package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/storage"
)

// Child opens or begins the transcript of a subagent, <name>.jsonl in the
// session's own directory. It has its own lease and names this session as its
// parent; its event ids come from the same sequence. Close it before this
// session.
//
// Errors: ErrBadID for a name that can be no file's, those of Store.Open.
func (s *Session) Child(ctx context.Context, name string) (*Session, error) {
	if err := CheckID(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return nil, err
	}
	header, err := s.st.newHeader("", s.cwd, s.header.ID())
	if err != nil {
		return nil, err
	}
	child := newCore(s.st)
	child.memory, child.managed, child.cwd = s.memory, s.managed, s.cwd
	child.startWith(header)
	if s.memory {
		return &Session{core: child}, nil
	}
	dir := stemOf(s.path)
	if err := storage.MkdirAll(s.st.fsys, dir); err != nil {
		return nil, fmt.Errorf("open child %s: %w", name, err)
	}
	child.place(filepath.Join(dir, name+".jsonl"))
	if child.held, err = s.st.hold(ctx, child.path, 0); err != nil {
		return nil, fmt.Errorf("open child %s: %w", name, err)
	}
	if err := child.resume(ctx); err != nil {
		return nil, fmt.Errorf("open child %s: %w", name, child.abandon(err))
	}
	return &Session{core: child}, nil
}

// resume takes up the transcript at the session's path, if there is one.
func (c *core) resume(ctx context.Context) error {
	t, err := c.st.read(ctx, c.path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.takeTranscript(ctx, t); err != nil {
		return err
	}
	if err := c.sanitizeLocked(ctx); err != nil {
		return err
	}
	return c.keepLocked()
}
