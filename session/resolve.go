package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Where a session was found.
const (
	ScopeLocal  = "local"  // in the workspace's own sessions, or the given directory
	ScopeGlobal = "global" // among all sessions: it may belong to another workspace
)

// Resolved is the session that an argument means.
type Resolved struct {
	Session Info
	Scope   string // ScopeLocal or ScopeGlobal
	Others  []Info // further sessions that the argument would fit, in list order
	LeftOut []LeftOut
}

// Resolve finds the session that a person means by arg: the path of a file, or
// the beginning of a session id, of a file name, or of what follows the last
// underscore of the name, in any case of letters. The workspace's own sessions
// are searched first (those of dir, if it is not ""), then all; the first in
// list order is taken, and Others tells a caller who wants no guess that there
// are more. An empty arg fits everything. fs.ErrNotExist if nothing fits.
// Source: behaviour part 15.
func (s *Store) Resolve(ctx context.Context, arg, cwd, dir string) (Resolved, error) {
	if r, ok, err := s.resolvePath(ctx, arg, cwd, dir); ok || err != nil {
		return r, err
	}
	local, err := s.localListing(ctx, cwd, dir)
	if err != nil {
		return Resolved{}, err
	}
	r := Resolved{Scope: ScopeLocal, LeftOut: local.LeftOut}
	if r.take(local.Sessions, arg) {
		return r, nil
	}
	all, err := s.ListAll(ctx)
	if err != nil {
		return Resolved{}, err
	}
	r.Scope, r.LeftOut = ScopeGlobal, append(r.LeftOut, all.LeftOut...)
	if r.take(all.Sessions, arg) {
		return r, nil
	}
	return Resolved{LeftOut: r.LeftOut}, fmt.Errorf("no session begins with %.80q: %w", arg, fs.ErrNotExist)
}

func (s *Store) localListing(ctx context.Context, cwd, dir string) (Listing, error) {
	if dir != "" {
		return s.ListDir(ctx, dir)
	}
	return s.List(ctx, cwd)
}

func (r *Resolved) take(rows []Info, arg string) bool {
	want := strings.ToLower(arg)
	found := false
	for _, in := range rows {
		switch {
		case !in.fits(want):
		case !found:
			r.Session, found = in, true
		default:
			r.Others = append(r.Others, in)
		}
	}
	return found
}

// fits reports whether lower-case text begins the session's id, its file name
// or the name's last part.
func (in *Info) fits(want string) bool {
	stem := strings.ToLower(strings.TrimSuffix(filepath.Base(in.Path), ".jsonl"))
	return strings.HasPrefix(strings.ToLower(in.ID), want) || strings.HasPrefix(stem, want) ||
		strings.HasPrefix(stem[strings.LastIndexByte(stem, '_')+1:], want)
}

// OpenResolved opens what Resolve found for a workspace. A session of another
// workspace is not touched: a fork of it begins in this one (in dir, if that is
// not ""), and forked says so.
//
// Errors: those of Open and ForkFrom.
func (s *Store) OpenResolved(ctx context.Context, r Resolved, cwd, dir string, opt OpenOptions) (session *Session, forked bool, err error) {
	if r.Scope == ScopeGlobal && !samePlace(r.Session.Cwd, cwd) {
		session, err = s.ForkFrom(ctx, r.Session.Path, cwd, dir)
		return session, true, err
	}
	session, err = s.openChoice(ctx, choice{path: r.Session.Path}, opt)
	return session, false, err
}

// resolvePath takes arg for the path of a session file if it looks like one;
// ok is false if it doesn't, or names nothing.
func (s *Store) resolvePath(ctx context.Context, arg, cwd, dir string) (r Resolved, ok bool, err error) {
	if !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(arg, ".jsonl") {
		return Resolved{}, false, nil
	}
	path := arg
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, arg)
	}
	in, err := readInfo(ctx, s.fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Resolved{}, false, nil
	}
	if err != nil {
		return Resolved{}, false, fmt.Errorf("resolve session: %w", err)
	}
	r = Resolved{Session: in, Scope: ScopeGlobal}
	if dir != "" && isInside(path, dir) || dir == "" && samePlace(in.Cwd, cwd) {
		r.Scope = ScopeLocal
	}
	return r, true, nil
}
