package index

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// watchingFS is a file system whose lists begin with a watch on the directory:
// what was there before is in the list, what comes after it has a notice.
type watchingFS struct {
	storage.FS
	src *fsnotify.Watcher

	mu      sync.Mutex // a walk lists several directories at once
	hook    func(name string) error
	watched map[string]bool
	limited error // ErrWatchLimit, once it was met
	blind   bool  // a directory could not be watched since the last whole walk
}

// StatDir watches and lists.
func (f *watchingFS) StatDir(name string) ([]storage.DirEntry, error) {
	_ = f.watch(name) // it is kept in blind and limited
	return f.FS.StatDir(name)
}

// watch asks for notices of a directory. One that is watched is asked for
// again: another one may have its name.
func (f *watchingFS) watch(name string) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limited != nil {
		return f.limited
	}
	if f.hook != nil {
		err = f.hook(name)
	}
	if err == nil {
		err = f.src.Add(name)
	}
	switch {
	case err == nil:
		f.watched[name] = true
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE):
		f.limited, f.blind = ErrWatchLimit, true
		err = f.limited
	case !errors.Is(err, fs.ErrNotExist):
		f.blind = true
	}
	return err
}

// forget gives up the watch of a directory that has lost its name, and those
// below it. A watch stays with a directory that is moved, under its old name.
func (f *watchingFS) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.watched[name] {
		return
	}
	below := name + string(filepath.Separator)
	for dir := range f.watched {
		if dir == name || strings.HasPrefix(dir, below) {
			delete(f.watched, dir)
			_ = f.src.Remove(dir) // the kernel may have done so
		}
	}
}

// cookiePrefix begins the names of the files by which the watcher knows that
// it has read all notices up to now.
const cookiePrefix = "index.db.watch."

// take notes what a notice says.
func (w *watcher) take(e fsnotify.Event, ok bool) error {
	if !ok {
		return errors.New("watch: the source of notices has ended")
	}
	if e.Name == "" {
		return nil
	}
	lost := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if lost && e.Name == w.data {
		return ErrHomeGone
	}
	if lost {
		w.fsys.forget(e.Name)
	}
	root := w.root()
	rel, err := filepath.Rel(root, e.Name)
	switch {
	case err != nil || strings.HasPrefix(rel, ".."):
		w.takeBeside(filepath.Base(e.Name))
	case rel == ".":
		w.last, w.touched = nil, true
	default:
		name, below, deeper := strings.Cut(rel, string(filepath.Separator))
		w.takeWithin(name, deeper && below != "", e.Op)
	}
	return nil
}

// root is where the sessions lie, without links.
func (w *watcher) root() string { return filepath.Join(w.data, "sessions") }

// takeBeside takes a notice of a file in the home.
func (w *watcher) takeBeside(name string) {
	if strings.HasPrefix(name, "history.db") && !strings.HasSuffix(name, "-shm") {
		w.touched = true
	}
}

// takeWithin takes a notice of what is called name in the directory of the
// sessions, or of something in it.
func (w *watcher) takeWithin(name string, deeper bool, op fsnotify.Op) {
	made := op.Has(fsnotify.Create) || op.Has(fsnotify.Remove) || op.Has(fsnotify.Rename)
	switch {
	case w.last == nil:
		w.touched = true
	case deeper, w.scope(name) >= 0 && !made:
		if w.dirty == nil {
			w.dirty = map[string]bool{}
		}
		w.dirty[name], w.touched = true, true
	case w.isSequence(name):
	case w.scope("") >= 0: // a session here may be written by a name that it has no more
		w.last, w.touched = nil, true
	case strings.HasPrefix(name, "."):
	case made, op.Has(fsnotify.Chmod), strings.HasSuffix(name, ".jsonl"):
		w.last, w.touched = nil, true
	}
}

// isSequence reports whether a name is that of the file of event ids, which
// changes with each block of them.
func (w *watcher) isSequence(name string) bool {
	path := filepath.Join(w.root(), name)
	if name != filepath.Base(w.x.home.EventSequence()) {
		return false
	}
	info, err := w.x.fsys.Lstat(path)
	return err != nil && w.scope(name) < 0 || info.Kind == storage.Regular
}

// scope is where a scope stands in the last walk; -1 if it doesn't.
func (w *watcher) scope(name string) int {
	if w.last == nil {
		return -1
	}
	return slices.IndexFunc(w.last.scopes, func(s diskScope) bool { return s.name == name })
}

// look looks at what is dirty, or at everything.
func (w *watcher) look(ctx context.Context) error {
	if w.last != nil {
		for name := range w.dirty {
			if !w.lookAt(name) {
				w.last = nil
				break
			}
		}
	}
	dirty := w.dirty
	w.dirty = nil
	if w.last != nil {
		w.last.files, w.last.bytes = 0, 0
		w.last.count()
		w.watchReceipts(dirty)
		return nil
	}
	w.fsys.blind = w.fsys.limited != nil
	fresh, err := walkSessions(ctx, w.fsys, w.root())
	if err != nil {
		return err
	}
	w.compareAll(fresh)
	w.last, w.receipts = fresh, false
	w.watchReceipts(nil)
	return nil
}

// watchReceipts watches what says which sessions of older layouts have a copy;
// of the scopes that were looked at again, if the others are watched already.
// It is read after this.
func (w *watcher) watchReceipts(some map[string]bool) {
	w.older = slices.ContainsFunc(w.last.scopes, func(s diskScope) bool { return isLegacy(s.name) && len(s.files) > 0 })
	for i := range w.last.scopes {
		name := w.last.scopes[i].name
		if !w.older || isLegacy(name) || w.receipts && !some[name] {
			continue
		}
		at := &scope.Scope{Dir: filepath.Join(w.last.root, name)}
		for _, dir := range []string{filepath.Dir(at.Receipts()), filepath.Dir(at.Tombstones()), at.Receipts(), at.Tombstones()} {
			_ = w.fsys.watch(dir) // it is kept in blind and limited
		}
	}
	w.receipts = w.older
}

// lookAt looks at one scope again; false if that takes a look at everything.
func (w *watcher) lookAt(name string) bool {
	at := w.scope(name)
	if at < 0 || name == "" {
		return false
	}
	dir := filepath.Join(w.last.root, name)
	info, err := w.fsys.Lstat(dir)
	if err != nil || info.Kind != storage.Dir {
		return false
	}
	s := diskScope{name: name, dev: info.Dev}
	if err := s.add(w.fsys, dir, "", 0); err != nil {
		return false
	}
	w.compare(&w.last.scopes[at], &s)
	w.last.scopes[at] = s
	return true
}

// complete reports whether the last walk leaves nothing that the database
// could not hold, or that could change without a notice.
func (w *watcher) complete() bool {
	if w.fsys.blind || len(w.last.failed) > 0 || w.older && w.sources == "" || w.x.opt.Tick(w.data) > fineTick {
		return false
	}
	for i := range w.last.scopes {
		s := &w.last.scopes[i]
		for j := range s.files {
			if s.files[j].info.Links > 1 || s.files[j].refused != "" {
				return false // it may be written by another name
			}
		}
	}
	return true
}

// fineTick is the longest tick of the file systems that are known to be this
// machine's own.
const fineTick = 20 * time.Millisecond
