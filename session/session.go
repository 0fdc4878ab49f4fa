package session

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Session is one transcript open for writing: its lease, its sidecars and its
// leaf. Close it. Safe for several goroutines; entries it returns must not be
// changed.
type Session struct {
	*core
	closing sync.Once
	closed  bool // guarded by core.mu
}

// core is what the clones of one session share.
type core struct {
	st *Store

	mu         sync.Mutex
	refs       int           // clones that are not closed
	turn       chan struct{} // holds a token while no turn runs
	cut        int           // texts that were too long for the file
	cutPending int           // of them those of records encoded and not yet written

	stay
}

// stay is all that belongs to the transcript a session is at. A fork, a move or
// another file gives the session another one.
type stay struct {
	path    string // "" in memory
	dir     string // "" in memory
	cwd     string
	managed bool // in a scope
	memory  bool // never on disk

	header  *jsonl.Header
	leading []*jsonl.Entry // title records before the header
	records []*jsonl.Entry // everything after it, second headers included
	tree    *jsonl.Tree
	leaf    jsonl.Leaf

	onDisk  bool  // the transcript exists
	rewrite bool  // it must be written anew before anything is appended
	setCopy bool  // and kept as it is before that, once
	partial bool  // only its end was read: no tree
	size    int64 // its length as this session left it
	base    int64 // its length when it was read or written whole
	gen     int   // the rewrite of held that app belongs to

	held    *held
	app     *jsonl.Appender
	lates   []*jsonl.Rewrite // rewrites whose old file may still get lines
	foreign []byte           // lines that others appended, which no record here stands for

	strangers   bool           // others have appended since base
	foreignKept int            // of foreign: what lies before base
	patched     map[string]int // patch records appended since base

	buf   []byte
	stamp stamp
	dirty bool // appended and not synced

	leafFile bool                    // a leaf file may be there
	moved    [len(movedEndings)]bool // what a move has taken along so far
	latched  error
	meta     *metaState
	draft    string        // of a session in memory
	title    *jsonl.Header // whose title is shown after Branched; nil: the session's own
}

func newCore(st *Store) *core {
	c := &core{st: st, refs: 1, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// usableLocked says why the session can't be used any more, if it can't.
func (s *Session) usableLocked() error {
	if s.closed {
		return ErrClosed
	}
	return nil
}

// ID is the session's id.
func (s *Session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header.ID()
}

// Path is where the transcript is or will be; "" for a session in memory.
func (s *Session) Path() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path
}

// Dir is the directory of the transcript; "" for a session in memory.
func (s *Session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// Cut is how many texts this session has cut, since they were longer than
// jsonl.MaxText, or cleared: of those that are written, and each time that
// they were. It may be asked after Close.
func (s *Session) Cut() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// Cwd is the session's workspace as its header spells it.
func (s *Session) Cwd() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cwd
}

// Header is a copy of the header record.
func (s *Session) Header() *jsonl.Obj {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header.Value().Clone()
}

// Title is the session's title; ok is false if it has none.
func (s *Session) Title() (title string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.titleLocked()
}

func (c *core) titleLocked() (string, bool) {
	t := jsonl.Transcript{Header: c.titledLocked(), Leading: c.leading}
	return t.Title()
}

// titledLocked is the header that says the title.
func (c *core) titledLocked() *jsonl.Header {
	if c.title != nil {
		return c.title
	}
	return c.header
}

// TitleSource says who chose the title; "" if the header doesn't.
func (s *Session) TitleSource() TitleSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	return TitleSource(s.titledLocked().TitleSource())
}

// OnDisk reports whether the transcript has been written: before the first
// answer a new session is in memory only.
func (s *Session) OnDisk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.onDisk
}

// Entries are the entries in file order, with references to blobs as they are.
func (s *Session) Entries(ctx context.Context) ([]*jsonl.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return nil, err
	}
	return append([]*jsonl.Entry(nil), s.tree.Entries()...), nil
}

// View calls fn with the tree and the leaf while nothing can change them. fn
// must not keep the tree or call the session.
func (s *Session) View(ctx context.Context, fn func(tree *jsonl.Tree, leaf jsonl.Leaf) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	return fn(s.tree, s.leaf)
}

// Resolve is an entry with its blobs in their places; a missing one shows as a
// placeholder and is reported.
func (s *Session) Resolve(ctx context.Context, e *jsonl.Entry) (jsonl.Value, []jsonl.MissingBlob, error) {
	return s.st.resolve(ctx, e)
}

// Context is what the model is sent at the leaf, and the state in force.
// Images are in their places.
func (s *Session) Context(ctx context.Context) (*jsonl.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return nil, err
	}
	path := s.tree.Path(s.leaf)
	resolved := make([]*jsonl.Entry, len(path))
	for i, e := range path {
		r, err := s.st.resolvedEntry(ctx, e)
		if err != nil {
			return nil, err
		}
		resolved[i] = r
	}
	return jsonl.BuildContext(resolved), nil
}

// resolve puts the blobs of an entry in their places.
func (s *Store) resolve(ctx context.Context, e *jsonl.Entry) (jsonl.Value, []jsonl.MissingBlob, error) {
	v := jsonl.ObjectValue(e.Value())
	if !mayRefer(e) {
		return v, nil, nil
	}
	return jsonl.Resolve(ctx, s.blobs, v)
}

// resolvedEntry is an entry with its blobs in their places, or itself if it
// refers to none.
func (s *Store) resolvedEntry(ctx context.Context, e *jsonl.Entry) (*jsonl.Entry, error) {
	if !mayRefer(e) {
		return e, nil
	}
	v, _, err := jsonl.Resolve(ctx, s.blobs, jsonl.ObjectValue(e.Value()))
	if err != nil || v.Obj() == e.Value() {
		return e, err
	}
	return jsonl.NewEntry(v.Obj()), nil
}

// LeafEntry is the entry at which the next one is appended; nil before all
// entries.
func (s *Session) LeafEntry(ctx context.Context) (*jsonl.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return nil, err
	}
	return s.tree.LeafEntry(s.leaf), nil
}

// LastModelChangeRole is the role of the last model change on the way to the
// leaf; ok is false without one.
func (s *Session) LastModelChangeRole(ctx context.Context) (role string, ok bool, err error) {
	err = s.View(ctx, func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		role, ok = jsonl.LastModelChangeRole(tree.Path(leaf))
		return nil
	})
	return role, ok, err
}

// InjectedTTSRRules are the names of the rules injected on the way to the leaf.
func (s *Session) InjectedTTSRRules(ctx context.Context) (rules []string, err error) {
	err = s.View(ctx, func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		rules = jsonl.InjectedTTSRRules(tree.Path(leaf))
		return nil
	})
	return rules, err
}

// Clone is another handle of the same session. The lease stays until the last
// of them is closed.
func (s *Session) Clone() (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.refs++
	return &Session{core: s.core}, nil
}

// place puts the session at a path of a directory.
func (c *core) place(path string) { c.path, c.dir = path, filepath.Dir(path) }

// latch keeps the first write error, which every later write answers until the
// session is opened again. It is logged once.
func (c *core) latch(err error) {
	if c.latched == nil && err != nil {
		c.latched = err
		c.st.opt.Log.Error("session stopped writing", "path", c.path, "cause", err)
	}
}

// latchedError is the answer of a session that stopped.
func (c *core) latchedError() error {
	return &jsonl.AppendError{Outcome: jsonl.RolledBack, Err: errors.Join(ErrLatched, c.latched)}
}
