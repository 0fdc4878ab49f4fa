package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// OpenOptions say how a session is opened. The zero value is right for most.
type OpenOptions struct {
	AppendOnly bool          // read only the end of the file; what needs more reads the rest when it is asked for
	Wait       time.Duration // how long to wait for another process's lease; 0 answers ErrBusy at once
	Migration  scope.Policy  // of a legacy session; "" is the store's
	Strict     bool          // refuse what the original's strict reader refuses, and missing images
	Existing   bool          // begin nothing: a missing file is fs.ErrNotExist, one without a header jsonl.ErrNotTranscript
	Cwd        string        // workspace of a session that is begun; "" is the store's ProjectDir
}

// Open opens the session at path for writing and takes its lease. A file that
// is missing, or holds nothing but white space, becomes a new session at once;
// one that holds anything else and no valid header is set aside first, whole.
// A legacy session is migrated. Nothing else is written, except that messages
// which must not be continued as they are get a patch.
//
// Errors: ErrBusy, jsonl.ErrTooNew, storage.ErrUnsafe, *scope.Error.
func (s *Store) Open(ctx context.Context, path string, opt OpenOptions) (*Session, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOf(path)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", filepath.Base(path), err)
	}
	if place == placeLegacy {
		return s.openLegacy(ctx, path, opt)
	}
	c, err := s.openAt(ctx, path, place == placeScope, opt)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", filepath.Base(path), err)
	}
	s.opened(c.cwd, c.path)
	return &Session{core: c}, nil
}

// place is what kind of directory a transcript lies in. A link below the
// sessions directory is what its name says: one in place of a scope is refused,
// and nothing is written through any other.
type place uint8

const (
	placeExplicit place = iota // a directory the user chose
	placeScope                 // a scope, or below one
	placeLegacy                // anything else under the sessions directory
)

func (s *Store) placeOf(path string) (place, error) {
	if s.opt.Home.Dir() == "" {
		return placeExplicit, nil
	}
	root, dir := s.opt.Home.Sessions(), filepath.Dir(path)
	named, below := firstBelow(root, dir)
	if real, err := storage.RealPath(root); err == nil {
		root = real
	}
	if real, err := storage.RealPath(dir); err == nil {
		dir = real
	}
	first, in := firstBelow(root, dir)
	if below && first != named {
		if _, ok := scope.DigestOf(named); ok {
			return placeExplicit, &storage.UnsafeError{Path: filepath.Join(s.opt.Home.Sessions(), named), Reason: "is a link"}
		}
		return placeLegacy, nil
	}
	if !in {
		return placeExplicit, nil
	}
	if _, ok := scope.DigestOf(first); ok {
		return placeScope, nil
	}
	return placeLegacy, nil
}

// firstBelow is the directory of root that dir is or lies in ("." for root
// itself), and whether it is below root at all.
func firstBelow(root, dir string) (string, bool) {
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	return first, true
}

// openLegacy opens a session of an older layout through the scope of the
// workspace that its header names.
func (s *Store) openLegacy(ctx context.Context, path string, opt OpenOptions) (*Session, error) {
	t, err := jsonl.Load(ctx, s.fsys, path, jsonl.LoadOptions{})
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", filepath.Base(path), err)
	}
	return s.OpenManaged(ctx, path, t.Header.Cwd(), opt)
}

// OpenManaged opens a session of a workspace's scope, or of a legacy directory
// of the same workspace, which is copied into the scope first. It is inspected
// strictly.
//
// Errors: those of Open, *InspectError.
func (s *Store) OpenManaged(ctx context.Context, path, cwd string, opt OpenOptions) (*Session, error) {
	if opt.Migration == "" {
		opt.Migration = s.opt.Migration
	}
	sc, err := scope.Ensure(ctx, s.fsys, s.opt.Home, cwd)
	if err != nil {
		return nil, fmt.Errorf("open managed session: %w", err)
	}
	candidate, err := sc.Candidate(ctx, s.fsys, path)
	if err != nil {
		return nil, fmt.Errorf("open managed session: %w", err)
	}
	candidate, err = sc.Open(ctx, s.fsys, s.opt.Process, candidate, opt.Migration)
	if err != nil {
		return nil, fmt.Errorf("open managed session: %w", err)
	}
	opt.Strict = true
	c, err := s.openAt(ctx, candidate.Path, true, opt)
	if err != nil {
		return nil, fmt.Errorf("open managed session: %w", err)
	}
	s.opened(c.cwd, c.path)
	return &Session{core: c}, nil
}

// openAt opens or begins the session at a path that may be written.
func (s *Store) openAt(ctx context.Context, path string, managed bool, opt OpenOptions) (*core, error) {
	c := newCore(s)
	c.place(path)
	c.managed, c.cwd = managed, opt.Cwd
	if !managed {
		if err := storage.MkdirAll(s.fsys, c.dir); err != nil {
			return nil, err
		}
	}
	held, err := s.hold(ctx, path, opt.Wait)
	if err != nil {
		return nil, err
	}
	c.held = held
	if err := s.checkLinks(path, managed); err != nil {
		return nil, c.abandon(err)
	}
	if opt.AppendOnly {
		ok, err := c.openEnd(ctx)
		if ok && err == nil {
			return c, nil
		}
		if err != nil {
			return nil, c.abandon(err)
		}
	}
	err = c.openWhole(ctx, opt)
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		return nil, c.abandon(err)
	}
	return c, nil
}

// checkLinks removes the second name that a killed publish may have left. In a
// scope a file with two names is refused: both programs would.
func (s *Store) checkLinks(path string, managed bool) error {
	err := storage.HealTwin(s.fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !managed {
		return err
	}
	st, err := s.fsys.Lstat(path)
	if err == nil && st.Links > 1 {
		return &storage.UnsafeError{Path: path, Reason: "has a second name"}
	}
	return err
}

// abandon gives up a session that could not be opened.
func (c *core) abandon(err error) error {
	if c.app != nil {
		err = errors.Join(err, c.app.Close())
	}
	for _, r := range c.lates {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, c.held.release(true))
}

func (c *core) existsLocked() bool {
	_, err := c.st.fsys.Lstat(c.path)
	return err == nil
}

// openWhole reads the transcript, or begins one.
func (c *core) openWhole(ctx context.Context, opt OpenOptions) error {
	strict := opt.Strict
	t, err := c.st.read(ctx, c.path, strict)
	if err != nil && opt.Existing {
		return err
	}
	if t != nil && t.State == jsonl.StateBadHeader && !strict && isNoHeader(err) {
		if err := c.st.setAside(c.path); err != nil {
			return err
		}
		return c.begin(ctx)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.begin(ctx)
	case t != nil && t.State == jsonl.StateEmpty && errors.Is(err, jsonl.ErrNotTranscript) && !strict:
		return c.beginOver(ctx)
	case err != nil:
		return err
	}
	if err := c.takeTranscript(ctx, t); err != nil {
		return err
	}
	if strict {
		if err := c.allBlobs(ctx); err != nil {
			return err
		}
	}
	if err := c.sanitizeLocked(ctx); err != nil {
		return err
	}
	return c.keepLocked()
}

// isNoHeader tells a file without a header, which is set aside, from one whose
// version this program does not know, which is left alone.
func isNoHeader(err error) bool {
	var version *jsonl.VersionError
	return errors.Is(err, jsonl.ErrNotTranscript) && !errors.As(err, &version)
}

// read loads a transcript, after a strict inspection if that is asked for.
func (s *Store) read(ctx context.Context, path string, strict bool) (*jsonl.Transcript, error) {
	if strict {
		in := jsonl.Inspect(ctx, s.fsys, path, jsonl.LoadOptions{})
		if in.Verdict == jsonl.Missing {
			return nil, in.Cause
		}
		if !in.Verdict.Openable() {
			return nil, &InspectError{Verdict: in.Verdict, Err: in.Cause}
		}
	}
	return jsonl.Load(ctx, s.fsys, path, jsonl.LoadOptions{})
}

// takeTranscript takes a loaded transcript into memory, upgraded.
func (c *core) takeTranscript(ctx context.Context, t *jsonl.Transcript) error {
	c.rewrite = t.Upgrade(c.st.opt.UpgradeIDs) || t.UTF16
	c.setCopy = len(t.Malformed)+len(t.Recovered) > 0 || t.UTF16
	c.header, c.leading, c.records = t.Header, t.Leading, t.Records
	c.tree = jsonl.NewTree(t.Entries())
	c.onDisk, c.size, c.base = true, t.Size, t.Size
	c.partial = false
	c.cwd = t.Header.Cwd()
	if c.cwd == "" {
		cwd, err := c.st.projectDir()
		if err != nil {
			return err
		}
		c.cwd = cwd
	}
	c.resumeMeta()
	return c.readLeaf(ctx)
}

// keepLocked opens the transcript for appending, which protects it from being
// removed while it is open.
func (c *core) keepLocked() error {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	return c.appenderLocked()
}

// allBlobs refuses a session that refers to a blob that is not there.
func (c *core) allBlobs(ctx context.Context) error {
	for _, e := range c.records {
		_, missing, err := c.st.resolve(ctx, e)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return &MissingBlobError{Missing: missing[0]}
		}
	}
	return nil
}
