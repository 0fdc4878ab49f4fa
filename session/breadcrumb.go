package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// breadcrumb says which session a terminal had last, and for which workspace.
type breadcrumb struct{ cwd, path string }

// maxBreadcrumb bounds what is read of a breadcrumb, in bytes.
const maxBreadcrumb = 16 << 10

// maxTerminalID bounds the length of a terminal's id.
const maxTerminalID = 128

// TerminalID names the terminal that a process runs in, for Options.Terminal;
// "" if nothing does. env looks a variable up ("" is unset) and tty is the
// path of standard input's terminal, "" if it is none. What could not be the
// name of a file is no id. Source: behaviour part 16.
func TerminalID(env func(string) string, tty string) string {
	id := ""
	switch {
	case env("TMUX") != "" && env("TMUX_PANE") != "":
		id = "tmux-" + env("TMUX_PANE")
	case strings.HasPrefix(tty, "/dev/"):
		id = strings.ReplaceAll(strings.TrimPrefix(tty, "/dev/"), "/", "-")
	default:
		for _, from := range []struct{ name, prefix string }{
			{"KITTY_WINDOW_ID", "kitty-"}, {"TMUX_PANE", "tmux-"}, {"TERM_SESSION_ID", "apple-"}, {"WT_SESSION", "wt-"},
		} {
			if value := env(from.name); value != "" {
				id = from.prefix + value
				break
			}
		}
	}
	if !isTerminalID(id) {
		return ""
	}
	return id
}

// isTerminalID refuses what would lead out of the directory or can't be a
// file's name.
func isTerminalID(id string) bool {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/\`, r) }
	return id != "" && len(id) <= maxTerminalID && id[0] != '.' && !strings.ContainsFunc(id, odd) &&
		(filepath.Separator == '/' || !strings.ContainsAny(id, `:*?"<>|`))
}

// opened is told of each session that a person is at now, and remembers it for
// the terminal, best effort: an error goes to the log. The session's file need
// not exist yet.
func (s *Store) opened(cwd, path string) {
	if s.opt.Terminal == "" {
		return
	}
	if err := s.writeBreadcrumb(cwd, path); err != nil {
		s.opt.Log.Warn("write breadcrumb", "terminal", s.opt.Terminal, "error", err)
	}
}

var (
	errTwoLines   = errors.New("path holds a line end")
	errTerminalID = errors.New("terminal id can't be a file name")
)

func (s *Store) writeBreadcrumb(cwd, path string) error {
	if !isTerminalID(s.opt.Terminal) {
		return errTerminalID
	}
	if strings.ContainsAny(cwd+path, "\r\n") {
		return errTwoLines
	}
	dir := s.opt.Home.Breadcrumbs()
	name := filepath.Join(dir, s.opt.Terminal)
	text := cwd + "\n" + path + "\n"
	old, err := storage.ReadFile(s.fsys, name, maxBreadcrumb)
	if err == nil && string(old) == text {
		return nil
	}
	if errors.Is(err, storage.ErrUnsafe) { // never replaced: it is not what we or the original left there
		return err
	}
	if err := storage.MkdirAll(s.fsys, dir); err != nil {
		return err
	}
	return s.swapIn(name, text)
}

// swapIn makes name hold text, without a sync: after a power cut the terminal
// may have forgotten its session, which is no loss.
func (s *Store) swapIn(name, text string) error {
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+randomHex(8)+".tmp")
	f, err := s.fsys.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = s.fsys.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, s.fsys.Remove(temp))
	}
	return nil
}

// readBreadcrumb is what the terminal remembers; ok is false if that is
// nothing, or nothing that can be trusted to be a breadcrumb.
func (s *Store) readBreadcrumb() (b breadcrumb, ok bool) {
	if !isTerminalID(s.opt.Terminal) {
		return breadcrumb{}, false
	}
	data, err := storage.ReadFile(s.fsys, filepath.Join(s.opt.Home.Breadcrumbs(), s.opt.Terminal), maxBreadcrumb)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.opt.Log.Warn("read breadcrumb", "terminal", s.opt.Terminal, "error", err)
		}
		return breadcrumb{}, false
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) < 2 {
		return breadcrumb{}, false
	}
	b = breadcrumb{cwd: strings.TrimSpace(lines[0]), path: strings.TrimSpace(lines[1])}
	return b, filepath.IsAbs(b.cwd) && filepath.IsAbs(b.path)
}

// breadcrumbTarget is the session file that the terminal had last for a
// workspace, or for another worktree at the same place of its repository; ""
// if there is none that may be taken. dir, if not "", must hold the file.
func (s *Store) breadcrumbTarget(ctx context.Context, cwd, dir string) (path, workspace string, err error) {
	b, ok := s.readBreadcrumb()
	if !ok || !samePlace(b.cwd, cwd) && !worktreePeers(s.fsys, b.cwd, cwd) {
		return "", "", nil
	}
	if dir != "" {
		if !isInside(b.path, dir) {
			return "", "", nil
		}
		return b.path, b.cwd, nil
	}
	owned, err := s.candidates(ctx, b.cwd)
	if _, refused := asRefusal(err, b.cwd); refused {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	path, err = s.ownedTarget(ctx, b.path, owned.Owned)
	return path, b.cwd, err
}

// ownedTarget is the candidate that a breadcrumb means. A file that is gone
// may have moved: then it is the only candidate of the same name. A file under
// the sessions directory must be a candidate, by path or by its id.
func (s *Store) ownedTarget(ctx context.Context, path string, owned []scope.Candidate) (string, error) {
	var byName, byID []string
	for _, c := range owned {
		if c.Path == path || samePlace(c.Path, path) {
			return c.Path, nil
		}
		if filepath.Base(c.Path) == filepath.Base(path) {
			byName = append(byName, c.Path)
		}
	}
	in, err := readInfo(ctx, s.fsys, path)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return single(byName), nil
	case err != nil:
		return "", nil
	case !isInside(path, s.opt.Home.Sessions()):
		return path, nil
	}
	for _, c := range owned {
		if c.SessionID == in.ID {
			byID = append(byID, c.Path)
		}
	}
	return single(byID), nil
}

func single(paths []string) string {
	if len(paths) != 1 {
		return ""
	}
	return paths[0]
}

// samePlace reports whether two paths lead to one file or directory.
func samePlace(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	realA, errA := storage.RealPath(a)
	realB, errB := storage.RealPath(b)
	return errA == nil && errB == nil && realA == realB
}

// isInside reports whether path lies below dir, as spelled or without links.
func isInside(path, dir string) bool {
	if below(path, dir) {
		return true
	}
	realPath, err := storage.RealPath(filepath.Dir(path))
	if err != nil {
		return false
	}
	realDir, err := storage.RealPath(dir)
	return err == nil && below(filepath.Join(realPath, filepath.Base(path)), realDir)
}

func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// worktreePeers reports whether two workspaces are the same place in two
// worktrees of one repository.
func worktreePeers(fsys storage.FS, a, b string) bool {
	realA, errA := storage.RealPath(a)
	realB, errB := storage.RealPath(b)
	if errA != nil || errB != nil || scope.ProjectOf(fsys, realA) != scope.ProjectOf(fsys, realB) {
		return false
	}
	topA, inA, okA := worktreeTop(fsys, realA)
	topB, inB, okB := worktreeTop(fsys, realB)
	return okA && okB && topA != topB && inA == inB
}

// worktreeTop is the worktree that a workspace lies in, and where in it.
func worktreeTop(fsys storage.FS, workspace string) (top, rel string, ok bool) {
	for dir := workspace; ; dir = filepath.Dir(dir) {
		if _, err := fsys.Lstat(filepath.Join(dir, ".git")); err == nil {
			rel, err := filepath.Rel(dir, workspace)
			return dir, rel, err == nil
		}
		if filepath.Dir(dir) == dir {
			return "", "", false
		}
	}
}
