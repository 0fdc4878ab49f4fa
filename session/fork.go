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

// Fork goes on with a copy of the session: the same entries under a new id,
// with its artifacts. The copy is on disk at once, the old session stays as it
// is, and the leaf is where it was. from and to are the two paths, "" in
// memory.
//
// Errors: scope.ErrConflict if the copy's path is taken, ErrBusy.
func (s *Session) Fork(ctx context.Context) (from, to string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return "", "", err
	}
	if err := s.loadLocked(ctx); err != nil {
		return "", "", err
	}
	h, err := s.forkHeader()
	if err != nil {
		return "", "", err
	}
	from = s.path
	next, err := s.nextLocked(ctx, h)
	if err != nil {
		return "", "", fmt.Errorf("fork: %w", err)
	}
	if err := s.fillFork(ctx, next); err != nil {
		return "", "", fmt.Errorf("fork: %w", dropNext(next, err))
	}
	leaf := s.leaf
	if err := s.enterLocked(ctx, next); err != nil {
		return "", "", err
	}
	s.leaf = leaf
	return from, s.path, s.writeLeafLocked(ctx)
}

// forkHeader is the header of a fork, title and source before the time.
func (c *core) forkHeader() (*jsonl.Header, error) {
	id, err := c.st.newSessionID()
	if err != nil {
		return nil, err
	}
	o := c.st.headerStart(id)
	for _, key := range []string{"title", "titleSource"} {
		if v := c.titledLocked().Value().Get(key); v.Is(jsonl.String) {
			o.Set(key, v)
		}
	}
	o.Set("timestamp", jsonl.StringValue(c.st.timestamp()))
	o.Set("cwd", jsonl.StringValue(c.cwd))
	o.Set("parentSession", jsonl.StringValue(c.header.ID()))
	return jsonl.NewHeader(o), nil
}

// fillFork brings a fork to disk: artifacts first, so that a transcript never
// stands without them.
func (s *Session) fillFork(ctx context.Context, next *core) error {
	copies, err := s.st.copiesOf(ctx, s.records)
	if err != nil {
		return err
	}
	next.setRecords(copies)
	if s.memory {
		return nil
	}
	for _, path := range []string{next.path, stemOf(next.path)} {
		if taken, err := s.st.isThere(path); err != nil || taken {
			return errors.Join(err, fmt.Errorf("%s: %w", filepath.Base(path), scope.ErrConflict))
		}
	}
	if !s.managed {
		if err := s.st.fsys.Chmod(s.dir, 0o700); err != nil {
			return err
		}
	}
	if err := s.st.copyBelongings(ctx, stemOf(s.path), stemOf(next.path)); err != nil {
		return err
	}
	return next.publishLocked(ctx, nil)
}

// Branched goes on with a session of its own that holds the path to an entry:
// labels on it are set anew at the end, and none is in between. It is on disk
// at once. It returns its path, "" in memory.
//
// Errors: ErrNoEntry, ErrBusy.
func (s *Session) Branched(ctx context.Context, id string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.branchableLocked(ctx, id); err != nil {
		return "", err
	}
	h, err := s.st.newHeader("", s.cwd, s.path)
	if err != nil {
		return "", err
	}
	next, err := s.nextLocked(ctx, h)
	if err != nil {
		return "", fmt.Errorf("branch: %w", err)
	}
	next.title = s.titledLocked()
	if err := s.fillBranch(ctx, next, id); err != nil {
		return "", fmt.Errorf("branch: %w", dropNext(next, err))
	}
	if err := s.enterLocked(ctx, next); err != nil {
		return "", err
	}
	return s.path, nil
}

func (s *Session) fillBranch(ctx context.Context, next *core, id string) error {
	kept, err := s.st.copiesOf(ctx, jsonl.Unlabeled(s.tree.Path(jsonl.LeafAt(id))))
	if err != nil {
		return err
	}
	onPath := map[string]bool{}
	for _, e := range kept {
		id, _ := e.ID()
		onPath[id] = true
	}
	next.setRecords(kept)
	for _, l := range s.tree.Labels() {
		if !onPath[l.Target] {
			continue
		}
		label, _, err := next.makeLocked([]New{newLabel(l.Target, jsonl.StringValue(l.Text))})
		if err != nil {
			return err
		}
		next.takeLocked(label)
	}
	if s.memory {
		return nil
	}
	if err := s.st.copyArchive(ctx, s.path, next.path); err != nil {
		return err
	}
	return next.publishLocked(ctx, nil)
}

// ForkFrom begins a session in a workspace with the entries of another file,
// which is read leniently and not changed. It is on disk at once. A source
// that is missing or no session gives a session that holds nothing. dir is ""
// for the workspace's scope.
//
// Errors: jsonl.ErrTooNew, those of Create.
func (s *Store) ForkFrom(ctx context.Context, source, cwd, dir string) (*Session, error) {
	t, err := jsonl.Load(ctx, s.fsys, source, jsonl.LoadOptions{})
	switch {
	case errors.Is(err, fs.ErrNotExist), err != nil && isNoHeader(err):
		t = nil
	case err != nil:
		return nil, fmt.Errorf("fork from %s: %w", filepath.Base(source), err)
	}
	parent := ""
	if t != nil {
		t.Upgrade(s.opt.UpgradeIDs)
		parent = t.Header.ID()
	}
	session, err := s.Create(ctx, cwd, CreateOptions{Dir: dir, ParentSession: parent})
	if err != nil {
		return nil, err
	}
	if t != nil {
		err = s.copyArchive(ctx, source, session.Path())
	}
	if err == nil {
		err = session.fillFrom(ctx, t)
	}
	if err != nil {
		return nil, fmt.Errorf("fork from %s: %w", filepath.Base(source), errors.Join(err, session.Close()))
	}
	return session, nil
}

func (s *Session) fillFrom(ctx context.Context, t *jsonl.Transcript) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t != nil {
		copies, err := s.st.copiesOf(ctx, t.Records)
		if err != nil {
			return err
		}
		for _, e := range copies {
			if message, changed := jsonl.Sanitized(e); changed {
				e.SetMessage(message)
			}
		}
		s.setRecords(copies)
		if title, ok := t.Title(); ok {
			s.header.Set("title", jsonl.StringValue(title))
		}
		if v := t.Header.Value().Get("titleSource"); v.Is(jsonl.String) {
			s.header.Set("titleSource", v)
		}
	}
	return s.ensureOnDiskLocked(ctx)
}
