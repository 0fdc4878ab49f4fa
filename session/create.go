package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// CreateOptions say what a new session begins with. The zero value is a
// managed session without a title.
type CreateOptions struct {
	Dir           string // explicit directory; "" is the scope of the workspace
	ID            string // chosen by the host, see LifecycleID; "" makes one
	ParentSession string // opaque; "" is none
	Title         string // given by the user; "" is none
	Tools         jsonl.InitialTools
	Wait          time.Duration
}

// Create begins a session in a workspace. Its scope is made at once, but the
// transcript only with the first answer, or by EnsureOnDisk.
//
// Errors: *scope.Error, ErrBusy, ErrBadID.
func (s *Store) Create(ctx context.Context, cwd string, opt CreateOptions) (*Session, error) {
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return nil, err
	}
	dir, managed, err := s.ensureDir(ctx, cwd, opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	header, err := s.newHeader(opt.ID, cwd, opt.ParentSession)
	if err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	c := newCore(s)
	c.managed, c.cwd = managed, cwd
	c.startWith(header)
	c.place(filepath.Join(dir, scope.SessionFileName(header.Timestamp(), header.ID())))
	if c.held, err = s.hold(ctx, c.path, opt.Wait); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	session := &Session{core: c}
	if err := session.startEntries(ctx, opt); err != nil {
		return nil, errors.Join(err, c.held.release(true))
	}
	s.opened(cwd, c.path)
	return session, nil
}

// startEntries gives a new session its title and its tool selections.
func (s *Session) startEntries(ctx context.Context, opt CreateOptions) error {
	if opt.Title != "" {
		if _, err := s.SetTitle(ctx, opt.Title, TitleByUser); err != nil {
			return err
		}
	}
	var batch []New
	correlation := uuid4()
	n := 0
	for range opt.Tools.Entries(correlation, func() jsonl.Base { return jsonl.Base{} }) {
		i := n
		batch = append(batch, func(b jsonl.Base, _ string) *jsonl.Obj {
			return opt.Tools.Entries(correlation, func() jsonl.Base { return b })[i]
		})
		n++
	}
	_, err := s.AppendBatch(ctx, batch...)
	return err
}

// InMemory begins a session that behaves as any other and is never on disk.
func (s *Store) InMemory(cwd string) (*Session, error) {
	header, err := s.newHeader("", cwd, "")
	if err != nil {
		return nil, err
	}
	c := newCore(s)
	c.memory, c.cwd = true, cwd
	c.startWith(header)
	return &Session{core: c}, nil
}

// ensureDir is where the sessions of a workspace go.
func (s *Store) ensureDir(ctx context.Context, cwd, explicit string) (dir string, managed bool, err error) {
	if explicit == "" {
		sc, err := scope.Ensure(ctx, s.fsys, s.opt.Home, cwd)
		if err != nil {
			return "", false, err
		}
		return sc.Dir, true, nil
	}
	if explicit, err = filepath.Abs(explicit); err != nil {
		return "", false, err
	}
	if err := s.prepare(); err != nil {
		return "", false, err
	}
	return explicit, false, storage.MkdirAll(s.fsys, explicit)
}

// newHeader is the header of a session that begins now. An empty id makes one.
func (s *Store) newHeader(id, cwd, parent string) (*jsonl.Header, error) {
	err := CheckID(id)
	if id == "" {
		id, err = s.newSessionID()
	}
	if err != nil {
		return nil, err
	}
	o := s.headerStart(id)
	o.Set("timestamp", jsonl.StringValue(s.timestamp()))
	o.Set("cwd", jsonl.StringValue(cwd))
	if parent != "" {
		o.Set("parentSession", jsonl.StringValue(parent))
	}
	return jsonl.NewHeader(o), nil
}

func (s *Store) headerStart(id string) *jsonl.Obj {
	return jsonl.NewObj(
		jsonl.Member{Key: "type", Value: jsonl.StringValue("session")},
		jsonl.Member{Key: "version", Value: jsonl.NumberValue(jsonl.CurrentVersion)},
		jsonl.Member{Key: "id", Value: jsonl.StringValue(id)},
	)
}

// startWith makes the core a session that holds nothing but its header.
func (c *core) startWith(h *jsonl.Header) {
	c.header = h
	c.leading, c.records, c.foreign, c.foreignKept = nil, nil, nil, 0
	c.tree, c.leaf = jsonl.NewTree(nil), jsonl.LeafLast()
	c.onDisk, c.rewrite, c.setCopy, c.partial, c.dirty = false, false, false, false, false
	c.size, c.base, c.patched, c.strangers = 0, 0, nil, false
	c.meta = nil
}

// begin makes a new session at a path that nothing has, on disk at once.
func (c *core) begin(ctx context.Context) error {
	if err := c.beginInMemory(); err != nil {
		return err
	}
	return c.publishLocked(ctx, nil)
}

// beginOver makes a new session of a file that holds nothing but white space.
func (c *core) beginOver(ctx context.Context) error {
	if err := c.beginInMemory(); err != nil {
		return err
	}
	err := storage.Replace(ctx, c.st.fsys, c.path, newFileMode, func(w io.Writer) error {
		n, err := c.writeAll(ctx, w, nil)
		c.wroteAll(n)
		return err
	})
	if err != nil {
		return err
	}
	c.onDisk = true
	return c.keepLocked()
}

func (c *core) beginInMemory() error {
	cwd := c.cwd
	if cwd == "" {
		var err error
		if cwd, err = c.st.projectDir(); err != nil {
			return err
		}
	}
	h, err := c.st.newHeader("", cwd, "")
	if err != nil {
		return err
	}
	c.startWith(h)
	c.cwd = cwd
	return nil
}

// EnsureOnDisk writes the session even if it has no answer yet.
func (s *Session) EnsureOnDisk(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensureLocked(ctx)
}

func (s *Session) ensureLocked(ctx context.Context) error {
	if err := s.usableLocked(); err != nil {
		return err
	}
	return s.ensureOnDiskLocked(ctx)
}

// ensureOnDiskLocked writes what is in memory only, or in an older format.
func (c *core) ensureOnDiskLocked(ctx context.Context) error {
	if c.latched != nil {
		return c.latchedError()
	}
	var err error
	switch {
	case c.memory:
	case !c.onDisk:
		err = c.publishLocked(ctx, nil)
	case c.rewrite:
		err = c.rewriteLocked(ctx, nil)
	}
	if err != nil {
		_, err = c.failed(err)
	}
	return err
}

// Flush makes durable what was committed. A session that holds prompts and no
// answer is written if the store keeps those.
func (s *Session) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	return s.flushLocked(ctx)
}

func (c *core) flushLocked(ctx context.Context) error {
	if c.latched != nil {
		return c.latchedError()
	}
	if c.memory {
		return nil
	}
	if !c.onDisk && c.st.opt.KeepUnanswered && c.promptedLocked() {
		if err := c.ensureOnDiskLocked(ctx); err != nil {
			return err
		}
	}
	if !c.dirty || c.app == nil {
		return nil
	}
	if err := c.syncLocked(); err != nil {
		_, err := c.failed(&jsonl.AppendError{Outcome: jsonl.Uncertain, Err: fmt.Errorf("sync: %w", err)})
		return err
	}
	c.dirty = false
	return nil
}

// syncLocked makes durable what was appended, in the file that another session
// of this store may have put in the place of the one it was appended to.
func (c *core) syncLocked() error {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	if err := c.appenderLocked(); err != nil {
		return err
	}
	return c.app.Sync()
}

// promptedLocked reports whether the session holds a prompt of the user.
func (c *core) promptedLocked() bool {
	for _, e := range c.records {
		if e.Role() == "user" {
			return true
		}
	}
	return false
}
