package history

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
	"github.com/google/go-cmp/cmp"
)

// addThree opens a history on fsys, adds three prompts, says when each is in
// the journal, and closes. accepted is how many Add took.
func addThree(t testing.TB, fsys storage.FS, dir string, ack func()) (accepted int, err error) {
	s, err := Open(t.Context(), fsys, filepath.Join(dir, "history.db"), Options{Journal: true})
	if err != nil {
		return 0, err
	}
	for i := range 3 {
		if err := s.Add(fmt.Sprint("prompt ", i), nil); err != nil {
			break
		}
		accepted++
		s.journal.append(&s.queue)
		if s.journal.failure() == nil {
			ack()
		}
	}
	return accepted, s.Close()
}

// failure is what the last write met.
func (j *journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// isThere fails the test unless the first n prompts are there, once each.
func isThere(t *testing.T, dir string, n int) {
	t.Helper()
	s := open(t, dir, Options{})
	var want []string
	for i := range max(n, len(texts(t, s))) {
		want = append(want, fmt.Sprint("prompt ", i))
	}
	if diff := cmp.Diff(want, texts(t, s)); diff != "" {
		t.Errorf("at least %d (-want +got):\n%s", n, diff)
	}
	if left := journals(t, dir); len(left) != 0 {
		t.Errorf("journals left: %q", left)
	}
	inStep(t, s)
}

func TestWhatWasAcceptedSurvivesEachFault(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		dir := t.TempDir()
		fsys := storagetest.NewFault(realDisk(), plan)
		accepted, err := addThree(t, fsys, dir, func() {})
		if accepted == 0 && err == nil {
			t.Error("Open() failed without an error")
		}
		isThere(t, dir, accepted)
		return fsys
	})
}

func TestWhatIsInTheJournalSurvivesEachKill(t *testing.T) {
	storagetest.EachStep(t, nil, func(fsys storage.FS, dir string, ack func()) error {
		_, err := addThree(t, fsys, dir, ack)
		return err
	}, func(t *testing.T, dir string, acked int) { isThere(t, dir, acked) })
}
