package scope

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// inMemory is the world on a file system in memory; only the workspace is real,
// since the operating system is asked who it is.
func inMemory(t testing.TB) (m *storage.Memory, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "w"), 0o700))
	home, _ := worldAt(dir)
	m = storage.NewMemory()
	layLegacy(t, m, home, dir+"/w")
	return m, dir
}

func layLegacy(t testing.TB, fsys storage.FS, home Home, workspace string) {
	t.Helper()
	out := filepath.Join(artifactsOf(legacyPath(home)), "out.txt")
	must(t, storage.MkdirAll(fsys, filepath.Dir(out)))
	for path, content := range map[string]string{legacyPath(home): transcript("L1", workspace), out: "artifact text"} {
		must(t, storage.Publish(context.Background(), fsys, path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		}))
	}
}

// impatient is this process, for which no time passes while it waits.
func impatient() *Process {
	by := ThisProcess()
	by.Wait = func(context.Context, time.Duration) error { return nil }
	return by
}

func TestMigrateAndDeleteCrashedBeforeEachOperation(t *testing.T) {
	_, w := newHome(t)
	home := HomeAt(filepath.Join(storagetest.CrashDir(), "agent"))
	by := impatient()
	setup := func(t *testing.T, fsys storage.FS, _ string) { layLegacy(t, fsys, home, w) }
	step := func(fsys storage.FS, _ string, ack func()) error {
		c, err := openIn(fsys, home, w, by)
		if err != nil {
			return err
		}
		ack()
		s, err := Lookup(fsys, home, w)
		if err != nil {
			return err
		}
		_, err = s.Delete(context.Background(), fsys, by, c)
		if err == nil {
			ack()
		}
		return err
	}
	storagetest.EachCrash(t, setup, step, func(t *testing.T, fsys storage.FS, _ string, acked int) {
		left := candidatesIn(t, fsys, home, w)
		migrated := []string{"v2/a.jsonl migrated_v2"}
		switch {
		case acked == 2 && len(left) > 0:
			t.Errorf("deleted, but %v is listed", left)
		case acked == 1 && len(left) > 0 && !slices.Equal(left, migrated):
			t.Errorf("migrated, but %v is listed", left)
		case acked == 0 && !slices.Contains(left, "-old/a.jsonl legacy_unmigrated") && !slices.Equal(left, migrated):
			t.Errorf("lost: %v is listed", left)
		}
		if len(left) == 0 {
			s, err := Ensure(context.Background(), fsys, home, w)
			must(t, err)
			must(t, s.Reconcile(context.Background(), fsys, by))
			return
		}
		if _, err := openIn(fsys, home, w, by); err != nil {
			t.Errorf("finish: %v", err)
		}
		if diff := cmp.Diff(migrated, candidatesIn(t, fsys, home, w)); diff != "" {
			t.Errorf("finished (-want +got):\n%s", diff)
		}
	})
}

func TestMigrateSurvivesEachFault(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m, dir := inMemory(t)
		by := impatient()
		fault := storagetest.NewFault(m, plan)
		_, err := openLegacy(fault, dir, by)
		if err == nil {
			if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidatesOn(t, m, dir)); diff != "" {
				t.Errorf("no error, but (-want +got):\n%s", diff)
			}
		}
		if _, again := openLegacy(m, dir, by); again != nil {
			t.Errorf("after %v: %v", err, again)
		}
		if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidatesOn(t, m, dir)); diff != "" {
			t.Errorf("finished (-want +got):\n%s", diff)
		}
		return fault
	})
}

func TestDeleteSurvivesEachFault(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m, dir := inMemory(t)
		by := impatient()
		c, err := openLegacy(m, dir, by)
		must(t, err)
		home, w := worldAt(dir)
		s, err := Lookup(m, home, w)
		must(t, err)
		fault := storagetest.NewFault(m, plan)
		_, err = s.Delete(context.Background(), fault, by, c)
		left := candidatesOn(t, m, dir)
		if err == nil && len(left) > 0 {
			t.Errorf("no error, but %v is listed", left)
		}
		must(t, s.Reconcile(context.Background(), m, by))
		if len(left) > 0 {
			_, err := s.Delete(context.Background(), m, by, c)
			must(t, err)
		}
		if left := candidatesOn(t, m, dir); len(left) > 0 {
			t.Errorf("finished, but %v is listed", left)
		}
		return fault
	})
}
