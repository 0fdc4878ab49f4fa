package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

func TestNoPromiseIsTakenFromOthers(t *testing.T) {
	home := t.TempDir()
	path := put(t, home, "p/one.jsonl", watchHeader)
	x := openAt(t, home, Options{Watched: true})
	refresh(t, x)
	socket := watchSocket(filepath.Join(home, "index.db"))
	fresh := func(name string) {
		t.Helper()
		addTo(t, path, watchPrompt(name, name))
		start := time.Now()
		if rep := refresh(t, x); rep.Changed != 1 {
			t.Errorf("%s: Refresh = %+v, want one that looks", name, rep)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
	mustDo(t, os.WriteFile(socket, nil, 0o600))
	fresh("a file")
	mustDo(t, os.Remove(socket))
	l, err := net.Listen("unix", socket)
	mustDo(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	mustDo(t, os.Chmod(socket, 0o600))
	fresh("one that never answers")
	for _, text := range []string{"\n", "{\"fresh\":true}\n", "{\"fresh\":true,\"generation\":1}", "garbage\n"} {
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Write([]byte(text))
				_ = c.Close()
			}
		}()
		// The one before may be the one that is accepted; then this is another that never answers.
		fresh("an answer of another kind " + strconv.Itoa(len(text)))
	}
	mustDo(t, l.Close())
	fresh("one that is gone")
	w := watchAt(t, home, WatchOptions{}) // and it stops no watcher
	if runtime.GOOS == "linux" {
		if _, ok := promised(t, x); !ok {
			t.Error("nothing is promised after a socket was left")
		}
	}
	mustDo(t, os.Chmod(socket, 0o666))
	if _, ok := x.vouched(t.Context()); ok {
		t.Error("a socket that all may replace is asked")
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// A process that looks for itself may write the index by an older look.
func TestPromiseIsOfTheDatabaseAsItIs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notices promise nothing here")
	}
	home := t.TempDir()
	put(t, home, "p/one.jsonl", watchHeader)
	watchAt(t, home, WatchOptions{})
	x := openAt(t, home, Options{Watched: true})
	other := openAt(t, home, Options{})
	older, err := other.walk(t.Context())
	mustDo(t, err)
	put(t, home, "p/two.jsonl", watchHeader)
	if rep, ok := promised(t, x); !ok || rep.Files != 2 {
		t.Fatalf("promised %v %+v, want two files", ok, rep)
	}
	if _, err := other.refreshTo(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	if _, ok := promised(t, x); !ok {
		t.Fatal("nothing is promised")
	}
	for d, err := range x.Check(t.Context()) {
		t.Errorf("Check found %+v, %v", d, err)
	}
	for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
		if err := os.Remove(filepath.Join(home, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if rep := refresh(t, x); rep.Files != 2 {
		t.Errorf("without a database: %+v", rep)
	}
	for d, err := range x.Check(t.Context()) {
		t.Errorf("Check found %+v, %v", d, err)
	}
}

func TestPromiseIsOfTypedPromptsToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notices promise nothing here")
	}
	home := t.TempDir()
	put(t, home, "p/one.jsonl", watchHeader)
	watchAt(t, home, WatchOptions{})
	x := openAt(t, home, Options{Watched: true})
	h, err := history.Open(t.Context(), x.fsys, filepath.Join(home, "history.db"), history.Options{})
	mustDo(t, err)
	for i := range 20 {
		text := fmt.Sprint("typed elsewhere ", i)
		mustDo(t, h.Add(text, nil))
		mustDo(t, h.Flush(t.Context()))
		if _, ok := x.vouched(t.Context()); !ok {
			_, err := x.Refresh(t.Context())
			mustDo(t, err)
		}
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery(strconv.Quote(text))})
		if mustDo(t, err); len(found.Hits) != 1 {
			t.Fatalf("%q: %d hits", text, len(found.Hits))
		}
	}
	mustDo(t, h.Close())
}

// noCookies is a file system in which the watcher can't make files.
type noCookies struct{ storage.FS }

func (f noCookies) Create(name string) (storage.File, error) {
	if base := filepath.Base(name); len(base) > len(cookiePrefix) && base[:len(cookiePrefix)] == cookiePrefix {
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.ENOSPC}
	}
	return f.FS.Create(name)
}

func TestNoPromiseOnAFullDisk(t *testing.T) {
	home := t.TempDir()
	path := put(t, home, "p/one.jsonl", watchHeader)
	y, err := Open(t.Context(), noCookies{storage.Disk(storage.Policy{})}, scope.HomeAt(home), Options{})
	mustDo(t, err)
	ready, done := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- y.Watch(ctx, WatchOptions{Ready: func() { close(ready) }}) }()
	<-ready
	x := openAt(t, home, Options{Watched: true})
	addTo(t, path, watchPrompt("a", "one"))
	if _, ok := x.vouched(t.Context()); ok {
		t.Error("the index is promised to be fresh")
	}
	if rep := refresh(t, x); rep.Files != 1 {
		t.Errorf("Refresh = %+v", rep)
	}
	cancel()
	mustDo(t, errors.Join(<-done, y.Close()))
}

// The file of event ids changes often and says nothing about sessions.
func TestWatchIgnoresTheSequence(t *testing.T) {
	home := t.TempDir()
	put(t, home, "p/one.jsonl", watchHeader)
	put(t, home, "event-id-sequence", "0000000000000001\n")
	flushed := make(chan time.Duration, 100)
	watchAt(t, home, WatchOptions{rest: func(d time.Duration) { flushed <- d }})
	<-flushed
	x := openAt(t, home, Options{Watched: true})
	put(t, home, "event-id-sequence", "0000000000000101\n")
	if runtime.GOOS == "linux" {
		if _, ok := promised(t, x); !ok {
			t.Error("nothing is promised")
		}
	}
	if n := len(flushed); n > 0 {
		t.Errorf("%d flushes after the sequence was written", n)
	}
	put(t, home, "event-id-sequence.jsonl", watchHeader) // this is a session
	if rep := refresh(t, x); rep.Files != 2 {
		t.Errorf("Refresh = %+v, want two files", rep)
	}
}

func TestNoPromiseWhereItCanNotBeKept(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, home string){
		"hard link": func(t *testing.T, home string) {
			mustDo(t, os.Link(put(t, home, "p/one.jsonl", watchHeader), filepath.Join(home, "other")))
		},
		"link": func(t *testing.T, home string) { mustDo(t, os.Symlink(home, filepath.Join(home, "sessions", "x"))) },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			put(t, home, "p/two.jsonl", watchHeader)
			spoil(t, home)
			watchAt(t, home, WatchOptions{})
			x := openAt(t, home, Options{Watched: true})
			if _, ok := x.vouched(t.Context()); ok {
				t.Error("the index is promised to be fresh")
			}
		})
	}
}

func TestDirectoriesAreWatchedByAWalkOfManyAtOnce(t *testing.T) {
	src, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	root := t.TempDir()
	f := &watchingFS{FS: storage.Disk(storage.Policy{}), src: src, watched: map[string]bool{}}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				dir := filepath.Join(root, fmt.Sprintf("%d-%d", i, n))
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Error(err)
				}
				if _, err := f.StatDir(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(f.watched) != 800 {
		t.Errorf("%d directories are watched, want 800", len(f.watched))
	}
}
