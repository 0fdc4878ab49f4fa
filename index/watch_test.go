package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// watching is a Watch that a test runs.
type watching struct {
	t      testing.TB
	events chan WatchEvent
	end    context.CancelFunc
	done   chan error
}

// watchAt starts a Watch and waits until it is ready.
func watchAt(t testing.TB, home string, opt WatchOptions) *watching {
	t.Helper()
	x, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{t: t, events: make(chan WatchEvent, 1000), end: cancel, done: make(chan error, 1)}
	ready := make(chan struct{})
	opt.Told = func(e WatchEvent) { w.events <- e }
	opt.Ready = func() { close(ready) }
	if opt.Settle == 0 {
		opt.Settle = time.Millisecond
	}
	go func() { w.done <- errors.Join(x.Watch(ctx, opt), x.Close()) }()
	t.Cleanup(func() { cancel() })
	select {
	case <-ready:
	case err := <-w.done:
		t.Fatalf("Watch ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("Watch is never ready")
	}
	return w
}

// next waits for an event.
func (w *watching) next() WatchEvent {
	w.t.Helper()
	select {
	case e := <-w.events:
		return e
	case err := <-w.done:
		w.t.Fatalf("Watch ended: %v", err)
	case <-time.After(30 * time.Second):
		w.t.Fatal("no event came")
	}
	return WatchEvent{}
}

func (w *watching) wants(want ...WatchEvent) {
	w.t.Helper()
	for _, one := range want {
		got := w.next()
		if diff := cmp.Diff(one, got, cmpopts.IgnoreFields(WatchEvent{}, "Time")); diff != "" {
			w.t.Fatalf("event (-want +got):\n%s", diff)
		}
		if got.Time.IsZero() {
			w.t.Errorf("%+v has no time", got)
		}
	}
}

// stop ends it and gives its error.
func (w *watching) stop() error {
	w.end()
	return <-w.done
}

const watchHeader = `{"type":"session","version":5,"id":"one","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}` + "\n"

func watchPrompt(id, text string) string {
	return `{"type":"message","id":"` + id + `","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
}

func addTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// promised asks until the index is promised to be fresh: while the machine is
// busy an answer may come late, and is none then.
func promised(t testing.TB, x *Index) (rep Report, ok bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok && time.Now().Before(deadline); {
		rep, ok = x.vouched(t.Context())
	}
	return rep, ok
}

func TestWatchTells(t *testing.T) {
	home := t.TempDir()
	old := put(t, home, "p/old.jsonl", `{"type":"session","version":5,"id":"old","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}`+"\n"+watchPrompt("a", "no news"))
	w := watchAt(t, home, WatchOptions{})
	session := func(action SessionAction, path string) WatchEvent {
		return WatchEvent{Kind: WatchSession, Action: action, ID: "one", Path: path, Cwd: "/w"}
	}
	prompt := func(path, entry, text string) WatchEvent {
		return WatchEvent{Kind: WatchPrompt, ID: "one", Path: path, Cwd: "/w", Entry: entry, Text: text}
	}
	tmp := filepath.Join(home, "new.tmp")
	if err := os.WriteFile(tmp, []byte(watchHeader+watchPrompt("b", "first")), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "sessions", "q", "one.jsonl")
	mustDo(t, os.Mkdir(filepath.Dir(path), 0o700))
	mustDo(t, os.Rename(tmp, path))
	w.wants(session(SessionAdded, path), prompt(path, "b", "first"))
	addTo(t, path, watchPrompt("c", "second"))
	w.wants(session(SessionChanged, path), prompt(path, "c", "second"))
	addTo(t, path, `{"type":"label","id":"d","parentId":"c","timestamp":"2026-03-01T09:00:02.000Z","targetId":"b","label":"good"}`+"\n")
	label := WatchEvent{Kind: WatchLabel, ID: "one", Path: path, Cwd: "/w", Entry: "b", Text: "good"}
	w.wants(session(SessionChanged, path), label)

	// A directory that is moved is watched where it is then.
	mustDo(t, os.Rename(filepath.Dir(path), filepath.Join(home, "sessions", "r")))
	moved := filepath.Join(home, "sessions", "r", "one.jsonl")
	w.wants(session(SessionRemoved, path), session(SessionAdded, moved), prompt(moved, "b", "first"), prompt(moved, "c", "second"))
	label.Path = moved
	w.wants(label)
	addTo(t, moved, watchPrompt("e", "third"))
	w.wants(session(SessionChanged, moved), prompt(moved, "e", "third"))

	// So is a session's own directory, and what is in it.
	child := filepath.Join(home, "sessions", "r", "one", "deep", "child.jsonl")
	mustDo(t, os.MkdirAll(filepath.Dir(child), 0o700))
	mustDo(t, os.WriteFile(child, []byte(watchHeader), 0o600))
	e := w.next()
	if e.Path != child || !e.Child {
		t.Errorf("event of a child: %+v", e)
	}
	mustDo(t, os.RemoveAll(filepath.Join(home, "sessions", "r")))
	for range 2 {
		if e := w.next(); e.Action != SessionRemoved || e.ID != "one" {
			t.Errorf("after all of a scope is removed: %+v", e)
		}
	}
	addTo(t, old, watchPrompt("z", "still there"))
	if e := w.next(); e.Path != old {
		t.Errorf("event %+v, want one of %s", e, old)
	}
	if err := w.stop(); err != nil {
		t.Errorf("Watch = %v at the end", err)
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatchedAnswersAreFresh changes files at random and asks at once, 100
// times or as often as GJC_INDEX_WATCHED says.
func TestWatchedAnswersAreFresh(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notices promise nothing here")
	}
	times := 100
	if n, err := strconv.Atoi(os.Getenv("GJC_INDEX_WATCHED")); err == nil {
		times = n
	}
	home := filepath.Join(t.TempDir(), "h")
	world := newWorld(home, 11)
	world.newFile(t)
	w := watchAt(t, home, WatchOptions{Settle: 20 * time.Millisecond})
	go func() {
		for range w.events {
		}
	}()
	x, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{Watched: true})
	mustDo(t, err)
	defer func() { mustDo(t, x.Close()) }()
	kept := 0
	for i := range times {
		if len(world.files) > 40 {
			world.files = nil
			mustDo(t, os.RemoveAll(filepath.Join(home, "sessions")))
		}
		done := world.step(t)
		rep, ok := x.vouched(t.Context())
		if !ok {
			continue
		}
		kept++
		clear(world.edited)
		clear(world.grown)
		// SQLite's own check of a full-text table is wrong on a connection that
		// has checked it before another one wrote: this is a new one.
		y, err := Open(t.Context(), x.fsys, x.home, Options{})
		mustDo(t, err)
		for d, err := range y.Check(t.Context()) {
			t.Fatalf("%d: after %q the index was promised to be fresh: %+v, %v (%+v)", i, done, d, err, rep)
		}
		mustDo(t, y.Close())
	}
	if kept < times/10 {
		t.Errorf("the index was promised to be fresh %d times of %d", kept, times)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// TestListsAtOnceAfterAppends has a writer that appends and lists at once, 100
// times or as often as GJC_INDEX_WATCHED says.
func TestListsAtOnceAfterAppends(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notices promise nothing here")
	}
	times := 100
	if n, err := strconv.Atoi(os.Getenv("GJC_INDEX_WATCHED")); err == nil {
		times = n
	}
	home := filepath.Join(t.TempDir(), "h")
	path := put(t, home, "p/one.jsonl", watchHeader)
	w := watchAt(t, home, WatchOptions{Settle: 50 * time.Millisecond})
	go func() {
		for range w.events {
		}
	}()
	x, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{Watched: true})
	mustDo(t, err)
	defer func() { mustDo(t, x.Close()) }()
	kept, size := 0, int64(len(watchHeader))
	for i := range times {
		line := watchPrompt(fmt.Sprintf("%08x", i), fmt.Sprint("number ", i))
		addTo(t, path, line)
		size += int64(len(line))
		if _, ok := x.vouched(t.Context()); ok {
			kept++
		} else if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		rows, _, err := x.Sessions(t.Context(), Filter{})
		mustDo(t, err)
		n := 0
		for row, err := range rows {
			mustDo(t, err)
			if n++; row.Size != size || row.Entries != i+1 {
				t.Fatalf("append %d: listed with %d bytes and %d entries, want %d and %d", i, row.Size, row.Entries, size, i+1)
			}
		}
		if n != 1 {
			t.Fatalf("append %d: %d sessions", i, n)
		}
	}
	t.Logf("promised %d of %d", kept, times)
	if kept < times/10 {
		t.Errorf("the index was promised to be fresh %d times of %d", kept, times)
	}
}

func TestWatchLooksAtEverythingAfterAnOverflow(t *testing.T) {
	home := t.TempDir()
	path := put(t, home, "p/one.jsonl", watchHeader)
	var src *fsnotify.Watcher
	w := watchAt(t, home, WatchOptions{begun: func(s *fsnotify.Watcher) { src = s }})
	mustDo(t, src.Remove(filepath.Dir(path))) // so nothing is told of it
	addTo(t, path, watchPrompt("a", "unseen"))
	src.Errors <- fsnotify.ErrEventOverflow
	w.wants(WatchEvent{Kind: WatchSession, Action: SessionChanged, ID: "one", Path: path, Cwd: "/w"},
		WatchEvent{Kind: WatchPrompt, ID: "one", Path: path, Cwd: "/w", Entry: "a", Text: "unseen"})
	addTo(t, path, watchPrompt("b", "seen")) // it is watched again
	w.next()
	if e := w.next(); e.Entry != "b" {
		t.Errorf("event %+v, want that of b", e)
	}
}

func TestOneWatcherAHome(t *testing.T) {
	home := t.TempDir()
	w := watchAt(t, home, WatchOptions{})
	x := openAt(t, home, Options{})
	err := x.Watch(t.Context(), WatchOptions{})
	var other *WatchedError
	if !errors.As(err, &other) || other.PID != os.Getpid() || !errors.Is(err, storage.ErrLocked) {
		t.Errorf("a second Watch = %v, want one that names this process", err)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(home, "index.db.watch.*")); err != nil || len(left) > 0 {
		t.Errorf("the end leaves %v, %v", left, err)
	}
	again := watchAt(t, home, WatchOptions{})
	if err := again.stop(); err != nil {
		t.Error(err)
	}
}

func TestWatchIsRefused(t *testing.T) {
	home := t.TempDir()
	x := openAt(t, home, Options{Network: func(string) bool { return true }})
	if err := x.Watch(t.Context(), WatchOptions{}); !errors.Is(err, scope.ErrNetwork) {
		t.Errorf("Watch of a network file system = %v, want ErrNetwork", err)
	}
	none := openAt(t, filepath.Join(home, "none"), Options{})
	if err := none.Watch(t.Context(), WatchOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Watch without a home = %v, want ErrNotExist", err)
	}
	full := func(string) error { return syscall.ENOSPC }
	y := openAt(t, home, Options{})
	if err := y.Watch(t.Context(), WatchOptions{add: full}); !errors.Is(err, ErrWatchLimit) {
		t.Errorf("Watch at the system's limit = %v, want ErrWatchLimit", err)
	}
}

func TestWatchWalksWhereNoNoticesAreLeft(t *testing.T) {
	home := t.TempDir()
	path := put(t, home, "p/one.jsonl", watchHeader)
	full := func(name string) error {
		if filepath.Base(name) == "p" {
			return syscall.ENOSPC
		}
		return nil
	}
	w := watchAt(t, home, WatchOptions{add: full, Every: 5 * time.Millisecond})
	x := openAt(t, home, Options{Watched: true})
	if _, ok := x.vouched(t.Context()); ok {
		t.Error("a watcher that can't see everything promises that the index is fresh")
	}
	addTo(t, path, watchPrompt("a", "found by a walk"))
	w.next()
	if e := w.next(); e.Text != "found by a walk" {
		t.Errorf("event %+v", e)
	}
}

func TestWatchEndsWithItsHome(t *testing.T) {
	for name, lose := range map[string]func(above, home string) error{
		"home renamed":            func(_, home string) error { return os.Rename(home, home+"2") },
		"directory above renamed": func(above, _ string) error { return os.Rename(above, above+"2") },
		"another in its place": func(above, home string) error {
			return errors.Join(os.Rename(above, above+"2"), os.MkdirAll(home, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			above := filepath.Join(t.TempDir(), "above")
			home := filepath.Join(above, "h")
			mustDo(t, os.MkdirAll(home, 0o700))
			w := watchAt(t, home, WatchOptions{home: 5 * time.Millisecond})
			mustDo(t, lose(above, home))
			select {
			case err := <-w.done:
				if !errors.Is(err, ErrHomeGone) {
					t.Errorf("Watch = %v, want ErrHomeGone", err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("Watch goes on")
			}
		})
	}
}
