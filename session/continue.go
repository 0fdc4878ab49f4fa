package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// ContinueOptions say what may be continued, and how it is opened.
type ContinueOptions struct {
	Dir  string // explicit directory; "" is the workspace's scope
	Open OpenOptions
}

// Continued is the session that ContinueRecent found or began.
type Continued struct {
	Session *Session
	New     bool      // nothing was there to continue
	LeftOut []LeftOut // what was passed over on the way, and why
}

// ContinueRecent opens the session that the terminal had last in a workspace,
// else the newest one that passes strict inspection, else it begins a new one.
// A file whose only fault is its last line passes: it is what a crash leaves.
// Source: behaviour part 16, decision 11.
//
// Errors: ErrBusy if another process writes the session to continue; those of
// Open and Create.
func (s *Store) ContinueRecent(ctx context.Context, cwd string, opt ContinueOptions) (Continued, error) {
	all, left, err := s.choices(ctx, cwd, opt.Dir)
	if err != nil {
		return Continued{}, fmt.Errorf("continue in %s: %w", cwd, err)
	}
	found := Continued{LeftOut: left}
	at, passed, err := s.firstOpenable(ctx, all, func(c choice) (err error) {
		found.Session, err = s.openChoice(ctx, c, opt.Open)
		return err
	})
	found.LeftOut = append(found.LeftOut, passed...)
	if err == nil && at < 0 {
		found.New = true
		found.Session, err = s.Create(ctx, cwd, CreateOptions{Dir: opt.Dir, Wait: opt.Open.Wait})
	}
	if err != nil {
		return Continued{LeftOut: found.LeftOut}, err
	}
	return found, nil
}

// openChoice opens a file that was inspected. A legacy one is copied into its
// scope first.
func (s *Store) openChoice(ctx context.Context, c choice, opt OpenOptions) (*Session, error) {
	place, err := s.placeOf(c.path)
	if err != nil {
		return nil, err
	}
	if place == placeLegacy {
		if c.path, err = s.migrated(ctx, c.path, opt.Migration); err != nil {
			return nil, err
		}
	}
	opt.Strict = false // it was inspected, and its last line may be torn
	return s.Open(ctx, c.path, opt)
}

// migrated is the copy of a legacy session in the scope of its workspace.
func (s *Store) migrated(ctx context.Context, path string, p scope.Policy) (string, error) {
	in, err := readInfo(ctx, s.fsys, path)
	if err != nil {
		return "", err
	}
	sc, err := scope.Ensure(ctx, s.fsys, s.opt.Home, in.Cwd)
	if err != nil {
		return "", err
	}
	c, err := sc.Candidate(ctx, s.fsys, path)
	if err != nil {
		return "", err
	}
	if p == "" {
		p = s.opt.Migration
	}
	c, err = sc.Open(ctx, s.fsys, s.opt.Process, c, p)
	return c.Path, err
}

// choice is a session file that might be continued.
type choice struct {
	path      string
	workspace string // what the header must name; "" for no demand
}

// choices are the files to try, in order: the one that the terminal had last,
// then the workspace's (or the directory's) from the newest on. Orphaned
// backups are promoted first. Source: behaviour part 16.
func (s *Store) choices(ctx context.Context, cwd, dir string) ([]choice, []LeftOut, error) {
	newest, left, err := s.newestFirst(ctx, cwd, dir)
	if err != nil {
		return nil, nil, err
	}
	path, workspace, err := s.breadcrumbTarget(ctx, cwd, dir)
	if err != nil {
		return nil, nil, err
	}
	if path == "" {
		return newest, left, nil
	}
	rest := slices.DeleteFunc(newest, func(c choice) bool { return c.path == path })
	return append([]choice{{path: path, workspace: workspace}}, rest...), left, nil
}

func (s *Store) newestFirst(ctx context.Context, cwd, dir string) ([]choice, []LeftOut, error) {
	if dir == "" {
		return s.newestOwned(ctx, cwd)
	}
	stuck, err := s.promoteBackups(dir)
	if err != nil {
		return nil, nil, err
	}
	files, left, err := s.transcriptFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	sortNewest(files)
	var all []choice
	for _, f := range files {
		all = append(all, choice{path: filepath.Join(dir, f.Name)})
	}
	return all, append(left, stuck...), nil
}

// newestOwned are the candidates of the workspace's scope. A scope that is
// refused is an error here, since a new session could not be made in it.
func (s *Store) newestOwned(ctx context.Context, cwd string) ([]choice, []LeftOut, error) {
	sc, err := scope.Lookup(s.fsys, s.opt.Home, cwd)
	if err != nil {
		return nil, nil, err
	}
	var left []LeftOut
	if sc.Exists {
		if left, err = s.promoteBackups(sc.Dir); err != nil {
			return nil, nil, err
		}
	}
	found, err := sc.Candidates(ctx, s.fsys)
	if err != nil {
		return nil, nil, err
	}
	owned := found.Owned
	slices.SortStableFunc(owned, func(a, b scope.Candidate) int {
		return cmp.Or(cmp.Compare(b.Info.ModTime, a.Info.ModTime), cmp.Compare(a.Path, b.Path))
	})
	var all []choice
	for _, c := range owned {
		all = append(all, choice{path: c.Path})
	}
	for _, bad := range found.Invalid {
		if filepath.Dir(bad.Path) == sc.Dir {
			left = append(left, LeftOut{Path: bad.Path, Reason: invalidReason(bad.Code)})
		}
	}
	return all, left, nil
}

// firstOpenable tries the choices in order until one passes strict inspection
// and is opened, and says of the others why they were not. A file whose only
// fault is its last line counts as openable. A file that somebody else is
// writing is not passed over: it ends the search with ErrBusy. at is -1 if no
// choice will do. Decision 11.
func (s *Store) firstOpenable(ctx context.Context, all []choice, open func(choice) error) (at int, left []LeftOut, err error) {
	for i, c := range all {
		reason, err := s.whyNot(ctx, c)
		if err != nil {
			return -1, left, err
		}
		if reason != "" {
			if reason != isMissing { // what is not there is not left out
				left = append(left, LeftOut{Path: c.path, Reason: reason})
			}
			continue
		}
		err = open(c)
		switch {
		case err == nil:
			return i, left, nil
		case !isRefusal(err):
			return -1, left, err
		}
		left = append(left, leftOut(c.path, err))
	}
	return -1, left, nil
}

// isMissing is why a file that is gone is not continued, such as that of a
// session that was begun and never got an answer.
const isMissing = "is missing"

// unstableTries is how often a file that changes under the inspection is
// inspected before it counts as being written.
const unstableTries = 3

// whyNot says why strict inspection refuses a choice; "" if it doesn't.
func (s *Store) whyNot(ctx context.Context, c choice) (reason string, err error) {
	var in jsonl.Inspection
	for range unstableTries {
		in = jsonl.Inspect(ctx, s.fsys, c.path, jsonl.LoadOptions{})
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if in.Verdict != jsonl.Unstable {
			break
		}
	}
	switch {
	case in.Verdict == jsonl.Unstable:
		return "", fmt.Errorf("continue %s: %w", c.path, ErrBusy)
	case in.Verdict == jsonl.Missing:
		return isMissing, nil
	case !in.Verdict.Openable() && !in.OnlyTail:
		return fmt.Sprintf("is %s: %s", in.Verdict, reasonOf(in.Cause)), nil
	case c.workspace != "" && !samePlace(in.Transcript.Header.Cwd(), c.workspace):
		return "belongs to another workspace than the terminal's", nil
	}
	return "", nil
}

// isRefusal reports whether an error of opening is about this very file, so
// that the next may do.
func isRefusal(err error) bool {
	var refused *scope.Error
	var strict *InspectError
	if errors.Is(err, ErrBusy) || errors.Is(err, storage.ErrLocked) {
		return false
	}
	return errors.As(err, &refused) || errors.As(err, &strict) || errors.Is(err, storage.ErrUnsafe) ||
		errors.Is(err, jsonl.ErrNotTranscript) || errors.Is(err, jsonl.ErrTooNew)
}
