package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// world is a home with workspaces, on disk, for tests that choose a session.
type world struct {
	t    *testing.T
	root string // without links
	home scope.Home
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := storage.RealPath(t.TempDir())
	noError(t, err)
	return &world{t: t, root: root, home: scope.HomeAt(filepath.Join(root, "agent"))}
}

func (w *world) store(opt Options) *Store {
	opt.Home = w.home
	return NewStore(storage.Disk(storage.Policy{}), opt)
}

// reading is a store whose file system fails whatever would change something.
func (w *world) reading(opt Options) *Store {
	opt.Home = w.home
	return NewStore(readOnly(w.t, storage.Disk(storage.Policy{})), opt)
}

func readOnly(t *testing.T, fsys storage.FS) storage.FS {
	return &storagetest.Hook{FS: fsys, Before: func(op storagetest.Op, name string) error {
		reads := []storagetest.Op{storagetest.OpOpen, storagetest.OpLstat, storagetest.OpOwner, storagetest.OpReadDir,
			storagetest.OpRead, storagetest.OpStat, storagetest.OpClose}
		if slices.Contains(reads, op) {
			return nil
		}
		t.Errorf("%s of %s, want reading only", op, name)
		return fmt.Errorf("%s: read only", op)
	}}
}

// path is a path below the root, whose directory is made.
func (w *world) path(name string) string {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	noError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	return path
}

func (w *world) workspace(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.root, name)
	noError(w.t, os.MkdirAll(dir, 0o700))
	return dir
}

// scope is the scope of a workspace, made.
func (w *world) scope(workspace string) *scope.Scope {
	w.t.Helper()
	sc, err := scope.Ensure(context.Background(), storage.Disk(storage.Policy{}), w.home, workspace)
	noError(w.t, err)
	return sc
}

var worldStart = time.Date(2026, 2, 10, 8, 0, 0, 0, time.UTC)

// transcript writes a finished session with a file time of minute after the
// start.
func (w *world) transcript(path, id, cwd string, minute int) string {
	w.t.Helper()
	return w.file(path, sessionText(id, cwd), minute)
}

func sessionText(id, cwd string) string {
	return fmt.Sprintf(`{"type":"session","version":5,"id":%q,"timestamp":"2026-02-10T08:00:00.000Z","cwd":%q}
{"type":"message","id":"aa000001","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"user","content":"Sort the tide tables"}}
{"type":"message","id":"aa000002","parentId":"aa000001","timestamp":"2026-02-10T08:02:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Sorted."}]}}
`, id, cwd)
}

func (w *world) file(path, text string, minute int) string {
	w.t.Helper()
	noError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	noError(w.t, os.WriteFile(path, []byte(text), 0o600))
	at := worldStart.Add(time.Duration(minute) * time.Minute)
	noError(w.t, os.Chtimes(path, at, at))
	return path
}

// names are the paths of rows, below the root.
func (w *world) names(rows []Info) []string {
	names := []string{}
	for _, in := range rows {
		names = append(names, w.rel(in.Path))
	}
	return names
}

func (w *world) rel(path string) string {
	if rel, err := filepath.Rel(w.root, path); err == nil {
		return rel
	}
	return path
}

// reasons maps what was left out to why.
func (w *world) reasons(left []LeftOut) map[string]string {
	all := map[string]string{}
	for _, l := range left {
		all[w.rel(l.Path)] = l.Reason
	}
	return all
}

// failing is a file system on which no file can be renamed to that base name.
func failing(fsys storage.FS, base string) storage.FS {
	return &storagetest.Hook{FS: fsys, Before: func(op storagetest.Op, name string) error {
		if op == storagetest.OpRename && filepath.Base(name) == base {
			return syscall.EACCES
		}
		return nil
	}}
}
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
