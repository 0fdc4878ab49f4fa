package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
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

const (
	damagedText = `{"type":"session","version":5,"id":"d","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"q"}}
{"type":"mess
{"type":"message","id":"c","parentId":"b","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"user","content":"r"}}
{"type":"mess`
	mendedText = `{"type":"session","version":5,"id":"d","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"q"}}
{"type":"message","id":"c","parentId":"a","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"user","content":"r"}}
`
)

func repairStore(fsys storage.FS, dir string) *Store {
	return NewStore(fsys, Options{Home: scope.HomeAt(filepath.Join(dir, "agent")), Now: func() time.Time { return worldStart }, settle: time.Nanosecond})
}

// putDamaged writes a damaged session into a directory of the user's own.
func putDamaged(t *testing.T, fsys storage.FS, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "own", "d.jsonl")
	noErr(t, storage.MkdirAll(fsys, filepath.Dir(path)))
	f, err := fsys.Create(path)
	noErr(t, err)
	_, err = f.Write([]byte(damagedText))
	noErr(t, errors.Join(err, f.Sync(), f.Close(), fsys.SyncDir(filepath.Dir(path))))
	return path
}

// textsIn are the files of a directory but for lock files, by name.
func textsIn(t *testing.T, fsys storage.FS, dir string) map[string]string {
	t.Helper()
	list, err := fsys.ReadDir(dir)
	noErr(t, err)
	all := map[string]string{}
	for _, e := range list {
		if strings.HasSuffix(e.Name, ".lease") {
			continue
		}
		text, err := storage.ReadFile(fsys, filepath.Join(dir, e.Name), 1<<20)
		noErr(t, err)
		all[e.Name] = string(text)
	}
	return all
}

const repairStamp = "20260210T080000.000Z"

func TestRepairWritesACopyBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	disk := storage.Disk(storage.Policy{})
	path := putDamaged(t, disk, dir)
	s := repairStore(disk, dir)
	r, err := s.Repair(t.Context(), path, RepairOptions{DryRun: true})
	noErr(t, err)
	if r.Copy != "" || r.Mended.Records != 2 {
		t.Errorf("dry run: %+v", r)
	}
	r, err = s.Repair(t.Context(), path, RepairOptions{})
	noErr(t, err)
	want := map[string]string{"d.jsonl": damagedText, "d.jsonl." + repairStamp + ".repaired": mendedText}
	if diff := cmp.Diff(want, textsIn(t, disk, filepath.Dir(path))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	again, err := s.Repair(t.Context(), r.Copy, RepairOptions{})
	noErr(t, err)
	if !again.Mended.Sound() || again.Copy != "" {
		t.Errorf("repairing the copy: %+v, want nothing to do", again)
	}
	l, err := s.ScanDir(t.Context(), filepath.Dir(path))
	noErr(t, err)
	if len(l.Sessions) != 1 {
		t.Errorf("%d sessions listed, want 1", len(l.Sessions))
	}
	_, err = s.Repair(t.Context(), path, RepairOptions{Output: path})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("Repair onto the file itself = %v, want fs.ErrExist", err)
	}
}

func TestRepairReplacesAndKeepsTheLeaf(t *testing.T) {
	dir := t.TempDir()
	disk := storage.Disk(storage.Policy{})
	path := putDamaged(t, disk, dir)
	s := repairStore(disk, dir)
	noErr(t, writeLeafFile(t.Context(), disk, path, "d", int64(len(damagedText)), jsonl.StringValue("a")))
	r, err := s.Repair(t.Context(), path, RepairOptions{Replace: true})
	noErr(t, err)
	got := textsIn(t, disk, filepath.Dir(path))
	if got["d.jsonl"] != mendedText || got["d.jsonl."+repairStamp+".damaged"] != damagedText || len(got) != 3 {
		t.Errorf("files %v", got)
	}
	leaf, ok, err := ReadLeaf(disk, path, "d", int64(len(mendedText)))
	if id, _ := leaf.ID(); !ok || id != "a" || err != nil {
		t.Errorf("leaf %q, %v, %v, want a", id, ok, err)
	}
	if r.Aside == "" || r.Copy != path {
		t.Errorf("Repair = %+v", r)
	}
	r, err = s.Repair(t.Context(), path, RepairOptions{Replace: true})
	noErr(t, err)
	if !r.Mended.Sound() || len(textsIn(t, disk, filepath.Dir(path))) != 3 {
		t.Errorf("second repair: %+v", r)
	}
}

func TestRepairRefuses(t *testing.T) {
	w := newWorld(t)
	s := w.store(Options{})
	t.Run("an older layout", func(t *testing.T) {
		path := w.path("agent/sessions/--old--/d.jsonl")
		noErr(t, os.WriteFile(path, []byte(damagedText), 0o600))
		for _, opt := range []RepairOptions{{}, {Replace: true}} {
			if _, err := s.Repair(t.Context(), path, opt); !errors.Is(err, ErrNotManaged) {
				t.Errorf("Repair(%+v) = %v, want ErrNotManaged", opt, err)
			}
		}
		r, err := s.Repair(t.Context(), path, RepairOptions{Output: w.path("out/d.jsonl")})
		noErr(t, err)
		if text, _ := os.ReadFile(r.Copy); string(text) != mendedText {
			t.Errorf("copy %q", text)
		}
	})
	t.Run("a session that is written", func(t *testing.T) {
		path := w.path("own/w.jsonl")
		noErr(t, os.WriteFile(path, []byte(damagedText), 0o600))
		held, err := w.store(Options{}).hold(t.Context(), path, 0)
		noErr(t, err)
		if _, err := s.Repair(t.Context(), path, RepairOptions{Replace: true}); !errors.Is(err, ErrBusy) {
			t.Errorf("Repair = %v, want ErrBusy", err)
		}
		noErr(t, held.release(true))
	})
	t.Run("a link and nothing", func(t *testing.T) {
		noErr(t, os.Symlink(w.path("own/w.jsonl"), w.path("own/link.jsonl")))
		if _, err := s.Repair(t.Context(), w.path("own/link.jsonl"), RepairOptions{Replace: true}); !errors.Is(err, storage.ErrUnsafe) {
			t.Errorf("Repair of a link = %v, want ErrUnsafe", err)
		}
		if _, err := s.Repair(t.Context(), w.path("own/none.jsonl"), RepairOptions{Replace: true}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Repair of nothing = %v, want fs.ErrNotExist", err)
		}
	})
}

func TestRepairRebuildsAHeaderFromWhatIsKnown(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("proj")
	sc := w.scope(cwd)
	path := filepath.Join(sc.Dir, "2026-03-01T09-00-00-000Z_s-1.jsonl")
	_, rest, _ := strings.Cut(mendedText, "\n")
	noErr(t, os.WriteFile(path, []byte("{\"type\":\"sess\n"+rest), 0o600))
	s := w.store(Options{})
	if _, err := s.Repair(t.Context(), path, RepairOptions{}); !errors.Is(err, jsonl.ErrNoHeader) {
		t.Errorf("Repair = %v, want ErrNoHeader", err)
	}
	r, err := s.Repair(t.Context(), path, RepairOptions{Header: true, Replace: true})
	noErr(t, err)
	text, err := os.ReadFile(r.Path)
	noErr(t, err)
	want := `{"type":"session","version":5,"id":"s-1","timestamp":"2026-03-01T09:00:00.000Z","cwd":"` + cwd + `"}` + "\n" + rest
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
}

// A line that another program appends while the copy is made is mended too.
func TestRepairMendsALineThatComesLate(t *testing.T) {
	late := `{"type":"message","id":"e","parentId":"c","timestamp":"2026-03-01T09:00:04.000Z","message":{"role":"user","content":"s"}}` + "\n"
	for _, before := range []string{"create", "set aside", "take the name"} {
		dir := t.TempDir()
		disk := storage.Disk(storage.Policy{})
		path := putDamaged(t, disk, dir)
		done := false
		hooked := &storagetest.Hook{FS: disk, Before: func(op storagetest.Op, name string) error {
			to := path
			switch {
			case done:
				return nil
			case before == "create" && op == storagetest.OpCreate:
			case before == "set aside" && op == storagetest.OpRename && strings.HasSuffix(name, damagedSuffix):
			case before == "take the name" && op == storagetest.OpRename && name == path:
				to = path + "." + repairStamp + damagedSuffix
			default:
				return nil
			}
			done = true
			f, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0)
			noErr(t, err)
			_, err = f.WriteString("\n" + late)
			return errors.Join(err, f.Close())
		}}
		_, err := repairStore(hooked, dir).Repair(t.Context(), path, RepairOptions{Replace: true})
		noErr(t, err)
		in := jsonl.Inspect(t.Context(), disk, path, jsonl.LoadOptions{})
		got := textsIn(t, disk, filepath.Dir(path))
		if in.Transcript == nil || len(in.Transcript.Records) != 3 || len(got) != 2 || !done {
			t.Errorf("late, before %s: %s, files %q", before, in.Verdict, got)
		}
	}
}

func repairStep(fsys storage.FS, dir string, _ func()) error {
	_, err := repairStore(fsys, dir).Repair(context.Background(), filepath.Join(dir, "own", "d.jsonl"), RepairOptions{Replace: true})
	return err
}

// repairedInTheEnd repairs once more and wants all in its place.
func repairedInTheEnd(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	noErr(t, repairStep(fsys, dir, nil))
	path := filepath.Join(dir, "own", "d.jsonl")
	texts := textsIn(t, fsys, filepath.Dir(path))
	if texts["d.jsonl"] != mendedText {
		t.Errorf("session is %q", texts["d.jsonl"])
	}
	kept := false
	for name, text := range texts {
		kept = kept || strings.HasSuffix(name, damagedSuffix) && text == damagedText
	}
	if !kept {
		t.Errorf("the damaged file is gone: %v", texts)
	}
}

func TestRepairFailingAnywhereLosesNothing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		dir := t.TempDir()
		disk := storage.Disk(storage.Policy{})
		putDamaged(t, disk, dir)
		f := storagetest.NewFault(disk, plan)
		if err := repairStep(f, dir, nil); f.Fired() > 0 && err == nil {
			t.Log("a failure was of no consequence")
		}
		repairedInTheEnd(t, disk, dir)
		return f
	})
}

func TestRepairSurvivesCrashes(t *testing.T) {
	storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { putDamaged(t, fsys, dir) }, repairStep,
		func(t *testing.T, fsys storage.FS, dir string, _ int) { repairedInTheEnd(t, fsys, dir) })
}

func TestRepairKilledAnywhereIsFinishedByTheNext(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { putDamaged(t, disk, dir) }, repairStep,
		func(t *testing.T, dir string, _ int) { repairedInTheEnd(t, disk, dir) })
}
