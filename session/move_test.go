package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// movable is a session in a directory of the user's with all that can belong
// to it, and a workspace to move it to.
func movable(t *testing.T) (b *bench, path, work string) {
	t.Helper()
	b = newBench(t, Options{})
	work = filepath.Join(filepath.Dir(b.dir), "work")
	noErr(t, os.Mkdir(work, 0o700))
	path = b.file("a.jsonl", sessionText("a", b.dir))
	for name, text := range map[string]string{"a.pin.json": "{}", "a.archive.ndjson": "x\n", "a.psm.ndjson": "y\n"} {
		b.file(name, text)
	}
	noErr(t, os.Mkdir(filepath.Join(b.dir, "a"), 0o700))
	b.file("a/note.txt", "note")
	return b, path, work
}

// names are the files of a directory, but for locks and what is made anew.
func (b *bench) names(dir string) []string {
	b.t.Helper()
	names := []string{}
	noErr(b.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") && !strings.HasSuffix(path, ".meta.json") && !strings.Contains(path, "-internal") {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	}))
	return names
}

// twoDisks is an FS each directory of which is a disk of its own.
type twoDisks struct{ storage.FS }

func (d twoDisks) RenameNoReplace(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	return d.FS.RenameNoReplace(from, to)
}

var movedNames = []string{"a/note.txt", "a.archive.ndjson", "a.jsonl", "a.pin.json", "a.psm.ndjson"}

func TestAMovedSessionTakesAllAlong(t *testing.T) {
	for _, across := range []bool{false, true} {
		t.Run(map[bool]string{false: "on one file system", true: "to another one"}[across], func(t *testing.T) {
			b, path, work := movable(t)
			if across {
				b.fsys = twoDisks{b.fsys}
			}
			s := b.open(path)
			noErr(t, s.Branch(t.Context(), "aa000001"))
			noErr(t, s.Move(t.Context(), work))
			b.say(s, "user", "moved")
			noErr(t, s.Close())
			if diff := cmp.Diff([]string{}, b.names(b.dir)); diff != "" {
				t.Errorf("left in the old place (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(movedNames, b.names(s.Dir())); diff != "" {
				t.Errorf("in the new place (-want +got):\n%s", diff)
			}
			again := b.open(s.Path())
			if again.Cwd() != work {
				t.Errorf("workspace = %q, want %q", again.Cwd(), work)
			}
			moved, _ := again.Entries(t.Context())
			if parent, _ := moved[len(moved)-1].Parent(); parent != "aa000001" {
				t.Errorf("parent of what was appended = %q, want the leaf that was chosen", parent)
			}
		})
	}
}

// TestAMoveThatFailsLosesNothing fails each operation of a move in turn: the
// session is whole in one of the two places.
func TestAMoveThatFailsLosesNothing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		b, path, work := movable(t)
		armed := false
		plan.NeverFor = func(storagetest.Op, string) bool { return !armed }
		disk := b.fsys
		f := storagetest.NewFault(disk, plan)
		st := NewStore(f, b.opt)
		s, err := st.Open(t.Context(), path, OpenOptions{})
		noErr(t, err)
		armed = true
		err = s.Move(t.Context(), work)
		armed = false
		_ = s.Close()
		at := s.Path()
		if _, gone := os.Lstat(at); errors.Is(gone, fs.ErrNotExist) {
			t.Fatalf("after %v nothing is at %s", err, at)
		}
		again, openErr := NewStore(disk, b.opt).Open(t.Context(), at, OpenOptions{})
		if openErr != nil {
			t.Fatalf("after %v: Open() = %v", err, openErr)
		}
		if got := len(b.contents(again)); got != 2 {
			t.Errorf("after %v the session has %d entries, want 2", err, got)
		}
		noErr(t, again.Close())
		if plan.Sticky { // then what was moved could not be taken back
			return f
		}
		if diff := cmp.Diff(movedNames, b.names(filepath.Dir(at))); diff != "" {
			t.Errorf("after %v, beside the session (-want +got):\n%s", err, diff)
		}
		return f
	})
}

func TestAForkHasItsOwnArtifactsAndArchive(t *testing.T) {
	b, path, _ := movable(t)
	s := b.open(path)
	from, to, err := s.Fork(t.Context())
	noErr(t, err)
	if from != path || to != s.Path() {
		t.Errorf("Fork() = %s, %s", from, to)
	}
	stem := filepath.Base(stemOf(to))
	want := []string{stem + "/note.txt", stem + ".archive.ndjson", stem + ".jsonl"}
	var got []string
	for _, name := range b.names(b.dir) {
		if strings.HasPrefix(name, stem) {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("beside the fork (-want +got):\n%s", diff)
	}
	events := map[string]bool{}
	for _, entry := range b.entries(s) {
		id, ok := entry.EventID()
		if events[id.String()] || !ok {
			t.Errorf("event id %v of a copied entry, %v", id, ok)
		}
		events[id.String()] = true
	}
	if _, err := NewStore(b.fsys, b.opt).Open(t.Context(), from, OpenOptions{}); err != nil {
		t.Errorf("the old session is still held: %v", err)
	}
}

// TestAMoveThatIsKilledCanBeRepeated kills a move before each of its
// operations: the session is whole in one of the two places, and another move
// brings everything together.
func TestAMoveThatIsKilledCanBeRepeated(t *testing.T) {
	move := func(fsys storage.FS, dir string) error {
		w := newWriter(fsys, dir, Options{})
		st := NewStore(fsys, w.opt)
		path := filepath.Join(w.sessions(), "a.jsonl")
		work := filepath.Join(dir, "work")
		if there, _ := st.isThere(path); !there {
			path = filepath.Join(scopeDir(work, w), "a.jsonl")
		}
		s, err := st.Open(context.Background(), path, OpenOptions{})
		if err != nil {
			return err
		}
		return errors.Join(s.Move(context.Background(), work), s.Close())
	}
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			noErr(t, os.Mkdir(filepath.Join(dir, "work"), 0o700))
			noErr(t, os.MkdirAll(filepath.Join(dir, "s", "a"), 0o700))
			for name, text := range map[string]string{"a.jsonl": sessionText("a", dir), "a.pin.json": "{}", "a.archive.ndjson": "x\n", "a.psm.ndjson": "y\n", "a/note.txt": "note"} {
				noErr(t, os.WriteFile(filepath.Join(dir, "s", name), []byte(text), 0o600))
			}
		},
		func(fsys storage.FS, dir string, _ func()) error { return move(fsys, dir) },
		func(t *testing.T, dir string, _ int) {
			disk := storage.Disk(storage.Policy{})
			noErr(t, move(disk, dir))
			b := &bench{t: t}
			at := scopeDir(filepath.Join(dir, "work"), newWriter(disk, dir, Options{}))
			if diff := cmp.Diff(movedNames, b.names(at)); diff != "" {
				t.Errorf("in the new place (-want +got):\n%s", diff)
			}
			tr, err := jsonl.Load(t.Context(), disk, filepath.Join(at, "a.jsonl"), jsonl.LoadOptions{})
			noErr(t, err)
			if len(tr.Entries()) != 2 || tr.Header.Cwd() != filepath.Join(dir, "work") {
				t.Errorf("%d entries in %s", len(tr.Entries()), tr.Header.Cwd())
			}
		})
}

// scopeDir is the directory of a workspace's scope.
func scopeDir(work string, w *writer) string {
	id, err := scope.Identify(work)
	if err != nil {
		return work
	}
	return filepath.Join(w.opt.Home.Sessions(), id.DirName())
}
