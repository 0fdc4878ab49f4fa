package storagetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// The tests of Run that are about names and locks.

func testRename(t *testing.T, w world) {
	w.put(t, "a", "a")
	w.put(t, "b", "b")
	before := w.info(t, "a")
	must(t, w.Rename(w.path("a"), w.path("b")))
	w.wantNames(t, "", "b")
	w.wantText(t, "b", "a")
	if !w.info(t, "b").SameFile(before) {
		t.Error("the renamed file is another one")
	}
	must(t, w.Mkdir(w.path("full")))
	must(t, w.Mkdir(w.path("full/sub")))
	must(t, w.Mkdir(w.path("dir")))
	if err := w.Rename(w.path("b"), w.path("dir")); err == nil {
		t.Error("Rename of a file over a directory = nil, want an error")
	}
	if err := w.Rename(w.path("dir"), w.path("full")); err == nil {
		t.Error("Rename over a directory that is not empty = nil, want an error")
	}
	if err := w.Rename(w.path("full"), w.path("full/sub/in")); err == nil {
		t.Error("Rename of a directory into itself = nil, want an error")
	}
}

func testNoReplace(t *testing.T, w world) {
	w.put(t, "a", "a")
	must(t, w.RenameNoReplace(w.path("a"), w.path("b")))
	must(t, w.Mkdir(w.path("d")))
	w.put(t, "d/in", "x")
	must(t, w.RenameNoReplace(w.path("d"), w.path("e")))
	w.wantNames(t, "", "b", "e")
	w.wantText(t, "e/in", "x")
	if got := w.info(t, "b").Links; got != 1 {
		t.Errorf("%d links, want 1", got)
	}
}

func testLink(t *testing.T, w world) {
	w.put(t, "a", "a")
	must(t, w.Link(w.path("a"), w.path("b")))
	a, b := w.info(t, "a"), w.info(t, "b")
	if !a.SameFile(b) || a.Links != 2 {
		t.Errorf("same file %v with %d links, want true with 2", a.SameFile(b), a.Links)
	}
	must(t, w.Remove(w.path("a")))
	w.wantText(t, "b", "a")
	if got := w.info(t, "b").Links; got != 1 {
		t.Errorf("%d links after Remove, want 1", got)
	}
}

func testRemove(t *testing.T, w world) {
	must(t, w.Mkdir(w.path("d")))
	w.put(t, "d/f", "x")
	if err := w.Remove(w.path("d")); err == nil {
		t.Error("Remove of a directory that is not empty = nil, want an error")
	}
	f, err := w.Open(w.path("d/f"))
	must(t, err)
	must(t, w.Remove(w.path("d/f")))
	must(t, w.Remove(w.path("d")))
	w.wantNames(t, "")
	buf := make([]byte, 1)
	if n, err := f.ReadAt(buf, 0); n != 1 || err != nil || buf[0] != 'x' {
		t.Errorf("ReadAt of the removed file = %d, %v, want its byte", n, err)
	}
	must(t, f.Close())
}

func testLists(t *testing.T, w world) {
	w.wantNames(t, "")
	must(t, w.Mkdir(w.path("sub")))
	for i := range 300 {
		w.put(t, fmt.Sprintf("f%03d-%s", i, strings.Repeat("é", i%60)), strings.Repeat("x", i))
	}
	kinds, err := w.ReadDir(w.dir)
	must(t, err)
	infos, err := w.StatDir(w.dir)
	must(t, err)
	slices.SortFunc(infos, func(a, b storage.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	var wantKinds, wantInfos []storage.DirEntry
	for _, e := range kinds {
		info := w.info(t, e.Name)
		wantInfos = append(wantInfos, storage.DirEntry{Name: e.Name, Info: info})
		wantKinds = append(wantKinds, storage.DirEntry{Name: e.Name, Info: storage.Info{Kind: info.Kind}})
	}
	if len(kinds) != 301 || kinds[300].Name != "sub" {
		t.Errorf("%d names, want 301 with sub at the end", len(kinds))
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("ReadDir (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantInfos, infos); diff != "" {
		t.Errorf("StatDir (-want +got):\n%s", diff)
	}
}

func testChtimes(t *testing.T, w world) {
	w.put(t, "f", "")
	const when = 1_700_000_000_123_456_700 // a multiple of 100 ns, which every platform has
	must(t, w.Chtimes(w.path("f"), when))
	if got := w.info(t, "f").ModTime; got != when {
		t.Errorf("ModTime = %d, want %d", got, int64(when))
	}
}

func testOwner(t *testing.T, w world) {
	w.put(t, "f", "")
	must(t, w.Mkdir(w.path("d")))
	info, err := storage.CheckOwnerOnly(w, w.path("f"), storage.Regular)
	must(t, err)
	if !info.SameFile(w.info(t, "f")) {
		t.Error("CheckOwnerOnly tells of another file")
	}
	_, err = storage.CheckOwnerOnlyUnder(w, w.path("d"), w.path("f"), storage.Regular)
	wantErr(t, "CheckOwnerOnlyUnder a directory that doesn't hold the file", err, storage.ErrUnsafe)
	must(t, w.Chmod(w.path("f"), 0o640))
	if w.info(t, "f").Mode != 0o640 {
		return // a platform without permission bits
	}
	_, err = w.CheckOwner(w.path("f"), storage.Regular)
	wantErr(t, "CheckOwner with mode 0640", err, storage.ErrUnsafe)
	must(t, w.Chmod(w.path("f"), 0o600))
	must(t, w.Link(w.path("f"), w.path("twin")))
	_, err = w.CheckOwner(w.path("f"), storage.Regular)
	wantErr(t, "CheckOwner with two links", err, storage.ErrUnsafe)
	w.put(t, "d/f", "")
	_, err = storage.CheckOwnerOnlyUnder(w, w.path("d"), w.path("d/f"), storage.Regular)
	must(t, err)
	must(t, w.Chmod(w.path("d"), 0o755))
	_, err = storage.CheckOwnerOnlyUnder(w, w.path("d"), w.path("d/f"), storage.Regular)
	wantErr(t, "CheckOwnerOnlyUnder a directory with mode 0755", err, storage.ErrUnsafe)
}

func testFileLocks(t *testing.T, w world) {
	w.put(t, "f", "")
	a, err := w.Open(w.path("f"))
	must(t, err)
	b, err := w.Edit(w.path("f"))
	must(t, err)
	must(t, a.TryLock(true))
	must(t, b.TryLock(true))
	must(t, b.Unlock())
	wantErr(t, "exclusive beside shared", b.TryLock(false), storage.ErrLocked)
	must(t, a.Unlock())
	must(t, b.TryLock(false))
	wantErr(t, "shared beside exclusive", a.TryLock(true), storage.ErrLocked)
	must(t, b.Close())
	must(t, a.TryLock(true))
	must(t, a.Close())
}

func testLockFiles(t *testing.T, w world) {
	name := w.path("lock")
	held, err := w.TryLock(name, storage.Exclusive)
	must(t, err)
	_, err = held.File().WriteAt([]byte("me"), 0)
	must(t, err)
	w.wantText(t, "lock", "me")
	_, err = w.TryLock(name, storage.Shared)
	wantErr(t, "TryLock of a held lock", err, storage.ErrLocked)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = w.Lock(ctx, name, storage.Exclusive)
	wantErr(t, "Lock whose context ends", err, storage.ErrLocked)
	wantErr(t, "Lock whose context ends", err, context.DeadlineExceeded)

	got := make(chan error)
	go func() {
		l, err := w.Lock(t.Context(), name, storage.Shared)
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	must(t, held.Unlock())
	must(t, held.Unlock())
	must(t, <-got)

	one, err := w.TryLock(name, storage.Shared)
	must(t, err)
	two, err := w.TryLock(name, storage.Shared)
	must(t, err)
	must(t, one.Unlock())
	must(t, two.Unlock())
	w.wantText(t, "lock", "me")
}

func testLockMoved(t *testing.T, w world) {
	name := w.path("lock")
	old, err := w.TryLock(name, storage.Exclusive)
	must(t, err)
	must(t, w.Remove(name))
	fresh, err := w.TryLock(name, storage.Exclusive)
	must(t, err)
	info, err := fresh.File().Stat()
	must(t, err)
	if !info.SameFile(w.info(t, "lock")) {
		t.Error("the lock is on a file that the path doesn't name")
	}
	must(t, old.Unlock())
	_, err = w.TryLock(name, storage.Exclusive)
	wantErr(t, "TryLock after the old holder is gone", err, storage.ErrLocked)
	must(t, fresh.Unlock())
}

func testMkdirAll(t *testing.T, w world) {
	name := w.path("a/b/c")
	must(t, storage.MkdirAll(w, name))
	must(t, storage.MkdirAll(w, name))
	if info := w.info(t, "a/b"); info.Kind != storage.Dir || info.Mode != fs.FileMode(0o700) {
		t.Errorf("a/b has kind %d and mode %o, want a directory with 0700", info.Kind, info.Mode)
	}
	w.put(t, "file", "")
	wantErr(t, "MkdirAll of a file", storage.MkdirAll(w, w.path("file")), storage.ErrUnsafe)
	if err := storage.MkdirAll(w, w.path("file/sub")); err == nil {
		t.Error("MkdirAll under a file = nil, want an error")
	}
}
