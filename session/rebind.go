package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// RebindOptions say which sessions go to another workspace.
type RebindOptions struct {
	From, To string // workspaces; From need not exist any more
	ID       string // of one session; "" is all
	DryRun   bool   // say what would be done and change nothing
}

// RebindRow is one session that goes, or would go, to another workspace.
type RebindRow struct {
	Session Info
	To      string // the transcript's path in the new scope
	Moved   bool
	Copied  bool   // it was one of an older layout, whose file stays
	Reason  string // why it stays; "" if it doesn't
}

// Rebind gives the sessions of a workspace that was moved or renamed to the
// workspace that it is now. Each is moved by itself: one that can't be says why
// and the others go on. A session of an older layout is copied, and its file
// stays as it is. fs.ErrNotExist if To does not exist or no session has the ID.
func (s *Store) Rebind(ctx context.Context, opt RebindOptions) (rows []RebindRow, left []LeftOut, err error) {
	to, err := scope.Lookup(s.fsys, s.opt.Home, opt.To)
	if err != nil {
		return nil, nil, fmt.Errorf("rebind to %s: %w", opt.To, err)
	}
	from, err := filepath.Abs(opt.From)
	if err != nil {
		return nil, nil, err
	}
	if samePlace(from, to.Canonical) {
		return nil, nil, fmt.Errorf("rebind %s: it is the same workspace", opt.From)
	}
	found, err := s.sessionsOf(ctx, from)
	if err != nil {
		return nil, nil, fmt.Errorf("rebind %s: %w", opt.From, err)
	}
	halfway, err := s.halfMoved(ctx, from, to.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("rebind %s: %w", opt.From, err)
	}
	tried := map[string]bool{}
	for _, in := range append(found.Sessions, halfway...) {
		if tried[in.Path] { // the other half of one that was copied just now
			continue
		}
		if opt.ID != "" && in.ID != opt.ID {
			continue
		}
		row := RebindRow{Session: in, To: filepath.Join(to.Dir, filepath.Base(in.Path))}
		tried[row.To] = true
		if err := s.rebindOne(ctx, &row, to, opt.DryRun); err != nil {
			if ctx.Err() != nil {
				return rows, found.LeftOut, ctx.Err()
			}
			row.Reason = reasonOf(err)
		}
		rows = append(rows, row)
	}
	if opt.ID != "" && len(rows) == 0 {
		return nil, found.LeftOut, fmt.Errorf("rebind %s: no session has the id: %w", opt.From, fs.ErrNotExist)
	}
	if !opt.DryRun {
		err = s.retireSources(ctx, from, rows)
	}
	if opt.ID != "" {
		found.LeftOut = nil // the one that was asked for is there
	}
	return rows, found.LeftOut, err
}

var errCopiedBefore = errors.New("was copied before")

// rebindOne moves one session. Where it is in an older layout a copy of it is
// moved.
func (s *Store) rebindOne(ctx context.Context, row *RebindRow, to *scope.Scope, dry bool) error {
	place, err := s.placeOf(row.Session.Path)
	if err != nil {
		return err
	}
	row.Copied = place == placeLegacy
	if row.Copied && s.opt.Migration == scope.Disabled {
		return scope.ErrMigrationDisabled
	}
	there, err := s.isThere(row.To)
	if err != nil {
		return err
	}
	if there && row.To != row.Session.Path && !(row.Copied && s.sameBytes(ctx, row.Session.Path, row.To)) {
		if in, err := readInfo(ctx, s.fsys, row.To); err == nil && row.Copied && in.ID == row.Session.ID {
			return errCopiedBefore
		}
		return fmt.Errorf("%w: %s", scope.ErrConflict, filepath.Base(row.To))
	}
	if dry {
		return nil
	}
	path := row.Session.Path
	if row.Copied {
		if _, err := scope.Ensure(ctx, s.fsys, s.opt.Home, to.Workspace); err != nil {
			return err
		}
		if err := s.copyInto(ctx, path, row.To); err != nil {
			return err
		}
		path = row.To
	}
	session, err := s.Open(ctx, path, OpenOptions{})
	if err != nil {
		return err
	}
	err = session.Move(ctx, to.Workspace)
	row.Moved = err == nil
	return errors.Join(err, session.Close())
}

// sessionsOf are the sessions of a workspace that may be gone.
func (s *Store) sessionsOf(ctx context.Context, from string) (Listing, error) {
	owned, err := s.candidates(ctx, from)
	var refused *scope.Error
	switch {
	case err == nil:
		l, err := s.listCandidates(ctx, owned)
		if err == nil {
			l.LeftOut, err = s.leftOutOf(from, l.LeftOut)
		}
		return l, err
	case !errors.As(err, &refused) || refused.Code != scope.CwdMissing:
		return Listing{}, err
	}
	var l Listing
	names := goneNamesOf(from)
	root := s.opt.Home.Sessions()
	entries, err := readDir(s.fsys, root)
	if err != nil {
		return Listing{}, err
	}
	for _, e := range entries {
		_, isScope := scope.DigestOf(e.Name)
		if e.Info.Kind != storage.Dir || isScope && !names.scopes[e.Name] || !isScope && !strings.HasPrefix(e.Name, "-") {
			continue
		}
		in, err := s.ScanDir(ctx, filepath.Join(root, e.Name))
		if err != nil {
			return Listing{}, err
		}
		for _, row := range in.Sessions {
			if names.paths[filepath.Clean(row.Cwd)] || isScope && isGone(row.Cwd) {
				l.Sessions = append(l.Sessions, row)
			}
		}
		if isScope {
			l.LeftOut = append(l.LeftOut, in.LeftOut...)
		}
	}
	sortByModified(l.Sessions)
	// A migrated session goes before its source: it is the one that went on.
	slices.SortStableFunc(l.Sessions, func(a, b Info) int { return cmp.Compare(inOlderLayout(a.Path), inOlderLayout(b.Path)) })
	return l, nil
}

// leftOutOf are those of the files left out that may be the workspace's: what
// lies in its scope or in a directory of an older layout with its name. What
// can't be read elsewhere is nobody's.
func (s *Store) leftOutOf(from string, left []LeftOut) ([]LeftOut, error) {
	sc, err := scope.Lookup(s.fsys, s.opt.Home, from)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{s.opt.Home.Sessions(): true, sc.Dir: true} // the first: older directories beyond the limit
	for _, name := range sc.LegacyNames() {
		own[filepath.Join(sc.Root, name)] = true
	}
	return slices.DeleteFunc(left, func(l LeftOut) bool { return !own[l.Path] && !own[filepath.Dir(l.Path)] }), nil
}

// inOlderLayout is 1 for a transcript that lies in no scope, else 0.
func inOlderLayout(path string) int {
	if _, ok := scope.DigestOf(filepath.Base(filepath.Dir(path))); ok {
		return 0
	}
	return 1
}

// halfMoved are sessions in the new scope whose header still names the old
// workspace: a move that was cut off before its last step.
func (s *Store) halfMoved(ctx context.Context, from, dir string) ([]Info, error) {
	there, err := s.ScanDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	names := goneNamesOf(from)
	var half []Info
	for _, row := range there.Sessions {
		if names.paths[filepath.Clean(row.Cwd)] || samePlace(row.Cwd, from) {
			half = append(half, row)
		}
	}
	return half, nil
}

// isGone reports whether a header's workspace does not exist: in the scope of
// a workspace that is gone, it is another spelling of it.
func isGone(cwd string) bool {
	_, err := storage.RealPath(cwd)
	return errors.Is(err, fs.ErrNotExist)
}

// goneNames are the paths that a removed workspace may go by, and the names of
// the scopes that these lead to.
type goneNames struct{ paths, scopes map[string]bool }

func goneNamesOf(from string) goneNames {
	n := goneNames{paths: map[string]bool{from: true}, scopes: map[string]bool{}}
	rest := ""
	for dir := from; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if real, err := storage.RealPath(dir); err == nil {
			n.paths[filepath.Join(real, rest)] = true
			break
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	for path := range n.paths {
		for _, platform := range []string{scope.Posix, scope.Win32} {
			n.scopes[scope.DirName(platform, path)] = true
		}
	}
	return n
}

// retireSources hides what sessions that were moved away had been migrated
// from, which would be listed again now that the copies are gone.
func (s *Store) retireSources(ctx context.Context, from string, rows []RebindRow) error {
	moved := map[string]bool{}
	for _, row := range rows {
		if row.Moved {
			moved[row.Session.ID] = true
		}
	}
	sc, err := scope.Lookup(s.fsys, s.opt.Home, from)
	if err != nil || len(moved) == 0 {
		return nil // a workspace that is gone is not listed
	}
	found, err := sc.Candidates(ctx, s.fsys)
	if err != nil {
		return fmt.Errorf("hide sources: %w", err)
	}
	for _, c := range found.Owned {
		if c.Provenance != scope.Legacy || !moved[c.SessionID] {
			continue
		}
		if sc, err = scope.Ensure(ctx, s.fsys, s.opt.Home, from); err != nil {
			return fmt.Errorf("hide sources: %w", err)
		}
		if _, err := sc.Retire(ctx, s.fsys, s.opt.Process, c); err != nil {
			return fmt.Errorf("hide sources: %w", err)
		}
	}
	return nil
}
