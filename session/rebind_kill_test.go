package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func rebindIn(fsys storage.FS, root string) ([]RebindRow, error) {
	s := NewStore(fsys, Options{Home: scope.HomeAt(filepath.Join(root, "agent")), settle: time.Nanosecond})
	rows, _, err := s.Rebind(context.Background(), RebindOptions{From: filepath.Join(root, "old"), To: filepath.Join(root, "new")})
	return rows, err
}

// Killed anywhere, Rebind loses nothing, and the next one finishes.
func TestRebindKilledAnywhereIsFinishedByTheNext(t *testing.T) {
	at := func(t *testing.T, dir string) *world {
		root, err := storage.RealPath(dir)
		noError(t, err)
		return &world{t: t, root: root, home: scope.HomeAt(filepath.Join(root, "agent"))}
	}
	setup := func(t *testing.T, dir string) {
		w := at(t, dir)
		from := w.workspace("old")
		sc := w.scope(from)
		w.transcript(sc.Dir+"/a.jsonl", "a", from, 1)
		w.file(sc.Dir+"/a/out.txt", "of a", 1)
		w.transcript(sc.Root+"/-old/c.jsonl", "c", from, 3)
		w.file(sc.Root+"/-old/c/out.txt", "of c", 3)
		noError(t, os.Rename(from, filepath.Join(w.root, "new")))
	}
	step := func(fsys storage.FS, dir string, _ func()) error {
		root, err := storage.RealPath(dir)
		if err != nil {
			return err
		}
		_, err = rebindIn(fsys, root)
		return err
	}
	check := func(t *testing.T, dir string, _ int) {
		w := at(t, dir)
		_, err := rebindIn(storage.Disk(storage.Policy{}), w.root)
		noError(t, err)
		to := w.workspace("new")
		l, err := w.reading(Options{}).List(t.Context(), to)
		noError(t, err)
		got := map[string]string{}
		for _, in := range l.Sessions {
			inspected := jsonl.Inspect(t.Context(), storage.Disk(storage.Policy{}), in.Path, jsonl.LoadOptions{})
			artifact, _ := os.ReadFile(stemOf(in.Path) + "/out.txt")
			got[in.ID] = in.Cwd + " " + string(inspected.Verdict) + " " + string(artifact)
		}
		want := map[string]string{"a": to + " terminal of a", "c": to + " terminal of c"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after the next Rebind, left out %v (-want +got):\n%s", l.LeftOut, diff)
		}
	}
	storagetest.EachStep(t, setup, step, check)
}
