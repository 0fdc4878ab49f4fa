package index

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Sessions of older layouts and their copies come and go while a home is
// watched; a watched answer is the one that a look at the files gives.
func TestWatchedAnswersHideWhatWasCopied(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("notices promise nothing here")
	}
	home, source, copied, s := migratedHome(t)
	watchAt(t, home, WatchOptions{})
	x := openAt(t, home, Options{Watched: true, Tick: storage.Tick})
	promised := func() bool {
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			if _, ok := x.vouched(t.Context()); ok {
				return true
			}
		}
		return false
	}
	if !promised() {
		t.Fatal("nothing is promised where a session has a copy")
	}
	other := filepath.Join(filepath.Dir(source), "old2.jsonl")
	for _, step := range []struct {
		name string
		do   func()
		lost bool // the copy is gone, so that nothing is promised
	}{
		{"as it is", func() {}, false},
		{"the copy grows", func() { addTo(t, copied, watchPrompt("x1", "more")) }, false},
		{"another one is copied", func() {
			c, err := s.Candidate(t.Context(), x.fsys, other)
			mustDo(t, err)
			_, err = s.Open(t.Context(), x.fsys, scope.ThisProcess(), c, scope.CopyRetain)
			mustDo(t, err)
		}, false},
		{"a source grows", func() { addTo(t, other, watchPrompt("x2", "more")) }, false},
		{"there is another directory of an older layout", func() { put(t, home, "-more-/new.jsonl", watchHeader) }, false},
		{"the copy is gone", func() { mustDo(t, os.Remove(copied)) }, true},
		{"all older layouts are gone", func() {
			mustDo(t, os.RemoveAll(filepath.Dir(source)))
			mustDo(t, os.RemoveAll(filepath.Join(home, "sessions", "-more-")))
		}, false},
	} {
		step.do()
		if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := listedBy(t, x)
		y := openAt(t, home, Options{Tick: storage.Tick})
		if _, err := y.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(listedBy(t, y), got); diff != "" {
			t.Errorf("%s: sessions, watched (-looked at +promised):\n%s", step.name, diff)
		}
		if !step.lost && !promised() {
			t.Errorf("%s: nothing is promised", step.name)
		}
		if diff := cmp.Diff(listedBy(t, y), listedBy(t, x)); diff != "" {
			t.Errorf("%s: sessions, promised (-looked at +promised):\n%s", step.name, diff)
		}
	}
}

func listedBy(t *testing.T, x *Index) []string {
	t.Helper()
	rows, _, err := x.Sessions(t.Context(), Filter{})
	mustDo(t, err)
	var paths []string
	for row, err := range rows {
		mustDo(t, err)
		paths = append(paths, row.Path)
	}
	slices.Sort(paths)
	return paths
}
