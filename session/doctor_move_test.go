package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// A move that is killed anywhere and never repeated is put right by Fix: the
// session is listed in one of the two workspaces, with all that belongs to it.
func TestDoctorPutsAKilledMoveRight(t *testing.T) {
	at := func(t *testing.T, dir string) *world {
		root, err := storage.RealPath(dir)
		noError(t, err)
		return &world{t: t, root: root, home: scope.HomeAt(filepath.Join(root, "agent"))}
	}
	belongings := map[string]string{"a/out.txt": "artifact", "a.pin.json": "{}", "a.psm.ndjson": "{}\n",
		"a.archive.ndjson": string(archiveHead(archiveBegin, "a", 1))}
	setup := func(t *testing.T, dir string) {
		w := at(t, dir)
		from := w.workspace("old")
		w.scope(w.workspace("new"))
		in := w.scope(from).Dir
		w.transcript(filepath.Join(in, "a.jsonl"), "a", from, 1)
		for name, text := range belongings {
			w.file(filepath.Join(in, name), text, 1)
		}
	}
	step := func(fsys storage.FS, dir string, _ func()) error {
		root, err := storage.RealPath(dir)
		if err != nil {
			return err
		}
		st := NewStore(fsys, Options{Home: scope.HomeAt(filepath.Join(root, "agent")), settle: time.Nanosecond})
		sc, err := scope.Lookup(fsys, st.opt.Home, filepath.Join(root, "old"))
		if err != nil {
			return err
		}
		s, err := st.Open(context.Background(), filepath.Join(sc.Dir, "a.jsonl"), OpenOptions{})
		if err != nil {
			return err
		}
		if err := s.Move(context.Background(), filepath.Join(root, "new")); err != nil {
			return err
		}
		return s.Close()
	}
	check := func(t *testing.T, dir string, _ int) {
		noErr(t, doctorStep(storage.Disk(storage.Policy{}), dir, nil))
		w := at(t, dir)
		var found []Info
		for _, cwd := range []string{"old", "new"} {
			l, err := w.reading(Options{}).List(t.Context(), filepath.Join(w.root, cwd))
			noError(t, err)
			found = append(found, l.Sessions...)
		}
		if len(found) != 1 {
			t.Fatalf("listed %d times, want once", len(found))
		}
		for name, text := range belongings {
			if got, err := os.ReadFile(filepath.Join(filepath.Dir(found[0].Path), name)); err != nil || string(got) != text {
				t.Errorf("%s is not beside %s: %v", name, w.rel(found[0].Path), err)
			}
		}
	}
	storagetest.EachStep(t, setup, step, check)
}
