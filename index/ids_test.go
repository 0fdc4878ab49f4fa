package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

func TestIDsAreAllSessionsWithAndWithoutDatabase(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "--p--")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"aa", "bb"} {
		text := `{"type":"session","version":5,"id":"` + id + `","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p"}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk := storage.Disk(storage.Policy{})
	t.Chdir(t.TempDir())
	for name, open := range map[string]func() (*Index, error){
		"home": func() (*Index, error) { return Open(t.Context(), disk, scope.HomeAt(home), Options{}) },
		"dir":  func() (*Index, error) { return OpenDir(t.Context(), disk, dir, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			x, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			if _, err := x.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, err := x.IDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if diff := cmp.Diff([]string{"aa", "bb"}, got); diff != "" {
				t.Errorf("IDs (-want +got):\n%s", diff)
			}
		})
	}
	made, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 0 {
		t.Errorf("the working directory holds %v", made)
	}
}
