package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// What a failing disk, a crash and a kill leave of a prune and of a restore.

// pruneCase is one way of pruning: group by group, with a sync for each
// directory or one for all, to the trash or for good.
type pruneCase struct {
	name             string
	whole, permanent bool
}

var pruneCases = []pruneCase{
	{"to the trash", false, false}, {"to the trash, synced at once", true, false},
	{"for good", false, true}, {"for good, synced at once", true, true},
}

var prunedIDs = []string{"a", "b", "c"}

// home is pruneHome with one more session and all that may stand beside one.
func (c pruneCase) home(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	pruneHome(t, fsys, dir)
	in := prunedIn(dir)
	put := func(name, text string) {
		noErr(t, storage.MkdirAll(fsys, filepath.Dir(name)))
		f, err := fsys.Create(name)
		noErr(t, err)
		_, err = f.Write([]byte(text))
		noErr(t, errors.Join(err, f.Sync(), f.Close(), fsys.SyncDir(filepath.Dir(name))))
	}
	old := filepath.Join(in, "c.jsonl")
	put(old, pruneText("c", "/gone/w", "2025-01-01"))
	noErr(t, fsys.Chtimes(old, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
	for _, end := range []string{".archive.ndjson.zst", ".psm.ndjson", ".psm.status.json", ".leaf.json", ".meta.json", "/sub/child.jsonl"} {
		put(filepath.Join(in, "a"+filepath.FromSlash(end)), "a "+end)
	}
	put(filepath.Join(in, "c.meta.json"), "c")
}

func prunedIn(dir string) string {
	return filepath.Join(scope.HomeAt(dir).Sessions(), scope.DirName(scope.Posix, "/gone/w"))
}

func (c pruneCase) store(fsys storage.FS, dir string) *Store {
	s := pruneStore(fsys, dir)
	s.opt.group, s.opt.whole = 2, 1<<20
	if c.whole {
		s.opt.whole = 1
	}
	return s
}

func (c pruneCase) prune(fsys storage.FS, dir string, _ func()) error {
	s := c.store(fsys, dir)
	plan, err := s.PlanPrune(context.Background(), Retention{OlderThan: 30 * day})
	if err != nil {
		return err
	}
	return s.Prune(context.Background(), plan, c.permanent, func(Pruned) error { return nil })
}

func (c pruneCase) restoreAll(fsys storage.FS, dir string, _ func()) error {
	return c.store(fsys, dir).RestoreAll(context.Background(), time.Time{}, func(r Restored) error {
		if r.Kept != "" {
			return errors.New(r.Kept)
		}
		return nil
	})
}

// filesOf maps the files below a directory to what they hold; locks and what a
// replacement left are not counted, nor is the prune log.
func filesOf(t *testing.T, fsys storage.FS, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(at string)
	walk = func(at string) {
		entries, err := fsys.ReadDir(at)
		noErr(t, err)
		for _, e := range entries {
			name := filepath.Join(at, e.Name)
			_, temp := storage.TempOf(e.Name)
			switch {
			case e.Info.Kind == storage.Dir:
				walk(name)
			case temp, strings.HasSuffix(name, ".lease"), strings.HasSuffix(name, ".lock"), e.Name == "prune.log":
			default:
				text, err := storage.ReadFile(fsys, name, 1<<20)
				noErr(t, err)
				info, err := fsys.Lstat(name)
				noErr(t, err)
				if info.Links != 1 {
					t.Errorf("%s has %d names", name, info.Links)
				}
				rel, err := filepath.Rel(dir, name)
				noErr(t, err)
				all[filepath.ToSlash(rel)] = string(text)
			}
		}
	}
	walk(dir)
	return all
}

// logTells counts the whole lines of the prune log by action and id, and checks
// that every other line is a cut one.
func logTells(t *testing.T, fsys storage.FS, dir string) map[string]int {
	t.Helper()
	text, err := storage.ReadFile(fsys, scope.HomeAt(dir).PruneLog(), 1<<20)
	if err != nil && !missing(err) {
		t.Fatal(err)
	}
	told := map[string]int{}
	for line := range strings.Lines(string(text)) {
		v, err := jsonl.ParseString(strings.TrimSpace(line))
		if err == nil && strings.HasSuffix(line, "\n") {
			told[v.Get("action").Str()+" "+v.Get("id").Str()]++
		} else if strings.Count(line, `"action"`) > 1 {
			t.Errorf("two lines of the log in one: %s", line)
		}
	}
	return told
}

// ends is what a prune that nothing interrupts leaves, and a restore after it.
func (c pruneCase) ends(t *testing.T) (before, pruned map[string]string) {
	t.Helper()
	m := storage.NewMemory()
	dir := storagetest.CrashDir()
	noErr(t, storage.MkdirAll(m, dir))
	c.home(t, m, dir)
	before = filesOf(t, m, dir)
	noErr(t, c.prune(m, dir, nil))
	return before, filesOf(t, m, dir)
}

// afterPrune checks that a prune that was interrupted, run again, comes to the
// same end, that each removal is logged once, and that all can be restored.
func (c pruneCase) afterPrune(t *testing.T, fsys storage.FS, dir string, before, pruned map[string]string) {
	t.Helper()
	noErr(t, c.store(fsys, dir).FinishTrash(context.Background()))
	c.nothingHalf(t, fsys, dir)
	noErr(t, c.prune(fsys, dir, nil))
	if diff := cmp.Diff(pruned, filesOf(t, fsys, dir)); diff != "" {
		t.Errorf("pruned again (-want +got):\n%s", diff)
	}
	action := map[bool]string{false: "trashed ", true: "deleted "}[c.permanent]
	want := map[string]int{action + "a": 1, action + "b": 1, action + "c": 1}
	if diff := cmp.Diff(want, logTells(t, fsys, dir)); diff != "" {
		t.Errorf("prune.log (-want +got):\n%s", diff)
	}
	if c.permanent {
		return
	}
	noErr(t, c.restoreAll(fsys, dir, nil))
	if diff := cmp.Diff(before, filesOf(t, fsys, dir)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// nothingHalf checks that each session is in one place, with all that belongs to
// it.
func (c pruneCase) nothingHalf(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	places := map[string]map[string]bool{}
	for name := range filesOf(t, fsys, dir) {
		at, base := filepath.ToSlash(filepath.Dir(name)), filepath.Base(name)
		for strings.HasSuffix(at, "/a") || strings.HasSuffix(at, "/a/sub") || strings.HasSuffix(at, "/b") {
			base, at = filepath.Base(at)+"/"+base, filepath.ToSlash(filepath.Dir(at))
		}
		for _, id := range prunedIDs {
			if strings.HasPrefix(base, id+".") || strings.HasPrefix(base, id+"/") {
				if places[id] == nil {
					places[id] = map[string]bool{}
				}
				places[id][at] = true
			}
		}
	}
	for id, at := range places {
		if len(at) != 1 {
			t.Errorf("%s is in %v", id, at)
		}
	}
	if len(places) != len(prunedIDs) && !c.permanent {
		t.Errorf("found %v", places)
	}
}

func TestPruneSurvivesACrash(t *testing.T) {
	for _, c := range pruneCases {
		t.Run(c.name, func(t *testing.T) {
			before, pruned := c.ends(t)
			storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) {
				fsys.(*storage.Memory).WholeSync = c.whole
				c.home(t, fsys, dir)
			}, c.prune, func(t *testing.T, fsys storage.FS, dir string, _ int) { c.afterPrune(t, fsys, dir, before, pruned) })
		})
	}
}

func TestPruneSurvivesEachFault(t *testing.T) {
	for _, c := range pruneCases {
		t.Run(c.name, func(t *testing.T) {
			before, pruned := c.ends(t)
			storagetest.EachFault(t, storagetest.FaultPlan{Short: 40}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
				m := storage.NewMemory()
				m.WholeSync = c.whole
				dir := storagetest.CrashDir()
				noErr(t, storage.MkdirAll(m, dir))
				c.home(t, m, dir)
				f := storagetest.NewFault(m, plan)
				_ = c.prune(f, dir, nil) // it may say so
				c.afterPrune(t, m, dir, before, pruned)
				return f
			})
		})
	}
}

func TestRestoreSurvivesACrash(t *testing.T) {
	for _, c := range pruneCases[:2] {
		t.Run(c.name, func(t *testing.T) {
			before, _ := c.ends(t)
			storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) {
				m := fsys.(*storage.Memory)
				c.home(t, fsys, dir)
				noErr(t, c.prune(fsys, dir, nil))
				m.WholeSync = true
				_, err := m.SyncWhole([]string{dir})
				noErr(t, err)
				m.WholeSync = c.whole
			}, c.restoreAll, func(t *testing.T, fsys storage.FS, dir string, _ int) { c.afterRestore(t, fsys, dir, before) })
		})
	}
}

// afterRestore checks that a restore that was interrupted, run again, brings all
// back.
func (c pruneCase) afterRestore(t *testing.T, fsys storage.FS, dir string, before map[string]string) {
	t.Helper()
	noErr(t, c.restoreAll(fsys, dir, nil))
	if diff := cmp.Diff(before, filesOf(t, fsys, dir)); diff != "" {
		t.Errorf("restored again (-want +got):\n%s", diff)
	}
	told := logTells(t, fsys, dir)
	for _, id := range prunedIDs {
		if told["restored "+id] == 0 {
			t.Errorf("the log does not tell that %s was restored", id)
		}
	}
}

func TestRestoreSurvivesEachFault(t *testing.T) {
	for _, one := range []bool{false, true} {
		t.Run(map[bool]string{false: "all", true: "one"}[one], func(t *testing.T) {
			c := pruneCases[1]
			before, _ := c.ends(t)
			storagetest.EachFault(t, storagetest.FaultPlan{Short: 40}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
				m := storage.NewMemory()
				m.WholeSync = true
				dir := storagetest.CrashDir()
				noErr(t, storage.MkdirAll(m, dir))
				c.home(t, m, dir)
				noErr(t, c.prune(m, dir, nil))
				f := storagetest.NewFault(m, plan)
				if one {
					_, _ = c.store(f, dir).Restore(context.Background(), "a")
				} else {
					_ = c.restoreAll(f, dir, nil)
				}
				c.afterRestore(t, m, dir, before)
				return f
			})
		})
	}
}

func TestPruneSyncedAtOnceKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	c := pruneCases[1]
	before, pruned := map[string]string(nil), map[string]string(nil)
	storagetest.EachStep(t, func(t *testing.T, dir string) {
		if before == nil {
			before, pruned = c.ends(t)
		}
		c.home(t, disk, dir)
	}, c.prune, func(t *testing.T, dir string, _ int) { c.afterPrune(t, disk, dir, before, pruned) })
}
