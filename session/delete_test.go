package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestDeleteTakesTheSessionAndWhatBelongsToIt(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	path := w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	w.file(sc.Dir+"/a/out.txt", "artifact", 1)
	for _, end := range []string{".meta.json", ".leaf.json", ".archive.ndjson", ".psm.ndjson"} {
		w.file(sc.Dir+"/a"+end, "{}", 1)
	}
	keep := w.transcript(sc.Dir+"/a.b.jsonl", "ab", cwd, 1)
	w.file(sc.Dir+"/a.b.meta.json", "{}", 1)
	s := w.store(Options{})
	tombstone, err := s.Delete(t.Context(), path)
	noError(t, err)
	if _, err := os.Stat(tombstone); err != nil || filepath.Dir(tombstone) != sc.Tombstones() {
		t.Errorf("tombstone %q: %v", tombstone, err)
	}
	entries, err := os.ReadDir(sc.Dir)
	noError(t, err)
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".gjc-") && !strings.HasPrefix(name, "a.b.") {
			t.Errorf("%s is still there", name)
		}
	}
	l, err := s.List(t.Context(), cwd)
	noError(t, err)
	if len(l.Sessions) != 1 || l.Sessions[0].Path != keep {
		t.Errorf("List = %v, want a.b.jsonl alone", w.names(l.Sessions))
	}
}

func TestDeleteTakesTheSourceOfAMigratedSession(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Root+"/-old/c.jsonl", "c", cwd, 1)
	s := w.store(Options{})
	session, err := s.Open(t.Context(), sc.Root+"/-old/c.jsonl", OpenOptions{})
	noError(t, err)
	path := session.Path()
	noError(t, session.Close())
	_, err = s.Delete(t.Context(), path)
	noError(t, err)
	if l, err := s.List(t.Context(), cwd); err != nil || len(l.Sessions) != 0 {
		t.Errorf("List = %v, %v, want nothing", w.names(l.Sessions), err)
	}
}

func TestDeleteOfASessionInUseIsRefused(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	path := w.transcript(w.scope(cwd).Dir+"/a.jsonl", "a", cwd, 1)
	s, other := w.store(Options{}), w.store(Options{})
	session, err := other.Open(t.Context(), path, OpenOptions{})
	noError(t, err)
	if _, err := s.Delete(t.Context(), path); !errors.Is(err, ErrBusy) {
		t.Errorf("Delete beside another writer = %v, want ErrBusy", err)
	}
	if _, err := other.Delete(t.Context(), path); !errors.Is(err, ErrProtected) {
		t.Errorf("Delete of one's own open session = %v, want ErrProtected", err)
	}
	noError(t, session.Close())
	f, err := storage.Disk(storage.Policy{}).Open(path)
	noError(t, err)
	noError(t, f.TryLock(true))
	if _, err := s.Delete(t.Context(), path); !errors.Is(err, ErrProtected) {
		t.Errorf("Delete beside a reader = %v, want ErrProtected", err)
	}
	noError(t, f.Close())
	_, err = s.Delete(t.Context(), path)
	noError(t, err)
}

func TestDeleteWhereTheWorkspaceIsGone(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	path := w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	w.file(sc.Dir+"/a/deep/out.txt", "artifact", 1)
	outside := w.file(w.root+"/outside/x.txt", "x", 1)
	noError(t, os.Symlink(filepath.Dir(outside), sc.Dir+"/a/link"))
	legacy := w.transcript(sc.Root+"/-old/c.jsonl", "c", cwd, 1)
	noError(t, os.Remove(cwd))
	for _, path := range []string{path, legacy} {
		if _, err := w.store(Options{}).Delete(t.Context(), path); err != nil {
			t.Errorf("Delete(%s) = %v", w.rel(path), err)
		}
		for _, gone := range []string{path, stemOf(path), leasePath(path)} {
			if _, err := os.Lstat(gone); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", w.rel(gone), err)
			}
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what a link in the artifacts led to: %v", err)
	}
}

func TestDeleteOfAPinnedSessionIsRefused(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("pinned01", "2026-03-20", "2026-03-20")
	s := w.store()
	_, err := s.Pin(t.Context(), path)
	noError(t, err)
	for name, remove := range map[string]func(context.Context, string) (string, error){"Delete": s.Delete, "Discard": s.Discard} {
		if _, err := remove(t.Context(), path); !errors.Is(err, ErrPinned) || !errors.Is(err, ErrProtected) {
			t.Errorf("%s of a pinned session = %v, want ErrPinned", name, err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the session: %v", err)
	}
	_, err = s.Unpin(t.Context(), path)
	noError(t, err)
	_, err = s.Delete(t.Context(), path)
	noError(t, err)
}

func TestDeleteOutsideOfTheHomeIsRefused(t *testing.T) {
	w := newWorld(t)
	path := w.transcript(w.root+"/s/a.jsonl", "a", w.root, 1)
	if _, err := w.store(Options{}).Delete(t.Context(), path); !errors.Is(err, ErrNotManaged) {
		t.Errorf("Delete = %v, want ErrNotManaged", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestDeleteKilledAnywhereIsFinishedByTheNext(t *testing.T) {
	at := func(dir string) (path string, s *Store) {
		home := scope.HomeAt(filepath.Join(dir, "agent"))
		return filepath.Join(home.Sessions(), "-old", "a.jsonl"), NewStore(storage.Disk(storage.Policy{}), Options{Home: home})
	}
	setup := func(t *testing.T, dir string) {
		path, _ := at(dir)
		w := &world{t: t, root: dir}
		w.transcript(path, "a", filepath.Join(dir, "gone"), 1)
		w.file(stemOf(path)+"/one.txt", "1", 1)
		w.file(stemOf(path)+"/deep/two.txt", "2", 1)
	}
	step := func(fsys storage.FS, dir string, _ func()) error {
		path, s := at(dir)
		_, err := NewStore(fsys, s.opt).Delete(context.Background(), path)
		return err
	}
	check := func(t *testing.T, dir string, _ int) {
		path, s := at(dir)
		if _, err := s.Delete(t.Context(), path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the next Delete = %v", err)
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 0 {
			t.Errorf("left: %v, %v", entries, err)
		}
	}
	storagetest.EachStep(t, setup, step, check)
}
