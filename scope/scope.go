package scope

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/storage"
)

// internalName is the directory of the migration protocol in a scope.
const internalName = ".gjc-managed-session-internal"

// Scope is the directory that belongs to one workspace. It is a value of
// paths, safe to keep and to copy; that the directory is safe was true when
// Lookup or Ensure said so.
type Scope struct {
	Identity
	Home      Home
	Workspace string // the workspace as it was asked for, absolute
	Root      string // the sessions directory, without symbolic links above it
	Dir       string // Root/v2-<digest>
	Exists    bool   // Dir was there
	Bound     bool   // the binding was there and right
}

// Locks is the directory of the locks of the migration protocol, which both
// programs follow.
func (s *Scope) Locks() string { return filepath.Join(s.Dir, internalName, "locks") }

// Receipts is the directory of the receipts of migrated sessions.
func (s *Scope) Receipts() string { return filepath.Join(s.Dir, internalName, "receipts") }

// Tombstones is the directory of the tombstones of retired sources.
func (s *Scope) Tombstones() string { return filepath.Join(s.Dir, internalName, "tombstones") }

// Lookup finds the scope of a workspace without creating anything. A scope
// that is not there yet is no error (see Exists and Bound). One that can't be
// verified is: a link or a file in the place of a directory, another owner,
// a mode other than 0700, an access control list, a binding that is not ours.
//
// Errors are *Error, with those of Identify and sessions_root_unavailable,
// binding_invalid, binding_conflict.
func Lookup(fsys storage.FS, home Home, workspace string) (*Scope, error) {
	id, err := Identify(workspace)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(workspace)
	if err != nil {
		return nil, identityError(IdentityUnavailable, workspace, err)
	}
	return lookup(fsys, home, id, abs)
}

// ScopeDir is where the scope of a workspace is or would be, unchecked, for
// telling people about it.
func (h Home) ScopeDir(id Identity) string {
	return filepath.Join(withoutLinks(h.Sessions()), id.DirName())
}

func lookup(fsys storage.FS, home Home, id Identity, workspace string) (*Scope, error) {
	s := &Scope{Identity: id, Home: home, Workspace: workspace}
	if err := readableRoot(fsys, home.Sessions()); err != nil {
		return nil, err
	}
	s.Root = withoutLinks(home.Sessions())
	s.Dir = filepath.Join(s.Root, id.DirName())
	if err := s.checkDir(fsys); err != nil {
		return nil, err
	}
	if !s.Exists {
		return s, nil
	}
	bound, err := readBinding(fsys, s.Dir, id)
	if err != nil {
		return nil, err
	}
	s.Bound = bound
	return s, nil
}

// readableRoot refuses a sessions directory that is there but no directory.
func readableRoot(fsys storage.FS, root string) error {
	info, err := fsys.Lstat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refuse(RootUnavailable, root, "sessions directory can't be inspected", "The sessions root could not be inspected.", err)
	case info.Kind == storage.Dir:
		return nil
	}
	e := refuse(RootUnavailable, root, "sessions directory is not a directory", "The sessions root is not a safe directory.", nil)
	if info.Kind == storage.Symlink {
		e.Reason, e.Class = "sessions directory is a symbolic link", "reparse_point"
	}
	return e
}

// checkDir sets Exists, or refuses what stands in the place of the scope.
func (s *Scope) checkDir(fsys storage.FS) error {
	info, err := fsys.Lstat(s.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return refuse(BindingInvalid, s.Dir, "scope can't be inspected", "The managed scope path could not be inspected.", err)
	case info.Kind != storage.Dir:
		e := refuse(BindingInvalid, s.Dir, "scope is not a directory", "The managed scope path is not a safe directory.", nil)
		e.Err = &storage.UnsafeError{Path: s.Dir, Reason: "is not a directory"}
		if info.Kind == storage.Symlink {
			e.Reason, e.Class = "scope is a symbolic link", "reparse_point"
			e.Err = &storage.UnsafeError{Path: s.Dir, Reason: "is a symbolic link"}
		}
		return e
	}
	if _, err := storage.CheckOwnerOnly(fsys, s.Dir, storage.Dir); err != nil {
		return refuse(BindingInvalid, s.Dir, "scope is not owner-only", "The managed scope security could not be verified.", err)
	}
	s.Exists = true
	return nil
}

// withoutLinks is path with the symbolic links of its existing part followed,
// so that one home has one name whatever way leads there. The sessions
// directory itself was checked not to be a link.
func withoutLinks(path string) string {
	tail := ""
	for at := path; ; {
		if real, err := storage.RealPath(at); err == nil {
			return filepath.Join(real, tail)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return path
		}
		tail = filepath.Join(filepath.Base(at), tail)
		at = parent
	}
}

// Ensure finds the scope of a workspace and makes what is missing of it, in an
// order that a crash may cut anywhere: home, sessions directory, scope, binding,
// the directories of the migration protocol, the project if it is another
// directory. All of it is there and synced
// before a transcript can be. Several processes may do it at once; each gets
// the same scope. A binding that is ours and right but readable by others is
// made 0600; a scope directory that is not 0700 is refused.
//
// Errors: those of Lookup, and what the file system says.
func Ensure(ctx context.Context, fsys storage.FS, home Home, workspace string) (*Scope, error) {
	s, err := Lookup(fsys, home, workspace)
	if err != nil {
		return nil, err
	}
	if err := home.Prepare(fsys); err != nil {
		return nil, fmt.Errorf("prepare scope of %s: %w", workspace, err)
	}
	if err := s.make(ctx, fsys); err != nil {
		if e := (*Error)(nil); errors.As(err, &e) {
			return nil, err
		}
		return nil, fmt.Errorf("prepare scope of %s: %w", workspace, err)
	}
	return s, nil
}

func (s *Scope) make(ctx context.Context, fsys storage.FS) error {
	if err := makeDir(fsys, s.Dir); err != nil {
		return err
	}
	if err := s.checkDir(fsys); err != nil {
		return err
	}
	before, err := fsys.Lstat(s.Dir)
	if err != nil {
		return err
	}
	if !s.Bound {
		if err := publishBinding(ctx, fsys, s.Dir, s.Identity); err != nil {
			return err
		}
	}
	if err := storage.HealTwin(fsys, filepath.Join(s.Dir, bindingName)); err != nil {
		return err
	}
	bound, err := readBinding(fsys, s.Dir, s.Identity)
	if err != nil {
		return err
	}
	if !bound {
		return refuse(BindingInvalid, s.Dir, "binding vanished", "Managed scope binding is unavailable", nil)
	}
	s.Bound = true
	if err := healMode(fsys, filepath.Join(s.Dir, bindingName)); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Join(s.Dir, internalName), s.Locks(), s.Receipts(), s.Tombstones()} {
		if err := makeDir(fsys, dir); err != nil {
			return err
		}
		if _, err := storage.CheckOwnerOnly(fsys, dir, storage.Dir); err != nil {
			return refuse(BindingInvalid, dir, "directory of the migration protocol is not owner-only", "Managed write protocol setup failed.", err)
		}
	}
	if err := s.rememberProject(ctx, fsys); err != nil {
		return err
	}
	after, err := fsys.Lstat(s.Dir)
	if err != nil {
		return err
	}
	if !after.SameFile(before) || after.Kind != storage.Dir {
		return refuse(BindingInvalid, s.Dir, "scope was replaced meanwhile", "Managed session directory changed", nil)
	}
	return nil
}

// makeDir makes one directory, if it is missing, and syncs its parent.
func makeDir(fsys storage.FS, dir string) error {
	if err := fsys.Mkdir(dir); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(dir))
}

// healMode makes a file of ours 0600 that has more bits than that.
func healMode(fsys storage.FS, path string) error {
	info, err := fsys.Lstat(path)
	if err != nil || info.Mode == 0o600 {
		return err
	}
	if err := fsys.Chmod(path, 0o600); err != nil {
		return err
	}
	_, err = storage.CheckOwnerOnly(fsys, path, storage.Regular)
	return err
}
