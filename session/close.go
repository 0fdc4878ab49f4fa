package session

import (
	"context"
	"errors"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Close gives the handle up. With the last one the session ends: what was
// committed is synced, the sidecars are written, and the lease goes last. A
// session without an answer leaves no file unless the store keeps prompts.
// Close works once; later calls do nothing.
func (s *Session) Close() error {
	var err error
	s.closing.Do(func() { err = s.close(context.Background()) })
	return err
}

func (s *Session) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.refs--; s.refs > 0 {
		return nil
	}
	return s.endLocked(ctx)
}

// endLocked ends the session's stay at its transcript: the lease goes last,
// whatever failed before.
func (c *core) endLocked(ctx context.Context) error {
	if c.memory || c.held == nil {
		return nil
	}
	var errs []error
	if c.latched == nil {
		errs = append(errs, c.flushLocked(ctx), c.writeLeafLocked(ctx))
	}
	errs = append(errs, c.finishLates(ctx))
	c.writeMetaLocked(ctx)
	errs = append(errs, c.closeAppender(), c.held.release(!c.onDisk && !c.existsLocked()))
	c.held = nil
	return errors.Join(errs...)
}

// finishLates waits until nobody can be writing to a file that was replaced.
func (c *core) finishLates(ctx context.Context) error {
	if len(c.lates) == 0 {
		return nil
	}
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	var errs []error
	for _, r := range c.lates {
		if err := r.Finish(ctx); err != nil {
			errs = append(errs, err, r.Close())
		}
	}
	c.lates = nil
	return errors.Join(errs...)
}

// loadLocked reads the rest of a session that was opened for appending only.
func (c *core) loadLocked(ctx context.Context) error {
	if !c.partial {
		return nil
	}
	leaf := c.leaf
	t, err := jsonl.Load(ctx, c.st.fsys, c.path, jsonl.LoadOptions{})
	if err != nil {
		return err
	}
	if err := c.takeTranscript(ctx, t); err != nil {
		return err
	}
	c.leaf, c.patched = leaf, nil
	return c.sanitizeLocked(ctx)
}
