package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// renamedWorkspace is a world whose workspace "old" has become "new". It had
// two sessions in its scope, one in an older layout with an artifact, and
// sessions of others beside them.
func renamedWorkspace(t *testing.T) (w *world, from, to string, old *scope.Scope) {
	t.Helper()
	w = newWorld(t)
	from, to = w.workspace("old"), filepath.Join(w.root, "new")
	noError(t, os.Symlink(from, w.root+"/alias"))
	old = w.scope(from)
	w.transcript(old.Dir+"/a.jsonl", "a", from, 1)
	w.transcript(old.Dir+"/b.jsonl", "b", w.root+"/alias", 2)
	w.transcript(old.Dir+"/foreign.jsonl", "f", w.workspace("other"), 9)
	w.transcript(old.Root+"/-old/c.jsonl", "c", from, 3)
	w.file(old.Root+"/-old/c/deep/out.txt", "artifact", 3)
	w.transcript(old.Root+"/-old/o.jsonl", "o", w.root+"/other", 9)
	noError(t, os.Rename(from, to))
	return w, from, to, old
}

func outcome(w *world, rows []RebindRow) map[string]string {
	all := map[string]string{}
	for _, r := range rows {
		what := "stays: " + r.Reason
		if r.Reason == "" {
			what = "to " + filepath.Base(filepath.Dir(r.To))
			if r.Copied {
				what += ", copied"
			}
			if !r.Moved {
				what += ", not yet"
			}
		}
		all[r.Session.ID] = what
	}
	return all
}

func TestRebindTakesSessionsToTheNewWorkspace(t *testing.T) {
	w, from, to, _ := renamedWorkspace(t)
	target := scope.DirName(scope.Posix, to)
	rows, _, err := w.reading(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to, DryRun: true})
	noError(t, err)
	want := map[string]string{"a": "to " + target + ", not yet", "b": "to " + target + ", not yet", "c": "to " + target + ", copied, not yet"}
	if diff := cmp.Diff(want, outcome(w, rows)); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	rows, _, err = w.store(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to})
	noError(t, err)
	want = map[string]string{"a": "to " + target, "b": "to " + target, "c": "to " + target + ", copied"}
	if diff := cmp.Diff(want, outcome(w, rows)); diff != "" {
		t.Errorf("Rebind (-want +got):\n%s", diff)
	}
	l, err := w.reading(Options{}).List(t.Context(), to)
	noError(t, err)
	ids := map[string]string{}
	for _, in := range l.Sessions {
		ids[in.ID] = in.Cwd
	}
	if diff := cmp.Diff(map[string]string{"a": to, "b": to, "c": to}, ids); diff != "" {
		t.Errorf("sessions of the new workspace (-want +got):\n%s", diff)
	}
	sc := w.scope(to)
	if raw, err := os.ReadFile(sc.Dir + "/c/deep/out.txt"); err != nil || string(raw) != "artifact" {
		t.Errorf("artifact = %q, %v", raw, err)
	}
	if in := jsonl.Inspect(t.Context(), storage.Disk(storage.Policy{}), sc.Dir+"/c.jsonl", jsonl.LoadOptions{}); !in.Verdict.Openable() {
		t.Errorf("the copy is %s: %v", in.Verdict, in.Cause)
	}
	if _, err := os.Stat(sc.Root + "/-old/c.jsonl"); err != nil {
		t.Errorf("the source in the older layout: %v", err)
	}
	rows, _, err = w.store(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to})
	noError(t, err)
	if got := outcome(w, rows); len(got) != 1 || got["c"] != "stays: was copied before" {
		t.Errorf("a second Rebind = %v, want that only the source of c stays", got)
	}
}

func TestRebindOfOneSession(t *testing.T) {
	w, from, to, old := renamedWorkspace(t)
	s := w.store(Options{})
	rows, _, err := s.Rebind(t.Context(), RebindOptions{From: from, To: to, ID: "a"})
	noError(t, err)
	if len(rows) != 1 || !rows[0].Moved {
		t.Errorf("Rebind = %+v, want a moved", rows)
	}
	if _, err := os.Stat(old.Dir + "/b.jsonl"); err != nil {
		t.Errorf("the other session: %v", err)
	}
	for name, opt := range map[string]RebindOptions{
		"no such id":        {From: from, To: to, ID: "zz"},
		"no such workspace": {From: from, To: w.root + "/nowhere"},
	} {
		if _, _, err := s.Rebind(t.Context(), opt); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: Rebind = %v, want fs.ErrNotExist", name, err)
		}
	}
	if _, _, err := s.Rebind(t.Context(), RebindOptions{From: w.workspace("same"), To: w.root + "/same"}); err == nil {
		t.Error("Rebind to the same workspace = nil, want an error")
	}
}

func TestRebindSaysWhatIsInTheWay(t *testing.T) {
	w, from, to, old := renamedWorkspace(t)
	w.transcript(w.scope(to).Dir+"/a.jsonl", "mine", to, 1)
	held, err := w.store(Options{}).Open(t.Context(), old.Dir+"/b.jsonl", OpenOptions{})
	noError(t, err)
	rows, _, err := w.store(Options{Migration: scope.Disabled}).Rebind(t.Context(), RebindOptions{From: from, To: to})
	noError(t, err)
	for _, r := range rows {
		if r.Moved || r.Reason == "" {
			t.Errorf("%s: moved %v, reason %q, want it to stay with a reason", r.Session.ID, r.Moved, r.Reason)
		}
	}
	noError(t, held.Close())
	for _, path := range []string{old.Dir + "/a.jsonl", old.Dir + "/b.jsonl", old.Root + "/-old/c.jsonl"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestRebindHidesTheSourceOfAMigratedSession(t *testing.T) {
	w := newWorld(t)
	from, to := w.workspace("from"), w.workspace("to")
	sc := w.scope(from)
	w.transcript(sc.Root+"/-old/c.jsonl", "c", from, 3)
	s := w.store(Options{})
	session, err := s.Open(t.Context(), sc.Root+"/-old/c.jsonl", OpenOptions{})
	noError(t, err)
	noError(t, session.Close())
	rows, _, err := s.Rebind(t.Context(), RebindOptions{From: from, To: to})
	noError(t, err)
	if len(rows) != 1 || !rows[0].Moved {
		t.Fatalf("Rebind = %+v, want c moved", rows)
	}
	for dir, want := range map[string]int{from: 0, to: 1} {
		l, err := s.List(t.Context(), dir)
		noError(t, err)
		if len(l.Sessions) != want {
			t.Errorf("List(%s) = %v, want %d", w.rel(dir), w.names(l.Sessions), want)
		}
	}
}

func TestRebindFinishesACopyThatWasCutOff(t *testing.T) {
	w, from, to, _ := renamedWorkspace(t)
	target := w.scope(to)
	w.file(target.Dir+"/c/deep/out.txt", "artifact", 3)
	rows, _, err := w.store(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to, ID: "c"})
	noError(t, err)
	if len(rows) != 1 || !rows[0].Moved {
		t.Errorf("with the artifact there: Rebind = %+v", rows)
	}
	w, from, to, old := renamedWorkspace(t)
	raw, err := os.ReadFile(old.Root + "/-old/c.jsonl")
	noError(t, err)
	w.file(w.scope(to).Dir+"/c.jsonl", string(raw), 3)
	rows, _, err = w.store(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to, ID: "c"})
	noError(t, err)
	if len(rows) != 1 || !rows[0].Moved {
		t.Errorf("with the transcript there: Rebind = %+v", rows)
	}
	if l, err := w.store(Options{}).List(t.Context(), to); err != nil || len(l.Sessions) != 1 || l.Sessions[0].Cwd != to {
		t.Errorf("List = %v, %v, want c of the new workspace", l.Sessions, err)
	}
}

// A copy keeps the time of its source, so times don't tell which went on.
func TestRebindMovesTheCopyAndNotItsSource(t *testing.T) {
	w, from, to, old := renamedWorkspace(t)
	w.transcript(old.Dir+"/c.jsonl", "c", from, 3)
	rows, _, err := w.store(Options{}).Rebind(t.Context(), RebindOptions{From: from, To: to})
	noError(t, err)
	for _, r := range rows {
		if r.Session.ID != "c" {
			continue
		}
		if isCopy := filepath.Dir(r.Session.Path) == old.Dir; isCopy != r.Moved {
			t.Errorf("Rebind: %s: moved %v, want %v (%s)", r.Session.Path, r.Moved, isCopy, r.Reason)
		}
	}
}
