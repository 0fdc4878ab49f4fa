package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// oddFS is the disk with a device number and times of the test's choice.
type oddFS struct {
	storage.FS
	dev  uint64
	time int64 // Unix ns that every file has; 0: its own

	mu    sync.Mutex
	opens []string
}

func (o *oddFS) bend(i storage.Info) storage.Info {
	i.Dev += o.dev
	if o.time != 0 {
		i.ModTime, i.ChangeTime = o.time, o.time
	}
	return i
}

func (o *oddFS) StatDir(name string) ([]storage.DirEntry, error) {
	list, err := o.FS.StatDir(name)
	for i := range list {
		list[i].Info = o.bend(list[i].Info)
	}
	return list, err
}

func (o *oddFS) Open(name string) (storage.File, error) {
	o.mu.Lock()
	o.opens = append(o.opens, filepath.Base(name))
	o.mu.Unlock()
	f, err := o.FS.Open(name)
	return oddFile{f, o}, err
}

type oddFile struct {
	storage.File
	fs *oddFS
}

func (f oddFile) Stat() (storage.Info, error) {
	i, err := f.File.Stat()
	return f.fs.bend(i), err
}

func openOdd(t *testing.T, fsys *oddFS, home string, now *time.Time) *Index {
	t.Helper()
	x, err := Open(t.Context(), fsys, scope.HomeAt(home), Options{
		Now:  func() time.Time { return *now },
		Tick: func(string) time.Duration { return 20 * time.Millisecond },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func (o *oddFS) opened() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.opens)
	s := strings.Join(o.opens, " ")
	o.opens = nil
	return s
}

func TestRefreshOpensOnlyWhatChanged(t *testing.T) {
	home := simpleHome(t, 6)
	fsys := &oddFS{FS: storage.Disk(storage.Policy{})}
	put(t, home, "scope0/bad.jsonl", "no session\n")
	now := time.Now().Add(time.Hour)
	x := openOdd(t, fsys, home, &now)
	refresh(t, x)
	fsys.opened()
	refresh(t, x)
	if got := fsys.opened(); got != "" {
		t.Errorf("Refresh with nothing changed opened %q", got)
	}
	put(t, home, "scope0/s0002.jsonl", `{"type":"session","version":5,"id":"other","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}`+"\n")
	rep := refresh(t, x)
	if got := fsys.opened(); got != "s0002.jsonl" || rep.Changed != 1 {
		t.Errorf("Refresh with one file changed opened %q: %+v", got, rep)
	}
	if len(rep.Failed) != 1 || filepath.Base(rep.Failed[0].Path) != "bad.jsonl" {
		t.Errorf("Refresh failed = %+v, want bad.jsonl", rep.Failed)
	}
}

func TestYoungFilesAreReadOnceMore(t *testing.T) {
	home := simpleHome(t, 2)
	path := filepath.Join(home, "sessions", "scope0", "s0000.jsonl")
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	fsys := &oddFS{FS: storage.Disk(storage.Policy{}), time: start.UnixNano()}
	now := start.Add(5 * time.Millisecond)
	x := openOdd(t, fsys, home, &now)
	replace := func(from, to string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), from, to)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := func() string {
		t.Helper()
		row, err := x.Find(t.Context(), "s0000")
		if err != nil {
			t.Fatal(err)
		}
		return row.FirstPrompt
	}
	refresh(t, x)
	replace("needle", "noodle") // no stat tells
	fsys.opened()
	if refresh(t, x); first() != "noodle0000" {
		t.Errorf("young file: first prompt is %q", first())
	}
	if got := fsys.opened(); got != "s0000.jsonl s0001.jsonl" {
		t.Errorf("young files: opened %q", got)
	}
	replace("noodle", "puddle")
	now = start.Add(time.Second)
	if refresh(t, x); first() != "puddle0000" {
		t.Errorf("after the tick: first prompt is %q", first())
	}
	fsys.opened()
	refresh(t, x)
	if got := fsys.opened(); got != "" {
		t.Errorf("files that are clean: opened %q", got)
	}
}

func TestRemountReadsNothing(t *testing.T) {
	home := simpleHome(t, 6)
	now := time.Now().Add(time.Hour)
	fsys := &oddFS{FS: storage.Disk(storage.Policy{})}
	x := openOdd(t, fsys, home, &now)
	refresh(t, x)
	before := dump(t, x)
	fsys.opened()
	fsys.dev = 17
	if rep := refresh(t, x); rep.Same != 6 || fsys.opened() != "" {
		t.Errorf("Refresh after a remount = %+v", rep)
	}
	if rep := refresh(t, x); rep.Same != 6 {
		t.Errorf("second Refresh after a remount = %+v", rep)
	}
	if after := dump(t, x); after == before {
		t.Error("device numbers were not stored")
	}
	checkEqual(t, x)
}

func TestOneScopeOnAnotherDeviceIsReadAgain(t *testing.T) {
	home := simpleHome(t, 6)
	now := time.Now().Add(time.Hour)
	fsys := &oddFS{FS: storage.Disk(storage.Policy{})}
	x := openOdd(t, fsys, home, &now)
	refresh(t, x)
	fsys.opened()
	// A scope is copied away and back: other inodes.
	from := filepath.Join(home, "sessions", "scope1")
	if err := os.Rename(from, from+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(from, os.DirFS(from+".old")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(from + ".old"); err != nil {
		t.Fatal(err)
	}
	if rep := refresh(t, x); rep.Changed != 3 || rep.Same != 3 {
		t.Errorf("Refresh = %+v, want 3 changed", rep)
	}
}

func TestListIsOrderedByWhatHappened(t *testing.T) {
	home := simpleHome(t, 3)
	old := filepath.Join(home, "sessions", "scope0", "s0000.jsonl")
	if err := os.Chtimes(old, time.Now(), time.Now()); err != nil { // a copy restamps
		t.Fatal(err)
	}
	future := put(t, home, "scope0/future.jsonl", `{"type":"session","version":5,"id":"future","timestamp":"2099-01-01T00:00:00.000Z","cwd":"/w"}`+"\n")
	stamp := time.Date(2026, 1, 1, 0, 0, 1, 5e8, time.UTC)
	if err := os.Chtimes(future, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	x := openAt(t, home, Options{})
	refresh(t, x)
	for _, tt := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "s0002 future s0001 s0000"},
		{Filter{Reverse: true}, "s0000 s0001 future s0002"},
		{Filter{Limit: 2}, "s0002 future"},
		{Filter{Limit: 2, Offset: 2}, "s0001 s0000"},
		{Filter{Since: time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC), Until: time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)}, "future s0001"},
		{Filter{Cwd: "/w"}, "future"},
		{Filter{Project: "/work"}, "s0002 s0001 s0000"},
		{Filter{Sort: SortModified, Limit: 1}, "s0000"},
		{Filter{Sort: SortTitle}, "future s0000 s0001 s0002"},
		{Filter{Sort: SortMessages, Reverse: true, Limit: 1}, "future"},
	} {
		t.Run(fmt.Sprintf("%+v", tt.filter), func(t *testing.T) {
			if got := strings.Join(sessionIDs(t, x, tt.filter), " "); got != tt.want {
				t.Errorf("Sessions = %q, want %q", got, tt.want)
			}
		})
	}
}
