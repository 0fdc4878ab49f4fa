package scope

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"sort"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// All yields every scope under a home, by name: each directory whose name is
// that of a scope. The workspace need not exist any more, since the binding
// says who it is. An error is about one directory, with its path, and the
// iteration goes on; only an unreadable sessions directory or the end of ctx
// ends it. Nothing is created and no workspace is visited.
func All(ctx context.Context, fsys storage.FS, home Home) iter.Seq2[*Scope, error] {
	return func(yield func(*Scope, error) bool) {
		if err := readableRoot(fsys, home.Sessions()); err != nil {
			yield(nil, err)
			return
		}
		root := withoutLinks(home.Sessions())
		entries, err := fsys.ReadDir(root)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, scanFailed(root, err))
			return
		}
		for _, e := range entries {
			digest, ok := DigestOf(e.Name)
			if !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(bound(fsys, home, root, digest)) {
				return
			}
		}
	}
}

// bound is the scope of a digest, known by its binding.
func bound(fsys storage.FS, home Home, root, digest string) (*Scope, error) {
	s := &Scope{Home: home, Root: root, Dir: filepath.Join(root, dirPrefix+digest)}
	if err := s.checkDir(fsys); err != nil {
		return nil, err
	}
	v, ok := readRecord(fsys, filepath.Join(s.Dir, bindingName))
	if !ok {
		return nil, refuse(BindingInvalid, s.Dir, "scope has no readable binding", "The managed scope binding is invalid JSON.", nil)
	}
	id := Identity{Platform: v.Get("platform").Str(), Canonical: v.Get("canonicalPath").Str(), Digest: digest}
	// The digest in the name must follow from what the binding claims, or the
	// binding could name any workspace.
	if Digest(id.Platform, id.Canonical) != digest {
		return nil, refuse(BindingConflict, s.Dir, "binding names another workspace", "The managed scope binding belongs to another workspace.", nil)
	}
	isBound, err := readBinding(fsys, s.Dir, id)
	if err != nil {
		return nil, err
	}
	s.Identity, s.Workspace, s.Bound = id, id.Canonical, isBound
	return s, nil
}

// Former are other scopes whose workspace is this one now: the directory was
// moved here and a link was left at the old place. Their sessions can be bound
// anew; until then they are not candidates. It reads only.
func (s *Scope) Former(ctx context.Context, fsys storage.FS) ([]*Scope, error) {
	var former []*Scope
	for other, err := range All(ctx, fsys, s.Home) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || other.Digest == s.Digest {
			continue // what is wrong with another scope is told by All
		}
		if id, err := Identify(other.Canonical); err == nil && id == s.Identity {
			former = append(former, other)
		}
	}
	return former, nil
}

// AllCandidates lists what Candidates lists, of every workspace at once: each
// transcript of a scope or a legacy directory whose header names a workspace
// that exists and whose scope is in order. Each first line is read once,
// whatever the number of scopes. Foreign counts transcripts in another
// workspace's scope.
func AllCandidates(ctx context.Context, fsys storage.FS, home Home) (*Listing, error) {
	list := &Listing{}
	if err := readableRoot(fsys, home.Sessions()); err != nil {
		return nil, err
	}
	root := withoutLinks(home.Sessions())
	entries, err := fsys.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, scanFailed(root, err)
	}
	a := &gathering{scan: newScan(fsys, home), scopes: map[Identity]*parted{}, known: map[Identity]*Scope{}, list: list}
	for _, e := range entries {
		digest, isScope := DigestOf(e.Name)
		if e.Info.Kind != storage.Dir || !isScope && !strings.HasPrefix(e.Name, "-") {
			continue
		}
		if err := a.directory(ctx, filepath.Join(root, e.Name), digest); err != nil {
			return nil, err
		}
	}
	for _, id := range a.order {
		ledger, err := readLedger(ctx, fsys, a.known[id])
		if err != nil {
			return nil, err
		}
		own := &Listing{Owned: append(a.scopes[id].v2, a.scopes[id].legacy...)}
		ledger.apply(ctx, fsys, own)
		list.Owned = append(list.Owned, own.Owned...)
		list.Hidden += own.Hidden
	}
	return list, nil
}

// gathering sorts transcripts by workspace while directories are read.
type gathering struct {
	*scan
	list   *Listing
	scopes map[Identity]*parted
	known  map[Identity]*Scope // nil if the scope is refused
	order  []Identity
}

// parted are a workspace's candidates. The legacy ones are found first, since
// a dash sorts before "v2-", but listed last.
type parted struct{ v2, legacy []Candidate }

// directory takes the transcripts of one directory; digest is "" for a legacy one.
func (g *gathering) directory(ctx context.Context, dir, digest string) error {
	entries, err := g.fsys.StatDir(dir)
	if err != nil {
		g.list.Invalid = append(g.list.Invalid, Invalid{dir, string(ScanFailed)})
		return nil
	}
	p := Legacy
	if digest != "" {
		p = V2
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	for _, e := range entries {
		if !IsTranscriptName(e.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c, id, code := g.inspect(filepath.Join(dir, e.Name), e.Info, p)
		switch {
		case code != "":
			g.list.Invalid = append(g.list.Invalid, Invalid{filepath.Join(dir, e.Name), code})
		case digest != "" && id.Digest != digest:
			g.list.Foreign++
		case g.scope(id, c.Cwd) == nil:
			g.list.Invalid = append(g.list.Invalid, Invalid{c.Path, string(BindingInvalid)})
		case p == V2:
			g.scopes[id].v2 = append(g.scopes[id].v2, c)
		default:
			g.scopes[id].legacy = append(g.scopes[id].legacy, c)
		}
	}
	return nil
}

// scope is the scope of a workspace, looked up once.
func (g *gathering) scope(id Identity, cwd string) *Scope {
	if s, ok := g.known[id]; ok {
		return s
	}
	s, err := lookup(g.fsys, g.home, id, cwd)
	if err != nil {
		s = nil
	} else {
		g.scopes[id] = &parted{}
		g.order = append(g.order, id)
	}
	g.known[id] = s
	return s
}
