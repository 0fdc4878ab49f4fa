package session

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// play is writer.run as a step of the crash and kill harnesses.
func play(opt Options) storagetest.Step {
	return func(fsys storage.FS, dir string, ack func()) error {
		w := newWriter(fsys, dir, opt)
		n := 0
		w.acked = func(text string) {
			if n >= len(promises) || promises[n] != text {
				w.err = errors.New("out of order: " + text)
				return
			}
			n++
			ack()
		}
		return w.run()
	}
}

func TestWhatWasSyncedSurvivesACrash(t *testing.T) {
	storagetest.EachCrash(t,
		func(t *testing.T, fsys storage.FS, dir string) { newWriter(fsys, dir, Options{}).oldFile(t) },
		play(Options{Sync: true}),
		func(t *testing.T, fsys storage.FS, dir string, acked int) { afterwards(t, fsys, dir, promises[:acked]) })
}

func TestWhatWasCommittedSurvivesAKill(t *testing.T) {
	storagetest.EachStep(t,
		func(t *testing.T, dir string) { newWriter(storage.Disk(storage.Policy{}), dir, Options{}).oldFile(t) },
		play(Options{}),
		func(t *testing.T, dir string, acked int) {
			afterwards(t, storage.Disk(storage.Policy{}), dir, promises[:acked])
		})
}

// TestOutcomesAreTrueUnderEachFault fails each operation in turn and compares
// what the session said with what is in the files.
func TestOutcomesAreTrueUnderEachFault(t *testing.T) {
	for _, kind := range []storagetest.FaultPlan{{}, {Op: storagetest.OpWrite, Short: 20, Err: syscall.ENOSPC}} {
		t.Run(fmt.Sprintf("%s of %d bytes", kind.Op, kind.Short), func(t *testing.T) {
			storagetest.EachFault(t, kind, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
				m := storage.NewMemory()
				dir := storagetest.CrashDir()
				noErr(t, storage.MkdirAll(m, dir))
				newWriter(m, dir, Options{}).oldFile(t)
				f := storagetest.NewFault(m, plan)
				w := newWriter(f, dir, Options{Sync: true})
				w.fail = true
				_ = w.run()
				compareOutcomes(t, m, w)
				return f
			})
		})
	}
}

func compareOutcomes(t *testing.T, m *storage.Memory, w *writer) {
	t.Helper()
	f := look(t, m, w.sessions())
	for text, outcome := range w.outcomes {
		n := f.texts[text]
		switch {
		case outcome == jsonl.Committed && n != 1,
			outcome == jsonl.RolledBack && n != 0,
			outcome == jsonl.Deferred && n > 1,
			outcome == jsonl.Uncertain && n > 1:
			t.Errorf("%q is %v and stands %d times", text, outcome, n)
		}
	}
	var committed []string
	for text, outcome := range w.outcomes {
		if outcome == jsonl.Committed {
			committed = append(committed, text)
		}
	}
	afterwards(t, m, w.dir, committed)
}
