package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// rewrittenBy writes a transcript anew as the other program does that knows
// nothing of an archive: every entry it has in memory, patches folded.
func rewrittenBy(t *testing.T, path string, entries []*jsonl.Entry, more ...string) {
	t.Helper()
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	var text bytes.Buffer
	text.Write(jsonl.AppendJSON(nil, jsonl.ObjectValue(tr.Header.Value())))
	text.WriteByte('\n')
	for _, e := range entries {
		text.Write(e.AppendJSON(nil, true))
		text.WriteByte('\n')
	}
	text.WriteString(strings.Join(more, ""))
	noError(t, os.WriteFile(path+".new", text.Bytes(), 0o600))
	noError(t, os.Rename(path+".new", path))
}

// onlyOnce fails if an id comes twice among entries.
func onlyOnce(t *testing.T, entries []*jsonl.Entry) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range entries {
		id, _ := e.ID()
		if seen[id] {
			t.Errorf("entry %s comes twice", id)
		}
		seen[id] = true
	}
}

const lateLine = `{"type":"message","id":"late%d","parentId":"%s","timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"user","content":"since"}}` + "\n"

// Another program that has the whole session in memory brings all entries back:
// readers take each once, the next run finishes, and undoing gives the bytes of
// the beginning and what came since.
func TestArchiveAfterARewriteThatBringsEntriesBack(t *testing.T) {
	for _, compress := range []bool{false, true} {
		t.Run(fmt.Sprint("compress ", compress), func(t *testing.T) {
			w := newPruneWorld(t)
			l := newLongSession(11, w.cwd)
			for range 40 {
				l.step()
			}
			l.compact(l.path(t))
			path := w.write("long", l.text.String(), "2026-01-01")
			disk := storage.Disk(storage.Policy{})
			s := w.world.store(Options{settle: 1})
			before, _, err := Whole(t.Context(), disk, path, jsonl.LoadOptions{})
			noError(t, err)
			first, err := s.Archive(t.Context(), path, ArchiveOptions{Compress: compress})
			noError(t, err)
			late := fmt.Sprintf(lateLine, 1, l.leaf)
			rewrittenBy(t, path, before, late)
			entries, archived, err := Whole(t.Context(), disk, path, jsonl.LoadOptions{})
			noError(t, err)
			onlyOnce(t, entries)
			if !archived || len(entries) != len(before)+1 {
				t.Errorf("whole after the rewrite: archived %v, %d entries, want %d", archived, len(entries), len(before)+1)
			}
			second, err := s.Archive(t.Context(), path, ArchiveOptions{Compress: compress})
			noError(t, err)
			if second.Moved != first.Moved || first.Moved == 0 {
				t.Errorf("the next run moved %d, the first %d", second.Moved, first.Moved)
			}
			entries, _, err = Whole(t.Context(), disk, path, jsonl.LoadOptions{})
			noError(t, err)
			onlyOnce(t, entries)
			if len(entries) != len(before)+1 {
				t.Errorf("whole after the next run has %d entries, want %d", len(entries), len(before)+1)
			}
			_, err = s.Unarchive(t.Context(), path)
			noError(t, err)
			got, err := os.ReadFile(path)
			noError(t, err)
			if diff := cmp.Diff(strings.Split(l.text.String()+late, "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
		})
	}
}

// A message that another program brought back changed is as it made it.
func TestAMessageThatCameBackChangedIsAsItIsNow(t *testing.T) {
	w, path, entries := archivedSession(t, false)
	s := w.world.store(Options{settle: 1})
	tr, err := jsonl.Load(t.Context(), s.fsys, path, jsonl.LoadOptions{})
	noError(t, err)
	there := map[string]bool{}
	for _, id := range ids(tr.Entries()) {
		there[id] = true
	}
	changed := ""
	for _, e := range entries {
		if id, _ := e.ID(); e.Role() == "user" && !there[id] && changed == "" {
			changed = id
			m := e.Value().Get("message").Obj().Clone()
			m.Set("content", jsonl.StringValue("changed"))
			e.SetMessage(jsonl.ObjectValue(m))
		}
	}
	rewrittenBy(t, path, entries)
	look := func(when string) {
		t.Helper()
		whole, _, err := WholeTranscript(t.Context(), s.fsys, path, jsonl.LoadOptions{})
		noError(t, err)
		onlyOnce(t, whole.Entries())
		for _, e := range whole.Entries() {
			if id, _ := e.ID(); id == changed && e.Value().Get("message").Get("content").Str() != "changed" {
				t.Errorf("%s: entry %s is %s", when, id, e.Value().Get("message").JSON())
			}
		}
	}
	look("after the rewrite")
	_, err = s.Archive(t.Context(), path, ArchiveOptions{})
	noError(t, err)
	look("archived again")
	_, err = s.Unarchive(t.Context(), path)
	noError(t, err)
	look("undone")
	if changed == "" {
		t.Error("no prompt was moved")
	}
}

// A program appends a line each millisecond while the session is archived and
// brought back again and again: every line is there once, and the context of
// the last entry is what it is without any archiving.
func TestArchivingBesideAnotherProgramLosesNoLine(t *testing.T) {
	w := newPruneWorld(t)
	l := newLongSession(7, w.cwd)
	for range 30 {
		l.step()
	}
	l.compact(l.path(t))
	path := w.write("long", l.text.String(), "2026-01-01")
	s := w.world.store(Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var all strings.Builder
	written := 0
	wg.Go(func() {
		parent := l.leaf
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			began := time.Now()
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			line := fmt.Sprintf(lateLine, written, parent)
			if time.Since(began) > jsonl.LateAfter/2 {
				_ = f.Close()
				continue // the machine stood still: nobody watches a replaced file that long
			}
			if _, err = f.WriteString(line); err != nil {
				t.Error(err)
			}
			_ = f.Close()
			all.WriteString(line)
			parent = fmt.Sprint("late", written)
			written++
		}
	})
	moved := 0
	for i := range 6 {
		a, err := s.Archive(t.Context(), path, ArchiveOptions{Compress: i%2 == 1})
		noError(t, err)
		moved += a.Moved
		if i%3 == 2 {
			_, err = s.Unarchive(t.Context(), path)
			noError(t, err)
		}
	}
	close(stop)
	wg.Wait()
	entries, _, err := Whole(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	onlyOnce(t, entries)
	_, err = s.Unarchive(t.Context(), path)
	noError(t, err)
	got, err := os.ReadFile(path)
	noError(t, err)
	since, ok := strings.CutPrefix(string(got), l.text.String())
	if !ok {
		t.Error("the session does not begin with what it was")
	}
	sorted := func(text string) []string {
		lines := strings.Split(text, "\n") // of lines that come at the same time any may be first
		slices.Sort(lines)
		return lines
	}
	if diff := cmp.Diff(sorted(all.String()), sorted(since)); diff != "" {
		t.Errorf("after %d lines (-want +got):\n%s", written, diff)
	}
	if moved == 0 || written < 10 {
		t.Errorf("%d entries moved, %d lines written: too few to tell anything", moved, written)
	}
}

// A cut-off line and one that is damaged, which came after archiving, are kept.
func TestUnarchiveKeepsWhatCannotBeRead(t *testing.T) {
	w := newPruneWorld(t)
	l := newLongSession(7, w.cwd)
	for range 30 {
		l.step()
	}
	l.compact(l.path(t))
	path := w.write("long", l.text.String(), "2026-01-01")
	s := w.world.store(Options{settle: 1})
	_, err := s.Archive(t.Context(), path, ArchiveOptions{})
	noError(t, err)
	since := "cut off {\"type\":\"mess\n" + fmt.Sprintf(lateLine, 1, l.leaf) + "\x00\x00 \n" +
		strings.TrimSuffix(fmt.Sprintf(lateLine, 2, "late1"), "\n") + " and more\n" + `{"type":"message","id":"ha`
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.WriteString(since)
	noError(t, errors.Join(err, f.Close()))
	_, err = s.Unarchive(t.Context(), path)
	noError(t, err)
	got, err := os.ReadFile(path)
	noError(t, err)
	if diff := cmp.Diff(strings.Split(l.text.String()+since, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
}

// archivedSession is a session in a world that was archived.
func archivedSession(t *testing.T, compress bool) (w *pruneWorld, path string, entries []*jsonl.Entry) {
	t.Helper()
	w = newPruneWorld(t)
	l := newLongSession(7, w.cwd)
	for range 30 {
		l.step()
	}
	l.compact(l.path(t))
	l.step()
	path = w.write("long", l.text.String(), "2026-01-01")
	entries, _, err := Whole(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	a, err := w.world.store(Options{settle: 1}).Archive(t.Context(), path, ArchiveOptions{Compress: compress})
	noError(t, err)
	if _, err := os.Stat(a.Archive); err != nil || a.Moved == 0 || strings.HasSuffix(a.Archive, ".zst") != compress {
		t.Fatalf("archived %+v: %v", a, err)
	}
	return w, path, entries
}

func ids(entries []*jsonl.Entry) []string {
	var all []string
	for _, e := range entries {
		id, _ := e.ID()
		all = append(all, id)
	}
	return all
}

func TestAnArchivedSessionIsForkedMovedRewoundAndDeletedWhole(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	whole := func(t *testing.T, path string) []string {
		t.Helper()
		entries, archived, err := Whole(t.Context(), disk, path, jsonl.LoadOptions{})
		noError(t, err)
		if !archived {
			t.Errorf("%s has no archive", path)
		}
		return ids(entries)
	}
	for _, compress := range []bool{false, true} {
		name := fmt.Sprint("compress ", compress, " ")
		t.Run(name+"fork", func(t *testing.T) {
			w, path, entries := archivedSession(t, compress)
			s, err := w.world.store(Options{settle: 1}).Open(t.Context(), path, OpenOptions{})
			noError(t, err)
			_, to, err := s.Fork(t.Context())
			noError(t, errors.Join(err, s.Close()))
			for _, path := range []string{path, to} {
				if diff := cmp.Diff(ids(entries), whole(t, path)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
			}
		})
		t.Run(name+"move", func(t *testing.T) {
			w, path, entries := archivedSession(t, compress)
			s, err := w.world.store(Options{settle: 1}).Open(t.Context(), path, OpenOptions{})
			noError(t, err)
			noError(t, s.Move(t.Context(), w.workspace("other")))
			to := s.Path()
			noError(t, s.Close())
			if diff := cmp.Diff(ids(entries), whole(t, to)); diff != "" || to == path {
				t.Errorf("%s (-want +got):\n%s", to, diff)
			}
			if _, _, there, err := FindArchive(disk, path); there || err != nil {
				t.Errorf("the archive is still in the old place: %v", err)
			}
		})
		t.Run(name+"rewind", func(t *testing.T) {
			w, path, entries := archivedSession(t, compress)
			s := w.world.store(Options{settle: 1})
			prompts, err := s.Prompts(t.Context(), path)
			noError(t, err)
			at, _ := prompts[1].Entry.ID()
			before, err := os.ReadFile(path)
			noError(t, err)
			r, err := s.Rewind(t.Context(), path, at)
			noError(t, err)
			tr, err := jsonl.Load(t.Context(), disk, r.Path, jsonl.LoadOptions{})
			noError(t, err)
			want := ids(entries)
			for i, id := range want {
				if id == at {
					want = want[:i]
					break
				}
			}
			got := ids(tr.Entries())
			if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
				t.Errorf("rewound (-want +got):\n%s", diff)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the source was touched: %v", err)
			}
		})
		t.Run(name+"delete", func(t *testing.T) {
			w, path, _ := archivedSession(t, compress)
			_, err := w.world.store(Options{settle: 1}).Delete(t.Context(), path)
			noError(t, err)
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "long*")); err != nil || len(left) > 0 {
				t.Errorf("deleting left %v, %v", left, err)
			}
		})
		t.Run(name+"branch", func(t *testing.T) {
			w, path, entries := archivedSession(t, compress)
			s, err := w.world.store(Options{settle: 1}).Open(t.Context(), path, OpenOptions{})
			noError(t, err)
			present := map[string]bool{}
			noError(t, s.View(t.Context(), func(tree *jsonl.Tree, _ jsonl.Leaf) error {
				for _, id := range ids(tree.Entries()) {
					present[id] = true
				}
				return nil
			}))
			for _, id := range ids(entries) {
				if err := s.Branch(t.Context(), id); errors.Is(err, ErrEntryArchived) == present[id] {
					t.Errorf("branch to %s, which is there: %v, answers %v", id, present[id], err)
				}
			}
			if err := s.Branch(t.Context(), "nosuch"); !errors.Is(err, ErrNoEntry) || errors.Is(err, ErrEntryArchived) {
				t.Errorf("branch to an entry that never was answers %v", err)
			}
			noError(t, s.Close())
		})
	}
}

// grownHome is archiveHome after archiving, with a line that came since.
func grownHome(t *testing.T, fsys storage.FS, dir string, compress bool) {
	t.Helper()
	path := archiveHome(t, fsys, dir)
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	_, err := s.Archive(context.Background(), path, ArchiveOptions{Compress: compress})
	noErr(t, err)
	f, err := fsys.Append(path)
	noErr(t, err)
	_, err = f.Write(fmt.Appendf(nil, lateLine, 1, "00000003"))
	noErr(t, errors.Join(err, f.Sync(), f.Close()))
}

func undoStep(fsys storage.FS, dir string, _ func()) error {
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	_, err := s.Unarchive(context.Background(), filepath.Join(dir, "s", "long.jsonl"))
	return err
}

// isUndone finishes undoing and looks at the bytes.
func isUndone(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	noErr(t, undoStep(fsys, dir, nil))
	path := filepath.Join(dir, "s", "long.jsonl")
	m := storage.NewMemory()
	noErr(t, storage.MkdirAll(m, filepath.Join(storagetest.CrashDir(), "s")))
	want, err := storage.ReadFile(m, archiveHome(t, m, storagetest.CrashDir()), 1<<20)
	noErr(t, err)
	got, err := storage.ReadFile(fsys, path, 1<<20)
	noErr(t, err)
	if diff := cmp.Diff(string(want)+fmt.Sprintf(lateLine, 1, "00000003"), string(got)); diff != "" {
		t.Errorf("after undoing (-want +got):\n%s", diff)
	}
	if _, _, there, err := FindArchive(fsys, path); there || err != nil {
		t.Errorf("an archive is left: %v", err)
	}
}

func TestUnarchiveOfAGrownSessionKilledAtEachStep(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { grownHome(t, disk, dir, true) }, undoStep,
		func(t *testing.T, dir string, _ int) { isUndone(t, disk, dir) })
}

func TestUnarchiveOfAGrownSessionSurvivesACrash(t *testing.T) {
	storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { grownHome(t, fsys, dir, false) }, undoStep,
		func(t *testing.T, fsys storage.FS, dir string, _ int) { isUndone(t, fsys, dir) })
}

// packStep archives a session that has a plain archive once more, compressed.
func packStep(fsys storage.FS, dir string, _ func()) error {
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	_, err := s.Archive(context.Background(), filepath.Join(dir, "s", "long.jsonl"), ArchiveOptions{Compress: true})
	return err
}

func TestCompressingAnArchiveKilledAtEachStep(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { grownHome(t, disk, dir, false) }, packStep,
		func(t *testing.T, dir string, _ int) {
			noErr(t, packStep(disk, dir, nil))
			isUndone(t, disk, dir)
		})
}

func TestCompressedArchivingSurvivesACrash(t *testing.T) {
	storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { archiveHome(t, fsys, dir) }, packStep,
		func(t *testing.T, fsys storage.FS, dir string, _ int) { canBeUndone(t, fsys, dir) })
}

// A failing disk leaves a session whose every entry is there, and the next run
// finishes.
func TestCompressedArchivingFinishesAfterAFault(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m, dir := storage.NewMemory(), storagetest.CrashDir()
		noErr(t, storage.MkdirAll(m, dir))
		grownHome(t, m, dir, false)
		f := storagetest.NewFault(m, plan)
		_ = packStep(f, dir, nil) // it may say so
		noErr(t, packStep(m, dir, nil))
		isUndone(t, m, dir)
		return f
	})
}
