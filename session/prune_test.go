package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
)

const day = 24 * time.Hour

// pruneText is a finished session whose last record is of that day.
func pruneText(id, cwd, day string) string {
	return fmt.Sprintf(`{"type":"session","version":5,"id":%q,"timestamp":"%s","cwd":%q,"title":"About %s"}
{"type":"message","id":"aa000001","parentId":null,"timestamp":"%[2]s","message":{"role":"user","content":"q"}}
{"type":"message","id":"aa000002","parentId":"aa000001","timestamp":"%[2]s","message":{"role":"assistant","content":[]}}
`, id, day+"T08:00:00.000Z", cwd, id)
}

type pruneWorld struct {
	*world
	cwd string
	sc  *scope.Scope
	now time.Time
}

func newPruneWorld(t *testing.T) *pruneWorld {
	w := newWorld(t)
	cwd := w.workspace("w")
	return &pruneWorld{world: w, cwd: cwd, sc: w.scope(cwd), now: time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)}
}

func (w *pruneWorld) store() *Store {
	return w.world.store(Options{Now: func() time.Time { return w.now }})
}

// add writes a session whose records and whose file are of these days.
func (w *pruneWorld) add(id, record, file string) string {
	w.t.Helper()
	return w.write(id, pruneText(id, w.cwd, record), file)
}

func (w *pruneWorld) write(id, text, file string) string {
	w.t.Helper()
	path := filepath.Join(w.sc.Dir, id+".jsonl")
	noError(w.t, os.WriteFile(path, []byte(text), 0o600))
	at, err := time.Parse("2006-01-02", file)
	noError(w.t, err)
	noError(w.t, os.Chtimes(path, at, at))
	return path
}

func (w *pruneWorld) plan(r Retention) *PrunePlan {
	w.t.Helper()
	plan, err := w.store().PlanPrune(w.t.Context(), r)
	noError(w.t, err)
	return plan
}

func planIDs(p *PrunePlan) []string {
	ids := []string{}
	for _, row := range p.Rows {
		ids = append(ids, row.ID)
	}
	return ids
}

func (w *pruneWorld) prune(r Retention, permanent bool) []Pruned {
	w.t.Helper()
	var all []Pruned
	noError(w.t, w.store().Prune(w.t.Context(), w.plan(r), permanent, func(p Pruned) error {
		all = append(all, p)
		return nil
	}))
	return all
}

func TestPruneGoesByRecordTimeAndFileTime(t *testing.T) {
	w := newPruneWorld(t)
	w.add("keep0001", "2026-03-18", "2025-05-01")
	w.add("old00001", "2025-11-01", "2026-03-20")
	w.add("both0001", "2025-11-01", "2025-11-02")
	w.add("future01", "2031-01-01", "2025-11-02")
	plan := w.plan(Retention{OlderThan: 30 * day})
	if diff := cmp.Diff([]string{"both0001"}, planIDs(plan)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if row := plan.Rows[0]; row.Title != "About both0001" || row.Reason != "last active 2025-11-02" || row.Bytes == 0 {
		t.Errorf("row = %+v", row)
	}
}

func TestPruneLimitsNarrowEachOther(t *testing.T) {
	w := newPruneWorld(t)
	var bytes int64
	for i := range 5 {
		day := fmt.Sprintf("2026-01-%02d", 10+i)
		info, err := os.Stat(w.add(fmt.Sprintf("s%d", i), day, day))
		noError(t, err)
		bytes = info.Size()
	}
	tests := []struct {
		name string
		r    Retention
		want []string
	}{
		{"the newest are kept", Retention{Keep: 2}, []string{"s2", "s1", "s0"}},
		{"more than there are", Retention{Keep: 9}, []string{}},
		{"what fits is kept", Retention{MaxBytes: 3 * bytes}, []string{"s1", "s0"}},
		{"old and not among the newest", Retention{OlderThan: 67*day + 12*time.Hour, Keep: 1}, []string{"s1", "s0"}},
		{"old, beyond both", Retention{OlderThan: 50 * day, Keep: 1, MaxBytes: 4 * bytes}, []string{"s0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, planIDs(w.plan(tt.r))); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPruneWithoutALimitIsRefused(t *testing.T) {
	w := newPruneWorld(t)
	for _, r := range []Retention{{}, {OlderThan: -day}, {Keep: -1}, {MaxBytes: -1}, {OlderThan: day, Keep: -2}} {
		if plan, err := w.store().PlanPrune(t.Context(), r); err == nil {
			t.Errorf("PlanPrune(%+v) = %v, want an error", r, plan)
		}
	}
}

func TestPruneKeepsWhatIsNotFinished(t *testing.T) {
	w := newPruneWorld(t)
	old := "2025-01-01"
	gone := w.add("gone", old, old)
	w.write("empty", "", old)
	w.write("damaged", "no header\n", old)
	w.write("lines", pruneText("lines", w.cwd, old)+"torn {\n", old)
	w.write("newer", strings.Replace(pruneText("newer", w.cwd, old), `"version":5`, `"version":6`, 1), old)
	pinned := w.add("pinned", old, old)
	made, err := w.store().Pin(t.Context(), pinned)
	if err != nil || !made {
		t.Fatalf("Pin = %v, %v", made, err)
	}
	young, _, _ := strings.Cut(pruneText("young", w.cwd, "2026-03-20"), `{"type":"message","id":"aa000002"`)
	w.write("young", young, "2026-03-20")
	busy := w.add("busy", old, old)
	session, err := w.world.store(Options{}).Open(t.Context(), busy, OpenOptions{})
	noError(t, err)
	defer session.Close()
	read := w.add("read", old, old)
	release, err := w.store().Protect(t.Context(), read)
	noError(t, err)
	defer release()
	noError(t, os.Symlink(gone, filepath.Join(w.sc.Dir, "link.jsonl")))

	plan := w.plan(Retention{OlderThan: time.Hour})
	if diff := cmp.Diff([]string{"gone"}, planIDs(plan)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	got := map[string]string{}
	for _, k := range append(plan.Kept, plan.LeftOut...) {
		got[filepath.Base(k.Path)] = k.Reason
	}
	want := map[string]string{"empty.jsonl": "is empty", "damaged.jsonl": "is damaged: " + errNoHeader.Error(),
		"lines.jsonl": "is damaged: 1 line can't be read", "newer.jsonl": "is of a version that is not known",
		"pinned.jsonl": "is pinned", "young.jsonl": "is young and has no answer yet",
		"busy.jsonl": "is being written", "read.jsonl": "is being read", "link.jsonl": "is a symbolic link"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestPrunedSessionsCanBeRestored(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("abcd1234-one", "2025-01-01", "2025-01-01")
	w.add("abcd1234-two", "2026-03-19", "2026-03-19")
	for _, stem := range []string{"abcd1234-one", "abcd1234-two"} {
		for _, end := range []string{"/result.txt", ".meta.json", ".psm.ndjson", ".leaf.json"} {
			w.file(filepath.Join(w.sc.Dir, stem+end), stem+end, 1)
		}
	}
	before := tree(t, w.sc.Dir)
	rows := w.prune(Retention{OlderThan: 30 * day}, false)
	if len(rows) != 1 || rows[0].Trash == "" || rows[0].Kept != "" {
		t.Fatalf("Prune = %+v", rows)
	}
	for name := range tree(t, w.sc.Dir) {
		if strings.HasPrefix(name, "abcd1234-one") || strings.HasPrefix(name, ".abcd1234-one") {
			t.Errorf("%s is still there", name)
		}
	}
	l, err := w.store().List(t.Context(), w.cwd)
	noError(t, err)
	if len(l.Sessions) != 1 || l.Sessions[0].ID != "abcd1234-two" {
		t.Errorf("List = %v", w.names(l.Sessions))
	}
	trash, err := w.store().Trash(t.Context())
	if err != nil || len(trash) != 1 || trash[0].ID != "abcd1234-one" || trash[0].Title != "About abcd1234-one" {
		t.Errorf("Trash = %+v, %v", trash, err)
	}
	got, err := w.store().Restore(t.Context(), "abcd1234-o")
	if err != nil || got != path {
		t.Fatalf("Restore = %q, %v", got, err)
	}
	if diff := cmp.Diff(before, tree(t, w.sc.Dir)); diff != "" {
		t.Errorf("after the restore (-want +got):\n%s", diff)
	}
	if _, err := w.store().Restore(t.Context(), "abcd1234-o"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Restore again = %v, want fs.ErrNotExist", err)
	}
	log, err := os.ReadFile(w.home.PruneLog())
	noError(t, err)
	if lines := strings.Split(string(log), "\n"); len(lines) != 3 || !strings.Contains(lines[0], `"action":"trashed","id":"abcd1234-one","title":"About abcd1234-one"`) ||
		!strings.Contains(lines[1], `"action":"restored"`) {
		t.Errorf("prune.log:\n%s", log)
	}
}

// tree maps the files below a directory to what they hold; lease files are left
// out.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	noError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lease") || strings.HasSuffix(path, ".lock") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path[len(dir)+1:]] = string(text)
		return err
	}))
	return all
}

func TestRestoreReplacesNothing(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("a", "2025-01-01", "2025-01-01")
	w.prune(Retention{OlderThan: day}, false)
	w.add("a", "2026-03-20", "2026-03-20")
	if _, err := w.store().Restore(t.Context(), "a"); !errors.Is(err, scope.ErrConflict) {
		t.Errorf("Restore = %v, want ErrConflict", err)
	}
	noError(t, os.Remove(path))
	_, err := w.store().Restore(t.Context(), "a")
	noError(t, err)
}

func TestPruneForGoodLeavesNothing(t *testing.T) {
	w := newPruneWorld(t)
	w.add("a", "2025-01-01", "2025-01-01")
	w.file(w.sc.Dir+"/a/deep/out.txt", "x", 1)
	rows := w.prune(Retention{OlderThan: day}, true)
	if len(rows) != 1 || rows[0].Trash != "" {
		t.Errorf("Prune = %+v", rows)
	}
	if left := tree(t, w.home.Trash()); len(left) > 0 {
		t.Errorf("the trash holds %v", left)
	}
	log, _ := os.ReadFile(w.home.PruneLog())
	if !strings.Contains(string(log), `"action":"deleted"`) {
		t.Errorf("prune.log: %s", log)
	}
}

func TestPruneLeavesWhatHasChangedSince(t *testing.T) {
	w := newPruneWorld(t)
	grown := w.add("grown", "2025-01-01", "2025-01-01")
	pinned := w.add("pinned", "2025-01-01", "2025-01-01")
	plan := w.plan(Retention{OlderThan: day})
	f, err := os.OpenFile(grown, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.WriteString("{}\n")
	noError(t, errors.Join(err, f.Close()))
	_, err = w.store().Pin(t.Context(), pinned)
	noError(t, err)
	noError(t, w.store().Prune(t.Context(), plan, false, func(p Pruned) error {
		if p.Kept == "" || p.Trash != "" || p.Path == pinned && p.Kept != "is pinned" {
			t.Errorf("%s went: %+v", p.ID, p)
		}
		return nil
	}))
}

func TestPruneCoversWorktreesThatAreGone(t *testing.T) {
	w := newPruneWorld(t)
	main := w.workspace("repo")
	noError(t, os.MkdirAll(main+"/.git/worktrees/side", 0o700))
	side := w.workspace("side")
	w.file(side+"/.git", "gitdir: "+main+"/.git/worktrees/side\n", 1)
	w.file(main+"/.git/worktrees/side/gitdir", side+"/.git\n", 1)
	w.file(main+"/.git/worktrees/side/commondir", "../..\n", 1)
	old := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for id, cwd := range map[string]string{"main": main, "side": side} {
		path := w.file(w.scope(cwd).Dir+"/"+id+".jsonl", pruneText(id, cwd, "2025-01-01"), 1)
		noError(t, os.Chtimes(path, old, old))
	}
	w.add("other", "2025-01-01", "2025-01-01")
	noError(t, os.RemoveAll(side))
	got := planIDs(w.plan(Retention{OlderThan: day, Project: main}))
	slices.Sort(got)
	if diff := cmp.Diff([]string{"main", "side"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestPruneHidesTheSourceOfAMigratedSession(t *testing.T) {
	w := newPruneWorld(t)
	w.transcript(w.sc.Root+"/-old/c.jsonl", "c", w.cwd, 1)
	s := w.world.store(Options{})
	session, err := s.Open(t.Context(), w.sc.Root+"/-old/c.jsonl", OpenOptions{})
	noError(t, err)
	path := session.Path()
	noError(t, session.Close())
	old := time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC)
	noError(t, os.Chtimes(path, old, old))
	if rows := w.prune(Retention{OlderThan: day}, false); len(rows) != 1 || rows[0].Kept != "" {
		t.Fatalf("Prune = %+v", rows)
	}
	if l, err := s.List(t.Context(), w.cwd); err != nil || len(l.Sessions) != 0 {
		t.Errorf("List = %v, %v, want nothing", w.names(l.Sessions), err)
	}
	_, err = w.store().Restore(t.Context(), "c")
	noError(t, err)
	if l, err := s.List(t.Context(), w.cwd); err != nil || len(l.Sessions) != 1 || l.Sessions[0].Path != path {
		t.Errorf("List = %v, %v, want the copy", w.names(l.Sessions), err)
	}
}
