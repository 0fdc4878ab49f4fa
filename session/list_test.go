//go:build unix

package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

func TestListMergesScopeOlderLayoutsAndTheWorkspacesOwn(t *testing.T) {
	w := newWorld(t)
	cwd, other := w.workspace("w"), w.workspace("other")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	w.transcript(sc.Dir+"/b.jsonl", "b", cwd, 2)
	w.transcript(sc.Dir+"/.dot.jsonl", "dot", cwd, 9)
	w.transcript(sc.Dir+"/foreign.jsonl", "f", other, 9)
	w.transcript(sc.Dir+"/gone.jsonl", "g", w.root+"/gone", 9)
	w.file(sc.Dir+"/v6.jsonl", `{"type":"session","version":6,"id":"six","timestamp":"","cwd":"`+cwd+`"}`+"\n", 9)
	w.transcript(sc.Root+"/-old/c.jsonl", "c", cwd, 3)
	w.transcript(sc.Root+"/-old/o.jsonl", "o", other, 9)
	w.transcript(cwd+"/.gjc/b-newer.jsonl", "b", cwd, 5)
	w.transcript(cwd+"/.gjc/a-same.jsonl", "a", cwd, 1)
	w.transcript(cwd+"/.gjc/deep/agent-session/d.jsonl", "d", cwd, 4)
	w.transcript(cwd+"/.gjc/deep/agent-session/more/no.jsonl", "no", cwd, 9)
	w.transcript(cwd+"/.gjc/sessions/x/y/e.jsonl", "e", cwd, 6)
	w.transcript(cwd+"/.gjc/other/no2.jsonl", "no2", cwd, 9)
	noError(t, os.Symlink(cwd+"/.gjc/b-newer.jsonl", cwd+"/.gjc/link.jsonl"))
	noError(t, os.Symlink(sc.Dir, cwd+"/.gjc/sessions/linked"))

	l, err := w.reading(Options{}).List(t.Context(), cwd)
	noError(t, err)
	want := []string{"w/.gjc/sessions/x/y/e.jsonl", "w/.gjc/b-newer.jsonl", "w/.gjc/deep/agent-session/d.jsonl",
		"agent/sessions/-old/c.jsonl", w.rel(sc.Dir) + "/a.jsonl"}
	if diff := cmp.Diff(want, w.names(l.Sessions)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	reasons := map[string]string{
		w.rel(sc.Dir) + "/b.jsonl":    "is not the latest file of its session: " + cwd + "/.gjc/b-newer.jsonl",
		"w/.gjc/a-same.jsonl":         "is not the latest file of its session: " + sc.Dir + "/a.jsonl",
		w.rel(sc.Dir) + "/gone.jsonl": "its workspace does not exist",
		w.rel(sc.Dir) + "/v6.jsonl":   "unsupported session version: 6",
		"w/.gjc/link.jsonl":           "is a symbolic link",
	}
	if diff := cmp.Diff(reasons, w.reasons(l.LeftOut)); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if l.Foreign != 2 {
		t.Errorf("Foreign = %d, want 2", l.Foreign)
	}
}

func TestListOfARefusedScopeIsEmptyAndSaysSo(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	noError(t, os.Chmod(sc.Dir, 0o755))
	for _, dir := range []string{cwd, w.root + "/missing", w.file(w.root+"/file", "", 1)} {
		l, err := w.reading(Options{}).List(t.Context(), dir)
		noError(t, err)
		if len(l.Sessions) != 0 || len(l.LeftOut) != 1 || l.LeftOut[0].Reason == "" {
			t.Errorf("List(%s) = %v, left out %v, want nothing and one reason", w.rel(dir), l.Sessions, l.LeftOut)
		}
	}
}

func TestListAllNamesWhatItDoesNotSearch(t *testing.T) {
	w := newWorld(t)
	one, two := w.workspace("one"), w.workspace("two")
	scOne := w.scope(one)
	w.transcript(scOne.Dir+"/a.jsonl", "a", one, 1)
	w.transcript(scOne.Dir+"/other.jsonl", "x", two, 9)
	w.transcript(scOne.Root+"/-old/b.jsonl", "b", two, 2)
	w.transcript(scOne.Root+"/-old/gone.jsonl", "g", w.root+"/gone", 9)
	w.transcript(scOne.Root+"/plain/p.jsonl", "p", one, 9)
	noError(t, os.Mkdir(scOne.Root+"/nothing", 0o700))
	l, err := w.reading(Options{}).ListAll(t.Context())
	noError(t, err)
	want := []string{"agent/sessions/-old/b.jsonl", w.rel(scOne.Dir) + "/a.jsonl"}
	if diff := cmp.Diff(want, w.names(l.Sessions)); diff != "" {
		t.Errorf("ListAll (-want +got):\n%s", diff)
	}
	reasons := map[string]string{
		"agent/sessions/-old/gone.jsonl": "its workspace does not exist",
		"agent/sessions/plain":           "is no directory of a workspace's sessions",
	}
	if diff := cmp.Diff(reasons, w.reasons(l.LeftOut)); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestListOfNoHomeMakesNone(t *testing.T) {
	w := newWorld(t)
	s := w.reading(Options{Terminal: "tmux-1"})
	l, err := s.ListAll(t.Context())
	noError(t, err)
	if len(l.Sessions)+len(l.LeftOut) != 0 {
		t.Errorf("ListAll = %v", l)
	}
	inv, err := s.Inventory(t.Context())
	noError(t, err)
	if len(inv.Sessions)+len(inv.LeftOut) != 0 || inv.Cut != "" {
		t.Errorf("Inventory = %v", inv)
	}
	if _, err := os.Lstat(w.home.Dir()); !os.IsNotExist(err) {
		t.Errorf("the home was made: %v", err)
	}
}

func TestEveryOddKindOfFileIsLeftOutWithItsReason(t *testing.T) {
	w := newWorld(t)
	dir := w.path("s/x")
	dir = filepath.Dir(dir)
	w.transcript(dir+"/good.jsonl", "good", w.root, 1)
	noError(t, syscall.Mkfifo(dir+"/fifo.jsonl", 0o600))
	noError(t, os.Mkdir(dir+"/dir.jsonl", 0o700))
	noError(t, os.Symlink("good.jsonl", dir+"/link.jsonl"))
	w.transcript(dir+"/twin.jsonl", "twin", w.root, 1)
	noError(t, os.Link(dir+"/twin.jsonl", dir+"/twin.jsonl.other"))
	w.file(dir+"/empty.jsonl", "", 1)
	w.file(dir+"/garbage.jsonl", "garbage\n", 1)
	w.file(dir+"/nul.jsonl", strings.Repeat("\x00", 17<<20), 1)
	w.file(dir+"/.dot.jsonl", "garbage\n", 1)
	w.file(dir+"/version.jsonl", `{"type":"session","version":"5","id":"x"}`+"\n", 1)
	noError(t, os.Symlink(dir, w.root+"/linked"))
	want := map[string]string{
		"fifo.jsonl": "is no regular file", "dir.jsonl": "is a directory", "link.jsonl": "is a symbolic link",
		"twin.jsonl": "has 2 names (hard links)", "empty.jsonl": "no session header", "garbage.jsonl": "no session header",
		"nul.jsonl": "no session header", "version.jsonl": "unsupported session version: no number",
	}
	for name, at := range map[string]string{"directory": dir, "link to it": w.root + "/linked"} {
		t.Run(name, func(t *testing.T) {
			l, err := w.reading(Options{}).ListDir(t.Context(), at)
			noError(t, err)
			got := map[string]string{}
			for _, o := range l.LeftOut {
				got[filepath.Base(o.Path)] = o.Reason
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			if len(l.Sessions) != 1 || l.Sessions[0].Path != filepath.Join(at, "good.jsonl") {
				t.Errorf("ListDir = %v, want good.jsonl of %s", l.Sessions, at)
			}
			r, err := w.reading(Options{}).Recent(t.Context(), at, 20)
			noError(t, err)
			if len(r.Sessions) != 1 || len(r.LeftOut) != len(want) {
				t.Errorf("Recent = %d sessions, %d left out, want 1 and %d", len(r.Sessions), len(r.LeftOut), len(want))
			}
		})
	}
}

func TestProjectLocalSearchIsBounded(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	for i := range maxLocalFiles + 1 {
		w.transcript(fmt.Sprintf("%s/.gjc/%04d.jsonl", cwd, i), fmt.Sprint("s", i), cwd, 1)
	}
	l, err := w.reading(Options{}).List(t.Context(), cwd)
	noError(t, err)
	if len(l.Sessions) != maxLocalFiles {
		t.Errorf("List = %d sessions, want %d", len(l.Sessions), maxLocalFiles)
	}
	if diff := cmp.Diff(map[string]string{"w/.gjc": "only the first 1000 transcripts were taken"}, w.reasons(l.LeftOut)); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	noError(t, os.Remove(fmt.Sprintf("%s/.gjc/%04d.jsonl", cwd, 7)))
	if l, err = w.reading(Options{}).List(t.Context(), cwd); err != nil || len(l.LeftOut) != 0 {
		t.Errorf("at the limit: left out %v, %v", l.LeftOut, err)
	}
}

func TestProjectLocalSearchLeavesTheHomeAlone(t *testing.T) {
	w := newWorld(t)
	user, other := w.workspace("user"), w.workspace("other")
	w.home = scope.HomeAt(user + "/.gjc/agent")
	w.transcript(w.scope(other).Dir+"/o.jsonl", "o", other, 1)
	w.transcript(user+"/.gjc/mine.jsonl", "mine", user, 1)
	l, err := w.reading(Options{}).List(t.Context(), user)
	noError(t, err)
	if diff := cmp.Diff([]string{"user/.gjc/mine.jsonl"}, w.names(l.Sessions)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func TestSymlinkedOwnDirectoryIsNotSearched(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	w.transcript(w.root+"/elsewhere/a.jsonl", "a", cwd, 1)
	noError(t, os.Symlink(w.root+"/elsewhere", cwd+"/.gjc"))
	l, err := w.reading(Options{}).List(t.Context(), cwd)
	noError(t, err)
	if diff := cmp.Diff(map[string]string{"w/.gjc": "is a symbolic link"}, w.reasons(l.LeftOut)); diff != "" || len(l.Sessions) != 0 {
		t.Errorf("List = %v, left out (-want +got):\n%s", l.Sessions, diff)
	}
}

func TestListEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	w.transcript(w.scope(cwd).Dir+"/a.jsonl", "a", cwd, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := w.reading(Options{})
	for name, call := range map[string]func() error{
		"List":      func() error { _, err := s.List(ctx, cwd); return err },
		"ListAll":   func() error { _, err := s.ListAll(ctx); return err },
		"ScanDir":   func() error { _, err := s.ScanDir(ctx, w.scope(cwd).Dir); return err },
		"Recent":    func() error { _, err := s.Recent(ctx, w.scope(cwd).Dir, 1); return err },
		"Inventory": func() error { _, err := s.Inventory(ctx); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("%s with an ended context = %v, want %v", name, err, context.Canceled)
		}
	}
}

// BenchmarkListAll lists 2,000 sessions of 100 KB in 1,000 scopes. Hashing
// their contents alone would take over a second.
func BenchmarkListAll(b *testing.B) {
	root := b.TempDir()
	home := scope.HomeAt(filepath.Join(root, "agent"))
	fsys := storage.Disk(storage.Policy{})
	for i := range 1000 {
		cwd := filepath.Join(root, "w", fmt.Sprint(i))
		if err := os.MkdirAll(cwd, 0o700); err != nil {
			b.Fatal(err)
		}
		sc, err := scope.Ensure(context.Background(), fsys, home, cwd)
		if err != nil {
			b.Fatal(err)
		}
		for j := range 2 {
			text := sessionText(fmt.Sprint("id-", i, "-", j), cwd)
			text += strings.Repeat(strings.SplitAfter(text, "\n")[1], 100<<10/150)
			if err := os.WriteFile(fmt.Sprintf("%s/%d.jsonl", sc.Dir, j), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	s := NewStore(fsys, Options{Home: home})
	for b.Loop() {
		l, err := s.ListAll(context.Background())
		if err != nil || len(l.Sessions) != 2000 {
			b.Fatalf("ListAll = %d sessions, %v", len(l.Sessions), err)
		}
	}
}
