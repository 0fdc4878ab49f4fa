package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
)

// A session can go on in another file: a fork, a branch of its own, a new
// session, a file that exists. The new place is made whole, and its lease
// taken, before the old one is given up; if that fails the session stays where
// it was.

// nextLocked is a place in the same directory for a session with this header.
func (c *core) nextLocked(ctx context.Context, h *jsonl.Header) (*core, error) {
	next := newCore(c.st)
	next.memory, next.managed, next.cwd = c.memory, c.managed, c.cwd
	next.startWith(h)
	if c.memory {
		return next, nil
	}
	next.place(filepath.Join(c.dir, scope.SessionFileName(h.Timestamp(), h.ID())))
	var err error
	if next.held, err = c.st.hold(ctx, next.path, 0); err != nil {
		return nil, err
	}
	return next, nil
}

// enterLocked gives up the transcript that the session is at for another one.
func (c *core) enterLocked(ctx context.Context, next *core) error {
	err := c.endLocked(ctx)
	c.stay = next.stay
	return err
}

// dropNext gives up a place that could not be made.
func dropNext(next *core, err error) error {
	if next.held == nil {
		return err
	}
	return next.abandon(err)
}

// copiesOf are entries as another session takes them: their values with their
// images in place, without event ids, which belong to the original.
func (s *Store) copiesOf(ctx context.Context, entries []*jsonl.Entry) ([]*jsonl.Entry, error) {
	copies := make([]*jsonl.Entry, len(entries))
	for i, e := range entries {
		v, _, err := s.resolve(ctx, e)
		if err != nil {
			return nil, err
		}
		o := v.Obj().Clone()
		o.Delete(eventKey)
		copies[i] = jsonl.NewEntry(o)
	}
	return copies, nil
}

// setRecords gives a place its records.
func (c *core) setRecords(records []*jsonl.Entry) {
	c.records = records
	c.tree = treeOf(records)
	c.leaf = jsonl.LeafLast()
}

// NewSession goes on with a session that holds nothing yet, in the same
// directory and workspace. It returns its path; the transcript comes with the
// first answer.
func (s *Session) NewSession(ctx context.Context, parent string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return "", err
	}
	h, err := s.st.newHeader("", s.cwd, parent)
	if err != nil {
		return "", err
	}
	next, err := s.nextLocked(ctx, h)
	if err != nil {
		return "", fmt.Errorf("begin session: %w", err)
	}
	if err := s.enterLocked(ctx, next); err != nil {
		return "", err
	}
	s.st.opened(s.cwd, s.path)
	return s.path, nil
}

// SetFile goes on with the session at path, which is inspected strictly; one
// that is missing is begun there. If it is refused the session stays where it
// is.
//
// Errors: those of Store.Open, *InspectError, *MissingBlobError.
func (s *Session) SetFile(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	place, err := s.st.placeOf(path)
	if err == nil && place == placeLegacy {
		place = placeScope
		path, err = s.st.migrated(ctx, path, s.st.opt.Migration)
	}
	if err != nil {
		return fmt.Errorf("switch session: %w", err)
	}
	next, err := s.st.openAt(ctx, path, place == placeScope, OpenOptions{Strict: true, Cwd: s.cwd})
	if err != nil {
		return fmt.Errorf("switch session: %w", err)
	}
	if err := s.enterLocked(ctx, next); err != nil {
		return err
	}
	s.st.opened(s.cwd, s.path)
	return nil
}

// isThere reports whether anything has a name.
func (s *Store) isThere(path string) (bool, error) {
	_, err := s.fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
