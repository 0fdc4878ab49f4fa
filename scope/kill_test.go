package scope

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// world is a home in dir with a workspace w and one legacy session of it.
func world(t testing.TB, dir string) (home Home, workspace string) {
	t.Helper()
	lay(t, dir, map[string]string{
		"w/": "", "home/.gjc/agent/sessions/-old/a/sub/": "",
		"home/.gjc/agent/sessions/-old/a.jsonl":   transcript("L1", dir+"/w"),
		"home/.gjc/agent/sessions/-old/a/out.txt": "artifact text",
	})
	return worldAt(dir)
}

func worldAt(dir string) (Home, string) {
	return HomeAt(filepath.Join(dir, "home/.gjc/agent")), filepath.Join(dir, "w")
}

func legacyPath(home Home) string { return filepath.Join(home.Sessions(), "-old", "a.jsonl") }

func transcript(id, cwd string) string {
	return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-02-10T08:00:00.000Z","cwd":"` + cwd + `"}` + "\n" +
		`{"type":"message","id":"aa000001","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"user","content":"x"}}` + "\n"
}

// openLegacy migrates the world's session.
func openLegacy(fsys storage.FS, dir string, by *Process) (Candidate, error) {
	home, w := worldAt(dir)
	return openIn(fsys, home, w, by)
}

func openIn(fsys storage.FS, home Home, w string, by *Process) (Candidate, error) {
	ctx := context.Background()
	s, err := Ensure(ctx, fsys, home, w)
	if err != nil {
		return Candidate{}, err
	}
	c, err := s.Candidate(ctx, fsys, legacyPath(home))
	if err != nil {
		return Candidate{}, err
	}
	return s.Open(ctx, fsys, by, c, CopyRetain)
}

func deleteCopy(fsys storage.FS, dir string) error {
	c, err := openLegacy(fsys, dir, ThisProcess())
	if err != nil {
		return err
	}
	home, w := worldAt(dir)
	s, err := Lookup(fsys, home, w)
	if err != nil {
		return err
	}
	_, err = s.Delete(context.Background(), fsys, ThisProcess(), c)
	return err
}

// candidates are the listed paths, relative to the sessions directory.
func candidates(t testing.TB, dir string) []string {
	t.Helper()
	return candidatesOn(t, disk(), dir)
}

func candidatesOn(t testing.TB, fsys storage.FS, dir string) []string {
	t.Helper()
	home, w := worldAt(dir)
	return candidatesIn(t, fsys, home, w)
}

func candidatesIn(t testing.TB, fsys storage.FS, home Home, w string) []string {
	t.Helper()
	s, err := Lookup(fsys, home, w)
	must(t, err)
	list, err := s.Candidates(context.Background(), fsys)
	must(t, err)
	got := []string{}
	for _, c := range list.Owned {
		rel, _ := filepath.Rel(home.Sessions(), c.Path)
		got = append(got, strings.Replace(rel, s.DirName(), "v2", 1)+" "+string(c.State))
	}
	if len(list.Invalid) > 0 {
		t.Errorf("invalid: %v", list.Invalid)
	}
	return got
}

func TestEnsureKilledBeforeEachOperation(t *testing.T) {
	step := func(fsys storage.FS, dir string, _ func()) error {
		home, w := worldAt(dir)
		_, err := Ensure(context.Background(), fsys, home, w)
		return err
	}
	setup := func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "w"), 0o700)) }
	storagetest.EachStep(t, setup, step, func(t *testing.T, dir string, _ int) {
		home, w := worldAt(dir)
		if _, err := Lookup(disk(), home, w); err != nil {
			t.Errorf("Lookup after the kill: %v", err)
		}
		s, err := Ensure(context.Background(), disk(), home, w)
		must(t, err)
		if _, err := storage.CheckOwnerOnly(disk(), filepath.Join(s.Dir, bindingName), storage.Regular); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrateKilledBeforeEachOperation(t *testing.T) {
	step := func(fsys storage.FS, dir string, ack func()) error {
		_, err := openLegacy(fsys, dir, ThisProcess())
		if err == nil {
			ack()
		}
		return err
	}
	setup := func(t *testing.T, dir string) { world(t, dir) }
	storagetest.EachStep(t, setup, step, func(t *testing.T, dir string, acked int) {
		home, _ := worldAt(dir)
		before := filesUnder(t, filepath.Join(home.Sessions(), "-old"))
		if acked > 0 {
			if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidates(t, dir)); diff != "" {
				t.Errorf("after an answer (-want +got):\n%s", diff)
			}
		}
		c, err := openLegacy(disk(), dir, ThisProcess())
		must(t, err)
		if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidates(t, dir)); diff != "" {
			t.Errorf("finished (-want +got):\n%s", diff)
		}
		want := map[string]wantFile{"sub/": {Mode: "700"}, "out.txt": {Mode: "600", Text: "artifact text"}}
		if diff := cmp.Diff(want, filesUnder(t, artifactsOf(c.Path))); diff != "" {
			t.Errorf("artifacts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, filesUnder(t, filepath.Join(home.Sessions(), "-old"))); diff != "" {
			t.Errorf("legacy directory (-before +after):\n%s", diff)
		}
	})
}

func TestDeleteKilledBeforeEachOperation(t *testing.T) {
	step := func(fsys storage.FS, dir string, ack func()) error {
		err := deleteCopy(fsys, dir)
		if err == nil {
			ack()
		}
		return err
	}
	setup := func(t *testing.T, dir string) {
		world(t, dir)
		if _, err := openLegacy(disk(), dir, ThisProcess()); err != nil {
			t.Fatal(err)
		}
	}
	storagetest.EachStep(t, setup, step, func(t *testing.T, dir string, acked int) {
		if got := candidates(t, dir); acked > 0 && len(got) > 0 {
			t.Errorf("after an answer: %v is listed", got)
		}
		home, w := worldAt(dir)
		s, err := Ensure(context.Background(), disk(), home, w)
		must(t, err)
		must(t, s.Reconcile(context.Background(), disk(), ThisProcess()))
		if left := candidates(t, dir); len(left) > 0 {
			must(t, deleteCopy(disk(), dir)) // it had not begun
		}
		if diff := cmp.Diff([]string{}, candidates(t, dir)); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		for path, f := range filesUnder(t, home.Sessions()) {
			if strings.Contains(path, ".gjc-delete-") && f.Text != "" || strings.HasSuffix(path, "a.jsonl") {
				t.Errorf("%s is left: %q", path, f.Text)
			}
		}
	})
}
