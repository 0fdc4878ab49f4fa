package session

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// dirOf is a directory of sessions.
type dirOf struct {
	path      string
	workspace string // that its binding names; "" if it is no scope, or none that is bound
	scoped    bool   // a scope: only here something may be written
	explicit  bool   // of the user's own
	gone      bool   // the workspace does not exist

	entries []storage.DirEntry // by name
	ahead   *ahead
}

// directories looks at every directory under sessions/.
func (d *doctor) directories(ctx context.Context) {
	root := d.st.opt.Home.Sessions()
	entries, err := readDir(d.st.fsys, root)
	if err != nil {
		d.bad("sessions", root, "can't be listed: "+reasonOf(err), "")
		return
	}
	if real, err := storage.RealPath(root); err == nil {
		root = real
	}
	for _, e := range entries {
		if ctx.Err() != nil || d.stop != nil {
			return
		}
		path := filepath.Join(root, e.Name)
		_, scoped := scope.DigestOf(e.Name)
		switch {
		case scoped:
			d.scope(ctx, path, e)
		case e.Info.Kind == storage.Symlink:
			d.warn("directory", path, "is a symbolic link, which nothing looks into", "put the directory itself there, or take the link away")
		case e.Info.Kind == storage.Dir:
			if !strings.HasPrefix(e.Name, "-") && d.holdsSessions(path) {
				d.warn("directory", path, "is no directory of a workspace's sessions: lists show them, but the other program does not look there", "gjc-index list --session-dir "+quoted(path))
			}
			d.directory(ctx, dirOf{path: path})
		case scope.IsTranscriptName(e.Name):
			d.warn("directory", path, "lies outside of any workspace's directory: the other program does not look there", "gjc-index import "+quoted(path))
		}
	}
}

func (d *doctor) holdsSessions(dir string) bool {
	inside, _ := readDir(d.st.fsys, dir)
	return slices.ContainsFunc(inside, func(e storage.DirEntry) bool { return scope.IsTranscriptName(e.Name) })
}

// scope looks at the directory of one workspace.
func (d *doctor) scope(ctx context.Context, path string, e storage.DirEntry) {
	s := d.st
	if e.Info.Kind != storage.Dir {
		d.bad("binding", path, "stands in the place of a workspace's directory and is none", "move it aside")
		return
	}
	at := dirOf{path: path, scoped: true, workspace: scope.BoundTo(s.fsys, path)}
	_, err := storage.CheckOwnerOnly(s.fsys, path, storage.Dir)
	var unsafe *storage.UnsafeError
	bound, boundErr := s.isThere(scope.BindingPath(path))
	switch {
	case errors.As(err, &unsafe):
		d.bad("binding", path, "is refused, since others may have changed it: "+unsafe.Reason, "look at what others could have changed, then: chmod 0700 "+quoted(path))
	case err != nil || boundErr != nil:
		d.bad("binding", path, "can't be looked at: "+reasonOf(cmp.Or(err, boundErr)), "")
	case !bound:
		d.warn("binding", path, "does not say whose it is: its sessions are listed once its workspace has a session again", "")
	case at.workspace == "":
		d.bad("binding", scope.BindingPath(path), "can't be read, or names another workspace, so the sessions here are refused",
			"move it aside; the next session in that workspace writes it anew")
	default:
		d.workspace(ctx, &at)
	}
	d.directory(ctx, at)
}

// workspace tells of the workspace of a scope, and finishes what was cut off.
func (d *doctor) workspace(ctx context.Context, at *dirOf) {
	s := d.st
	sc, err := scope.Lookup(s.fsys, s.opt.Home, at.workspace)
	var refused *scope.Error
	switch {
	case errors.As(err, &refused) && refused.Code == scope.CwdMissing:
		at.gone = true
		d.warn("workspace", at.path, "its workspace "+at.workspace+" is not there; its sessions stay",
			"if it was moved: gjc-index rebind --all --from "+quoted(at.workspace)+" --to NEW")
		return
	case errors.As(err, &refused):
		if refused.Path == "" || !strings.HasPrefix(refused.Path, at.path) {
			d.warn("workspace", at.path, refused.Reason, refused.Mend())
			return
		}
		d.bad("binding", refused.Path, refused.Reason, refused.Mend())
		return
	case err != nil:
		d.warn("workspace", at.path, reasonOf(err), "")
		return
	}
	d.ok("binding", at.path, "belongs to "+at.workspace)
	n, err := sc.Unfinished(ctx, s.fsys)
	if err != nil {
		d.warn("deletions", at.path, reasonOf(err), "")
	}
	if n > 0 {
		f := Finding{Check: "deletions", State: HealthWarn, Path: at.path, Detail: plural(n, "deletion was", "deletions were") + " cut off halfway"}
		d.mendable(ctx, f, func(ctx context.Context) (string, error) {
			return "what was cut off is finished", sc.Reconcile(ctx, s.fsys, s.opt.Process)
		})
	}
}

// directory looks at the files of one directory of sessions.
func (d *doctor) directory(ctx context.Context, at dirOf) {
	s := d.st
	entries, err := throughLinks(at.path, s.fsys.StatDir)
	if err != nil {
		d.bad("directory", at.path, "can't be listed: "+reasonOf(err), "")
		return
	}
	slices.SortFunc(entries, func(a, b storage.DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	at.entries, at.ahead = entries, d.ahead(ctx, at.path, entries)
	defer at.ahead.wait()
	open := 0
	for _, e := range entries {
		if ctx.Err() != nil || d.stop != nil {
			return
		}
		path := filepath.Join(at.path, e.Name)
		switch {
		case scope.IsTranscriptName(e.Name):
			d.transcript(ctx, at, path, e.Info, false)
		case e.Info.Kind == storage.Dir && hasSorted(entries, e.Name+".jsonl"):
			d.children(ctx, at, path)
		case e.Info.Kind == storage.Dir && at.scoped && !strings.HasPrefix(e.Name, "."):
			d.orphans = append(d.orphans, orphan{path: path, stem: e.Name})
		case e.Info.Kind == storage.Regular && at.scoped && isOpen(e.Info) && len(sidecarOf(e.Name)) > 0:
			open++
		}
		if !scope.IsTranscriptName(e.Name) && e.Info.Kind == storage.Regular {
			d.beside(ctx, at, path, e, entries)
		}
	}
	if open > 0 {
		d.warn("modes", at.path, plural(open, "file", "files")+" beside its sessions could be read by others, were the directory not yours alone", "chmod 0600 "+quoted(at.path)+"/*.json*")
	}
}

// children looks at the transcripts of subagents, in a session's own directory.
func (d *doctor) children(ctx context.Context, at dirOf, dir string) {
	entries, err := throughLinks(dir, d.st.fsys.StatDir)
	if err != nil {
		d.warn("directory", dir, "can't be listed: "+reasonOf(err), "")
		return
	}
	slices.SortFunc(entries, func(a, b storage.DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	at.entries, at.ahead = entries, d.ahead(ctx, dir, entries)
	defer at.ahead.wait()
	for _, e := range entries {
		if ctx.Err() == nil && scope.IsTranscriptName(e.Name) {
			d.transcript(ctx, at, filepath.Join(dir, e.Name), e.Info, true)
		}
	}
}

func hasSorted(entries []storage.DirEntry, name string) bool {
	_, ok := slices.BinarySearchFunc(entries, name, func(e storage.DirEntry, name string) int { return cmp.Compare(e.Name, name) })
	return ok
}
