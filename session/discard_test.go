package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDiscardTakesOneSessionThatRestoreBringsBack(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("gone0001", "2026-03-20", "2026-03-20")
	other := w.add("gone0002", "2026-03-20", "2026-03-20")
	w.file(filepath.Join(w.sc.Dir, "gone0001", "out.txt"), "artifact", 3)
	want, err := os.ReadFile(path)
	noError(t, err)
	trash, err := w.store().Discard(t.Context(), path)
	noError(t, err)
	if _, err := os.Stat(filepath.Join(trash, "gone0001", "out.txt")); err != nil {
		t.Errorf("the artifacts: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the session is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
	back, err := w.store().Restore(t.Context(), "gone0001")
	noError(t, err)
	if got, err := os.ReadFile(back); err != nil || string(got) != string(want) || back != path {
		t.Errorf("Restore: %s holds %q, %v", back, got, err)
	}
}

func TestDiscardLeavesWhatIsUsedOrPinned(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("used0001", "2026-03-20", "2026-03-20")
	st := w.store()
	open, err := st.Open(t.Context(), path, OpenOptions{})
	noError(t, err)
	if _, err := w.store().Discard(t.Context(), path); !errors.Is(err, ErrBusy) {
		t.Errorf("Discard of an open session: %v, want ErrBusy", err)
	}
	noError(t, open.Close())
	_, err = st.Pin(t.Context(), path)
	noError(t, err)
	if _, err := st.Discard(t.Context(), path); err == nil {
		t.Error("Discard took a pinned session")
	}
	if _, err := st.Discard(t.Context(), filepath.Join(w.sc.Dir, "none.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Discard of nothing: %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the session: %v", err)
	}
	left, err := os.ReadDir(w.store().opt.Home.Trash())
	noError(t, err)
	for _, e := range left {
		if e.IsDir() {
			t.Errorf("the trash holds %s", e.Name())
		}
	}
}
