package session

import (
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

// List lists the sessions of one workspace, the latest modified first: those
// of its scope and of older layouts, and those that the workspace keeps in its
// own directory .gjc. A session that is there twice is listed once, by the file
// modified last. It reads beginnings and ends of files and changes nothing.
//
// A scope that is refused, or a workspace that is missing, is an empty list
// that says so in LeftOut. Source: behaviour parts 15 and 17.
func (s *Store) List(ctx context.Context, cwd string) (Listing, error) {
	owned, err := s.candidates(ctx, cwd)
	if refused, ok := asRefusal(err, cwd); ok {
		return Listing{LeftOut: []LeftOut{refused}}, nil
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list sessions of %s: %w", cwd, err)
	}
	l, err := s.listCandidates(ctx, owned)
	if err != nil {
		return Listing{}, err
	}
	local, left, err := s.projectLocal(ctx, cwd)
	if err != nil {
		return Listing{}, fmt.Errorf("list sessions of %s: %w", cwd, err)
	}
	l.LeftOut = append(l.LeftOut, left...)
	if err := s.addRows(ctx, &l, local); err != nil {
		return Listing{}, err
	}
	l.mergeByID()
	sortByModified(l.Sessions)
	return l, nil
}

// ListAll lists the sessions of every workspace that still exists, the latest
// modified first. Transcripts in workspaces' own directories are not searched
// for. It hashes no contents and changes nothing. Source: behaviour part 15.
func (s *Store) ListAll(ctx context.Context) (Listing, error) {
	all, err := scope.AllCandidates(ctx, s.fsys, s.opt.Home)
	if refused, ok := asRefusal(err, s.opt.Home.Sessions()); ok {
		return Listing{LeftOut: []LeftOut{refused}}, nil
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list all sessions: %w", err)
	}
	l, err := s.listCandidates(ctx, all)
	if err != nil {
		return Listing{}, err
	}
	left, err := s.otherDirectories()
	if err != nil {
		return Listing{}, fmt.Errorf("list all sessions: %w", err)
	}
	l.LeftOut = append(l.LeftOut, left...)
	sortByModified(l.Sessions)
	return l, nil
}

// candidates are the transcripts of a workspace's scope.
func (s *Store) candidates(ctx context.Context, cwd string) (*scope.Listing, error) {
	sc, err := scope.Lookup(s.fsys, s.opt.Home, cwd)
	if err != nil {
		return nil, err
	}
	return sc.Candidates(ctx, s.fsys)
}

// listCandidates makes the rows of candidates, unsorted.
func (s *Store) listCandidates(ctx context.Context, c *scope.Listing) (Listing, error) {
	l := Listing{Foreign: c.Foreign, Hidden: c.Hidden}
	for _, bad := range c.Invalid {
		l.LeftOut = append(l.LeftOut, LeftOut{Path: bad.Path, Reason: invalidReason(bad.Code)})
	}
	if c.Skipped > 0 {
		l.LeftOut = append(l.LeftOut, LeftOut{Path: s.opt.Home.Sessions(),
			Reason: fmt.Sprintf("%d older directories beyond the limit were not searched", c.Skipped)})
	}
	paths := make([]string, len(c.Owned))
	for i, o := range c.Owned {
		paths[i] = o.Path
	}
	return l, s.addRows(ctx, &l, paths)
}

// otherDirectories names what lies under the sessions directory, holds
// transcripts and is neither a scope nor of an older layout.
func (s *Store) otherDirectories() ([]LeftOut, error) {
	root := s.opt.Home.Sessions()
	entries, err := readDir(s.fsys, root)
	if err != nil {
		return nil, err
	}
	var left []LeftOut
	for _, e := range entries {
		if _, isScope := scope.DigestOf(e.Name); isScope || strings.HasPrefix(e.Name, "-") || e.Info.Kind != storage.Dir {
			continue
		}
		inside, err := readDir(s.fsys, filepath.Join(root, e.Name))
		switch {
		case err != nil:
			left = append(left, leftOut(filepath.Join(root, e.Name), err))
		case slices.ContainsFunc(inside, func(e storage.DirEntry) bool { return scope.IsTranscriptName(e.Name) }):
			left = append(left, LeftOut{Path: filepath.Join(root, e.Name), Reason: "is no directory of a workspace's sessions"})
		}
	}
	return left, nil
}

// mergeByID keeps one row a session id: the latest modified, the first of
// equals.
func (l *Listing) mergeByID() {
	kept := map[string]int{}
	rows := l.Sessions[:0]
	for _, in := range l.Sessions {
		at, twice := kept[in.ID]
		if !twice {
			kept[in.ID] = len(rows)
			rows = append(rows, in)
			continue
		}
		older := in
		if in.Modified.UnixMilli() > rows[at].Modified.UnixMilli() {
			older, rows[at] = rows[at], in
		}
		l.LeftOut = append(l.LeftOut, LeftOut{Path: older.Path, Reason: "is not the latest file of its session: " + rows[at].Path})
	}
	l.Sessions = rows
}

// readDir is fsys.ReadDir for a directory that may be missing or a link.
func readDir(fsys storage.FS, dir string) ([]storage.DirEntry, error) {
	return throughLinks(dir, fsys.ReadDir)
}

// throughLinks reads a directory that the user named, which may be a symbolic
// link. A missing one is empty.
func throughLinks(dir string, read func(string) ([]storage.DirEntry, error)) ([]storage.DirEntry, error) {
	entries, err := read(dir)
	if errors.Is(err, storage.ErrUnsafe) {
		if real, realErr := storage.RealPath(dir); realErr == nil && real != dir {
			entries, err = read(real)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
