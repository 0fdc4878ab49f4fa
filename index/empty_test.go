package index

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

func TestFilesThatHoldNothingAreNoSessionsAndNoDamage(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"no bytes", ""}, {"white space only", " \n\t\r\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := simpleHome(t, 2)
			fsys := &oddFS{FS: storage.Disk(storage.Policy{})}
			put(t, home, "scope0/nothing.jsonl", tt.text)
			x := openAt(t, home, Options{})
			x.fsys = fsys
			if rep := refresh(t, x); rep.Added != 3 || len(rep.Failed) != 0 {
				t.Errorf("Refresh = %+v, want 3 added and none failed", rep)
			}
			for _, damaged := range []Damaged{DamagedOmit, DamagedOnly} {
				want := []string{"s0001", "s0000"}
				if damaged == DamagedOnly {
					want = nil
				}
				if diff := cmp.Diff(want, sessionIDs(t, x, Filter{Damaged: damaged})); diff != "" {
					t.Errorf("Sessions with damaged %d (-want +got):\n%s", damaged, diff)
				}
			}
			if s, err := x.Status(t.Context()); err != nil || s.Damaged != 0 || s.Empty != 1 {
				t.Errorf("Status = %+v, %v, want 0 damaged and 1 empty", s, err)
			}
			fsys.opened()
			if rep := refresh(t, x); rep.Same != 3 || fsys.opened() != "" {
				t.Errorf("second Refresh = %+v, want nothing looked at", rep)
			}
			if rep, err := x.Rebuild(t.Context()); err != nil || len(rep.Failed) != 0 {
				t.Errorf("Rebuild = %+v, %v, want none failed", rep, err)
			}
		})
	}
}

func TestAnExplicitDirectoryIsReadWithoutMakingAnything(t *testing.T) {
	home := simpleHome(t, 2)
	put(t, home, "scope0/nothing.jsonl", "\n")
	cwd := t.TempDir()
	t.Chdir(cwd)
	x, err := OpenDir(t.Context(), storage.Disk(storage.Policy{}), filepath.Join(home, "sessions", "scope0"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rep := refresh(t, x); len(rep.Failed) != 0 {
		t.Errorf("Refresh = %+v, want none failed", rep)
	}
	if got := sessionIDs(t, x, Filter{Damaged: DamagedOnly}); len(got) != 0 {
		t.Errorf("damaged = %q, want none", got)
	}
	if got := sessionIDs(t, x, Filter{}); len(got) != 1 {
		t.Errorf("Sessions = %q, want one", got)
	}
	if _, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0000")}); err != nil {
		t.Errorf("Search: %v", err)
	}
	if left, err := os.ReadDir(cwd); err != nil || len(left) != 0 {
		t.Errorf("the working directory holds %v, %v, want nothing", left, err)
	}
}
