package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
)

// continued opens and closes what ContinueRecent chooses, and says which file
// that is and what was left out.
func (w *world) continued(s *Store, cwd, dir string) (path string, isNew bool, left map[string]string) {
	w.t.Helper()
	c, err := s.ContinueRecent(w.t.Context(), cwd, ContinueOptions{Dir: dir})
	noError(w.t, err)
	path = w.rel(c.Session.Path())
	noError(w.t, c.Session.Close())
	return path, c.New, w.reasons(c.LeftOut)
}

func TestContinueGoesOnToTheNextNewestAndSaysWhy(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	dir := filepath.Join(w.root, "s")
	w.transcript(dir+"/old.jsonl", "old", cwd, 1)
	w.transcript(dir+"/good.jsonl", "good", cwd, 2)
	w.file(dir+"/bad.jsonl", sessionText("bad", cwd)+"garbage\n"+`{"type":"label"}`+"\n", 3)
	w.file(dir+"/v6.jsonl", `{"type":"session","version":6,"id":"v6","timestamp":"","cwd":"/"}`+"\n", 4)
	w.file(dir+"/empty.jsonl", "", 5)
	noError(t, os.Symlink("old.jsonl", dir+"/link.jsonl"))
	got, isNew, left := w.continued(w.store(Options{}), cwd, dir)
	if got != "s/good.jsonl" || isNew {
		t.Errorf("continued %s, new %v, want s/good.jsonl", got, isNew)
	}
	want := map[string]string{
		"s/bad.jsonl":   "is malformed: line 4: not_json",
		"s/v6.jsonl":    "is malformed: unsupported session version: 6",
		"s/empty.jsonl": "is malformed: no session header",
		"s/link.jsonl":  "is a symbolic link",
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestContinueTakesAFileWithATornEnd(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	torn := `{"type":"message","id":"aa000003","parentId":"aa0`
	for _, tt := range []struct{ name, path, dir, want string }{
		{"explicit", w.root + "/s/torn.jsonl", w.root + "/s", "s/torn.jsonl"},
		{"managed", sc.Dir + "/torn.jsonl", "", w.rel(sc.Dir) + "/torn.jsonl"},
		{"older layout", sc.Root + "/-old/torn2.jsonl", "", w.rel(sc.Dir) + "/torn2.jsonl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.transcript(filepath.Dir(tt.path)+"/old.jsonl", "old", cwd, 1)
			w.file(tt.path, sessionText("torn-"+tt.name, cwd)+torn, 9)
			got, isNew, left := w.continued(w.store(Options{}), cwd, tt.dir)
			if got != tt.want || isNew || len(left) != 0 {
				t.Errorf("continued %s, new %v, left out %v, want %s", got, isNew, left, tt.want)
			}
			noError(t, os.Remove(tt.path))
		})
	}
}

func TestContinueReportsAWriterAsBusy(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/old.jsonl", "old", cwd, 1)
	path := w.transcript(sc.Dir+"/busy.jsonl", "busy", cwd, 2)
	other := w.store(Options{})
	held, err := other.Open(t.Context(), path, OpenOptions{})
	noError(t, err)
	_, err = w.store(Options{}).ContinueRecent(t.Context(), cwd, ContinueOptions{})
	if !errors.Is(err, ErrBusy) {
		t.Errorf("ContinueRecent = %v, want ErrBusy", err)
	}
	noError(t, held.Close())
	if got, _, _ := w.continued(w.store(Options{}), cwd, ""); got != w.rel(path) {
		t.Errorf("once it is free: continued %s, want %s", got, w.rel(path))
	}
}

func TestContinueBeginsANewSessionWhereNothingCanBe(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/foreign.jsonl", "f", w.workspace("other"), 1)
	w.transcript(sc.Dir+"/gone.jsonl", "g", w.root+"/gone", 1)
	w.file(sc.Dir+"/bad.jsonl", strings.Replace(sessionText("b", cwd), `"aa000001"`, `7`, 1), 3)
	got, isNew, left := w.continued(w.store(Options{}), cwd, "")
	if filepath.Dir(got) != w.rel(sc.Dir) || !isNew {
		t.Errorf("continued %s, new %v, want a new session in the scope", got, isNew)
	}
	want := map[string]string{
		w.rel(sc.Dir) + "/gone.jsonl": "its workspace does not exist",
		w.rel(sc.Dir) + "/bad.jsonl":  left[w.rel(sc.Dir)+"/bad.jsonl"],
	}
	if diff := cmp.Diff(want, left); diff != "" || !strings.HasPrefix(left[w.rel(sc.Dir)+"/bad.jsonl"], "is malformed") {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestContinuePromotesAnOrphanBackup(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/a.jsonl.0001.bak", "a", cwd, 1)
	if got, _, _ := w.continued(w.store(Options{}), cwd, ""); got != w.rel(sc.Dir)+"/a.jsonl" {
		t.Errorf("continued %s, want the promoted backup", got)
	}
}

func TestContinueLeavesAnOlderSessionThatMustNotMove(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/mine.jsonl", "mine", cwd, 1)
	w.transcript(sc.Root+"/-old/old.jsonl", "old", cwd, 2)
	got, _, left := w.continued(w.store(Options{Migration: scope.Disabled}), cwd, "")
	if got != w.rel(sc.Dir)+"/mine.jsonl" || left["agent/sessions/-old/old.jsonl"] == "" {
		t.Errorf("continued %s, left out %v, want mine.jsonl and a reason for the other", got, left)
	}
	if got, _, _ = w.continued(w.store(Options{}), cwd, ""); got != w.rel(sc.Dir)+"/old.jsonl" {
		t.Errorf("with migration: continued %s, want the copy of old.jsonl", got)
	}
}

func TestBreadcrumbSaysWhatToContinue(t *testing.T) {
	w := newWorld(t)
	cwd, other := w.workspace("w"), w.workspace("other")
	sc := w.scope(cwd)
	explicit := filepath.Join(w.root, "s")
	older := w.transcript(sc.Dir+"/older.jsonl", "older", cwd, 1)
	newest := w.transcript(sc.Dir+"/newest.jsonl", "newest", cwd, 9)
	foreign := w.transcript(w.scope(other).Dir+"/foreign.jsonl", "foreign", other, 5)
	w.file(sc.Dir+"/bad.jsonl", sessionText("bad", cwd)+"garbage\n"+`{"type":"label"}`+"\n", 2)
	w.transcript(explicit+"/e1.jsonl", "e1", cwd, 1)
	w.transcript(explicit+"/e2.jsonl", "e2", cwd, 2)
	w.transcript(explicit+"/e0.jsonl", "e0", other, 0)
	noError(t, os.Symlink(cwd, w.root+"/alias"))
	tests := []struct {
		name, crumbCwd, crumbPath, dir, want string
	}{
		{"the session it names", cwd, older, "", w.rel(older)},
		{"by another spelling of the workspace", w.root + "/alias", older, "", w.rel(older)},
		{"of another workspace", other, older, "", w.rel(newest)},
		{"a session of another workspace", cwd, foreign, "", w.rel(newest)},
		{"a file that is gone", cwd, sc.Dir + "/nothing.jsonl", "", w.rel(newest)},
		{"a file that moved", cwd, w.root + "/before/older.jsonl", "", w.rel(older)},
		{"a file that strict inspection refuses", cwd, sc.Dir + "/bad.jsonl", "", w.rel(newest)},
		{"an explicit file of the same workspace", cwd, explicit + "/e1.jsonl", "", "s/e1.jsonl"},
		{"in the explicit directory", cwd, explicit + "/e1.jsonl", explicit, "s/e1.jsonl"},
		{"outside of the explicit directory", cwd, older, explicit, "s/e2.jsonl"},
		{"in the explicit directory, of another workspace", cwd, explicit + "/e0.jsonl", explicit, "s/e2.jsonl"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.store(Options{Terminal: fmt.Sprint("t", i)})
			noError(t, s.writeBreadcrumb(tt.crumbCwd, tt.crumbPath))
			got, isNew, left := w.continued(s, cwd, tt.dir)
			if got != tt.want || isNew {
				t.Errorf("continued %s, new %v, left out %v, want %s", got, isNew, left, tt.want)
			}
			b, ok := s.readBreadcrumb()
			if !ok || w.rel(b.path) != tt.want {
				t.Errorf("breadcrumb afterwards = %v, want one for %s", b, tt.want)
			}
		})
	}
}

func TestBreadcrumbOfAWorktreePeerCounts(t *testing.T) {
	w := newWorld(t)
	main, side := w.workspace("main"), w.workspace("side")
	w.file(main+"/.git/worktrees/side/gitdir", side+"/.git\n", 0)
	w.file(main+"/.git/worktrees/side/commondir", "../..\n", 0)
	w.file(side+"/.git", "gitdir: "+main+"/.git/worktrees/side\n", 0)
	path := w.transcript(w.scope(main).Dir+"/m.jsonl", "m", main, 1)
	w.transcript(w.scope(side).Dir+"/s.jsonl", "s", side, 2)
	s := w.store(Options{Terminal: "t"})
	noError(t, s.writeBreadcrumb(main, path))
	if got, _, _ := w.continued(s, side, ""); got != w.rel(path) {
		t.Errorf("continued %s, want %s of the other worktree", got, w.rel(path))
	}
}
