package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// pruneHome is a home in memory or in a directory with two old sessions and a
// young one; its scope has no workspace.
func pruneHome(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	home := scope.HomeAt(dir)
	cwd := "/gone/w"
	in := filepath.Join(home.Sessions(), scope.DirName(scope.Posix, cwd))
	noErr(t, storage.MkdirAll(fsys, in))
	put := func(name, text string) {
		noErr(t, storage.MkdirAll(fsys, filepath.Dir(name)))
		f, err := fsys.Create(name)
		noErr(t, err)
		_, err = f.Write([]byte(text))
		noErr(t, errors.Join(err, f.Sync(), f.Close()))
	}
	put(filepath.Join(in, ".gjc-managed-session-scope.v2.json"), fmt.Sprintf(`{"schemaVersion":1,"layoutVersion":2,"identityVersion":1,"platform":"posix","canonicalPath":"%s","identityDigest":"%s"}`+"\n",
		cwd, scope.Digest(scope.Posix, cwd)))
	for _, id := range []string{"a", "b"} {
		put(filepath.Join(in, id+".jsonl"), pruneText(id, cwd, "2025-01-01"))
		put(filepath.Join(in, id+".archive.ndjson"), "archive of "+id)
		put(filepath.Join(in, id, "out.txt"), "artifact of "+id)
		noErr(t, fsys.Chtimes(filepath.Join(in, id+".jsonl"), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
		noErr(t, fsys.SyncDir(filepath.Join(in, id)))
	}
	put(filepath.Join(in, "young.jsonl"), pruneText("young", cwd, "2026-03-20"))
	noErr(t, fsys.SyncDir(in))
}

func pruneStore(fsys storage.FS, dir string) *Store {
	return NewStore(fsys, Options{Home: scope.HomeAt(dir), Now: func() time.Time { return time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC) }})
}

func pruneStep(permanent bool) storagetest.Step {
	return func(fsys storage.FS, dir string, ack func()) error {
		s := pruneStore(fsys, dir)
		plan, err := s.PlanPrune(context.Background(), Retention{OlderThan: 30 * day})
		if err != nil {
			return err
		}
		return s.Prune(context.Background(), plan, permanent, func(Pruned) error { return nil })
	}
}

// wholeAfterPrune checks that each old session is in one place, with all that
// belongs to it, once what was begun is finished.
func wholeAfterPrune(t *testing.T, fsys storage.FS, dir string, permanent bool) {
	t.Helper()
	s := pruneStore(fsys, dir)
	noErr(t, s.FinishTrash(context.Background()))
	in := filepath.Join(s.opt.Home.Sessions(), scope.DirName(scope.Posix, "/gone/w"))
	trash, err := s.Trash(context.Background())
	noErr(t, err)
	lies := map[string]string{}
	for _, g := range trash {
		if g.pending {
			t.Errorf("%s is not finished", g.Dir)
		}
		lies[g.ID] = g.Dir
	}
	for _, id := range []string{"a", "b"} {
		here, err := s.isThere(filepath.Join(in, id+".jsonl"))
		noErr(t, err)
		at := in
		if !here {
			at = lies[id]
		}
		if here == (lies[id] != "") && !permanent {
			t.Errorf("%s: in its place %v, in the trash %q", id, here, lies[id])
			continue
		}
		for _, name := range []string{".jsonl", ".archive.ndjson", "/out.txt"} {
			there, err := s.isThere(filepath.Join(at, id+filepath.FromSlash(name)))
			noErr(t, err)
			if gone := permanent && !here; there == gone {
				t.Errorf("%s%s is there: %v", id, name, there)
			}
		}
	}
	if there, err := s.isThere(filepath.Join(in, "young.jsonl")); err != nil || !there {
		t.Errorf("young.jsonl: %v, %v", there, err)
	}
	noErr(t, pruneStep(permanent)(fsys, dir, nil))
	if n := len(planAfter(t, s)); n > 0 {
		t.Errorf("%d sessions are still old", n)
	}
}

func planAfter(t *testing.T, s *Store) []PruneRow {
	t.Helper()
	plan, err := s.PlanPrune(context.Background(), Retention{OlderThan: 30 * day})
	noErr(t, err)
	return plan.Rows
}

func TestPruneKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) { pruneHome(t, disk, dir) },
		pruneStep(false),
		func(t *testing.T, dir string, _ int) { wholeAfterPrune(t, disk, dir, false) })
}

func TestPruneForGoodKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) { pruneHome(t, disk, dir) },
		pruneStep(true),
		func(t *testing.T, dir string, _ int) { wholeAfterPrune(t, disk, dir, true) })
}

func TestRestoreKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			pruneHome(t, disk, dir)
			noErr(t, pruneStep(false)(disk, dir, nil))
		},
		func(fsys storage.FS, dir string, _ func()) error {
			_, err := pruneStore(fsys, dir).Restore(context.Background(), "a")
			return err
		},
		func(t *testing.T, dir string, _ int) {
			s := pruneStore(disk, dir)
			if _, err := s.Restore(context.Background(), "a"); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Restore again = %v", err)
			}
			in := filepath.Join(s.opt.Home.Sessions(), scope.DirName(scope.Posix, "/gone/w"))
			for _, name := range []string{"a.jsonl", "a.archive.ndjson", "a/out.txt"} {
				if there, err := s.isThere(filepath.Join(in, name)); err != nil || !there {
					t.Errorf("%s: %v, %v", name, there, err)
				}
			}
		})
}

func TestRestoreOfAllKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	all := func(s *Store) error {
		return s.RestoreAll(context.Background(), time.Time{}, func(Restored) error { return nil })
	}
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			pruneHome(t, disk, dir)
			noErr(t, pruneStep(false)(disk, dir, nil))
		},
		func(fsys storage.FS, dir string, _ func()) error { return all(pruneStore(fsys, dir)) },
		func(t *testing.T, dir string, _ int) {
			s := pruneStore(disk, dir)
			noErr(t, all(s))
			in := filepath.Join(s.opt.Home.Sessions(), scope.DirName(scope.Posix, "/gone/w"))
			for _, name := range []string{"a.jsonl", "a.archive.ndjson", "a/out.txt", "b.jsonl", "b.archive.ndjson", "b/out.txt"} {
				if there, err := s.isThere(filepath.Join(in, name)); err != nil || !there {
					t.Errorf("%s: %v, %v", name, there, err)
				}
			}
			if left, err := s.Trash(context.Background()); err != nil || len(left) > 0 {
				t.Errorf("trash = %v, %v", left, err)
			}
		})
}

func TestRestoreOfAllUnderEachFaultLosesNothing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{Err: syscall.EIO}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		noErr(t, storage.MkdirAll(m, dir))
		pruneHome(t, m, dir)
		noErr(t, pruneStep(false)(m, dir, nil))
		f := storagetest.NewFault(m, plan)
		all := func(fsys storage.FS) error {
			return pruneStore(fsys, dir).RestoreAll(context.Background(), time.Time{}, func(r Restored) error {
				if r.Kept != "" {
					return errors.New(r.Kept)
				}
				return nil
			})
		}
		err := all(f)
		noErr(t, all(m))
		in := filepath.Join(scope.HomeAt(dir).Sessions(), scope.DirName(scope.Posix, "/gone/w"))
		for _, id := range []string{"a", "b"} {
			for _, name := range []string{".jsonl", ".archive.ndjson", "/out.txt"} {
				there, err2 := pruneStore(m, dir).isThere(filepath.Join(in, id+filepath.FromSlash(name)))
				noErr(t, err2)
				if !there {
					t.Errorf("%s%s is not there after %v", id, name, err)
				}
			}
		}
		return f
	})
}

func TestPruneUnderEachFaultLosesNothing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{Err: syscall.EIO}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		noErr(t, storage.MkdirAll(m, dir))
		pruneHome(t, m, dir)
		f := storagetest.NewFault(m, plan)
		_ = pruneStep(false)(f, dir, nil)
		wholeAfterPrune(t, m, dir, false)
		return f
	})
}
