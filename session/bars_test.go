package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// TestSyncsOfAppends counts what reaches the disk for good: with Sync one sync
// a batch, one for each new block of event ids, and the directory's only when
// the file is new; without it those of the blocks alone.
func TestSyncsOfAppends(t *testing.T) {
	const batches = 5000
	for _, sync := range []bool{true, false} {
		t.Run(fmt.Sprintf("sync %v", sync), func(t *testing.T) {
			dir := storagetest.CrashDir()
			m := storage.NewMemory()
			noErr(t, storage.MkdirAll(m, dir))
			type counts struct{ Transcript, Directory, Sequence, Others int }
			var got counts
			var w *writer
			hook := &storagetest.Hook{FS: m, Before: func(op storagetest.Op, name string) error {
				switch {
				case op == storagetest.OpSyncDir && name == w.sessions():
					got.Directory++
				case op == storagetest.OpSync && filepath.Dir(name) == w.sessions():
					got.Transcript++
				case op == storagetest.OpSync && name == w.opt.Home.EventSequence():
					got.Sequence++
				case op == storagetest.OpSync:
					got.Others++
				}
				return nil
			}}
			w = newWriter(hook, dir, Options{Sync: sync})
			s, err := NewStore(hook, w.opt).Create(t.Context(), dir, CreateOptions{Dir: w.sessions()})
			noErr(t, err)
			w.append(s, "user", "question")
			w.append(s, "assistant", "answer")
			noErr(t, w.err)
			if diff := cmp.Diff(counts{Transcript: 1, Directory: 1, Sequence: 1}, got); diff != "" {
				t.Errorf("syncs of a new file (-want +got):\n%s", diff)
			}
			got = counts{}
			for i := range batches {
				w.append(s, "user", fmt.Sprintf("a %d", i), fmt.Sprintf("b %d", i), fmt.Sprintf("c %d", i))
			}
			noErr(t, w.err)
			var want counts
			left, block := eventBlock-2, eventBlock
			for range batches {
				if left < 3 { // what is left of a block is given up
					block = min(2*block, maxBlock)
					left = block
					want.Sequence++
				}
				left -= 3
			}
			if sync {
				want.Transcript = batches
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("syncs of %d batches (-want +got):\n%s", batches, diff)
			}
			if most := 3*batches/eventBlock + 1; got.Sequence > most {
				t.Errorf("%d syncs of the sequence, want one for %d ids at most: %d", got.Sequence, eventBlock, most)
			}
			noErr(t, s.Close())
		})
	}
}

// TestAppendDoesNotDependOnTheLengthOfTheFile: opening for appending only, and
// appending, are the same operations on a file of 100 KB and on one of 1 GB.
func TestAppendDoesNotDependOnTheLengthOfTheFile(t *testing.T) {
	const head = `{"type":"session","version":5,"id":"long","timestamp":"2026-02-10T08:00:00.000Z","cwd":"/w"}` + "\n"
	const entry = `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"assistant","content":"ok"}}` + "\n"
	dir := t.TempDir()
	play := func(length int64) (ops []storagetest.Op) {
		path := filepath.Join(dir, "s", fmt.Sprintf("%d.jsonl", length))
		noErr(t, os.MkdirAll(filepath.Dir(path), 0o700))
		noErr(t, os.WriteFile(path, []byte(head), 0o600))
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		noErr(t, err)
		_, err = f.WriteAt([]byte("\n"+entry), length-int64(len(entry))-1) // behind a hole: one line that is no record
		noErr(t, err)
		noErr(t, f.Close())
		hook := &storagetest.Hook{FS: storage.Disk(storage.Policy{}), Before: func(op storagetest.Op, name string) error {
			if filepath.Base(name) != filepath.Base(path) {
				return nil
			}
			if op == storagetest.OpStat {
				op = storagetest.OpLstat // a look at the path and one at the open file take turns with time
			}
			ops = append(ops, op)
			return nil
		}}
		s, err := NewStore(hook, newWriter(hook, dir, Options{}).opt).Open(t.Context(), path, OpenOptions{AppendOnly: true})
		noErr(t, err)
		for i := range 3 {
			_, err := s.AppendMessage(t.Context(), message("user", fmt.Sprint(i)))
			noErr(t, err)
		}
		done := slices.Clone(ops)
		noErr(t, s.Close())
		return done
	}
	play(1 << 10) // the first in a home looks for the event ids in use
	short, long := play(100<<10), play(1<<30)
	if diff := cmp.Diff(short, long); diff != "" {
		t.Errorf("operations on a file of 100 KB and on one of 1 GB (-short +long):\n%s", diff)
	}
	if last := short[len(short)-3:]; !slices.Equal(last, []storagetest.Op{storagetest.OpWrite, storagetest.OpLstat, storagetest.OpWrite}) {
		t.Errorf("the last append ends in %v, want one look and one write", last)
	}
}

// TestFlushAfterAnotherSessionRewroteTheFile: what a session appended a moment
// ago is in the file that another session of its store made since.
func TestFlushAfterAnotherSessionRewroteTheFile(t *testing.T) {
	b := newBench(t, Options{})
	path := b.file("a.jsonl", sessionText("a", b.dir))
	one, other := b.open(path), b.open(path)
	for i := range 50 {
		b.say(one, "user", fmt.Sprint(i))
	}
	noErr(t, other.RewriteEntries(t.Context(), nil))
	noErr(t, one.Flush(t.Context()))
	b.say(one, "user", "later")
	noErr(t, one.Close())
	noErr(t, other.Close())
	if f := look(t, b.fsys, b.dir); len(f.texts) != 2+51 {
		t.Errorf("%d texts, want 53", len(f.texts))
	}
}

// TestAFileThatIsMovedAwayIsNoticedAtTheLatestWhenItIsClosed: appends that
// follow one another at once trust the last look at the path.
func TestAFileThatIsMovedAwayIsNoticedAtTheLatestWhenItIsClosed(t *testing.T) {
	for range 20 {
		b := newBench(t, Options{})
		path := b.file("a.jsonl", sessionText("a", b.dir))
		s := b.open(path)
		b.say(s, "user", "one")
		b.say(s, "user", "two")
		noErr(t, os.Rename(path, path+".away"))
		_, err := s.AppendMessage(t.Context(), message("user", "three"))
		if err == nil {
			if err = s.Close(); !strings.Contains(b.read(path+".away"), "three") {
				t.Error("an entry is lost")
			}
		}
		if !errors.Is(err, jsonl.ErrReplaced) {
			t.Errorf("append or Close = %v, want ErrReplaced", err)
		}
	}
}

// TestAppendingOnlySurvivesAKill kills a writer that opened for appending only
// before each operation: each entry that was committed is there, once.
func TestAppendingOnlySurvivesAKill(t *testing.T) {
	texts := []string{"one", "two", "three", "four"}
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			path := writeSession(t, dir, "one.jsonl")
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			noErr(t, err)
			_, err = f.WriteString(`{"type":"custom","customType":"torn","id":"to`)
			noErr(t, err)
			noErr(t, f.Close())
		},
		func(fsys storage.FS, dir string, ack func()) error {
			w := newWriter(fsys, dir, Options{})
			w.acked = func(string) { ack() }
			s, err := NewStore(fsys, w.opt).Open(context.Background(), filepath.Join(w.sessions(), "one.jsonl"), OpenOptions{AppendOnly: true})
			if err != nil {
				return err
			}
			w.append(s, "user", texts[:1]...)
			w.append(s, "assistant", texts[1:3]...)
			w.append(s, "user", texts[3:]...)
			w.note(s.Close())
			return w.err
		},
		func(t *testing.T, dir string, acked int) {
			afterwards(t, storage.Disk(storage.Policy{}), dir, texts[:acked])
		})
}
