package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

func TestDiscardedSessionsCanBeRestored(t *testing.T) {
	w := newPruneWorld(t)
	path := w.add("a", "2026-03-20", "2026-03-20")
	s := w.store()
	session, err := s.Open(t.Context(), path, OpenOptions{})
	noError(t, err)
	if _, err := w.store().Discard(t.Context(), path); !errors.Is(err, ErrBusy) {
		t.Errorf("Discard of an open session = %v, want ErrBusy", err)
	}
	noError(t, session.Close())
	_, err = s.Pin(t.Context(), path)
	noError(t, err)
	if _, err := s.Discard(t.Context(), path); !errors.Is(err, ErrPinned) {
		t.Errorf("Discard of a pinned session = %v, want ErrPinned", err)
	}
	_, err = s.Unpin(t.Context(), path)
	noError(t, err)
	trash, err := s.Discard(t.Context(), path)
	noError(t, err)
	if _, err := os.Stat(trash + "/a.jsonl"); err != nil {
		t.Error(err)
	}
	if _, err := s.Discard(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Discard again = %v, want fs.ErrNotExist", err)
	}
	_, err = s.Restore(t.Context(), "a")
	noError(t, err)
}

// The trash of a home that was renamed leads back into that home.
func TestRestoreInAHomeThatWasRenamed(t *testing.T) {
	base := t.TempDir()
	open := func(dir string) *Store {
		h, err := scope.FindHome(dir, func(string) string { return "" }, "", func(string) bool { return false })
		noError(t, err)
		return NewStore(storage.Disk(storage.Policy{}), Options{Home: h})
	}
	before, after := filepath.Join(base, "before"), filepath.Join(base, "after")
	s, err := open(before).Create(t.Context(), base, CreateOptions{})
	noError(t, err)
	path := s.Path()
	noError(t, errors.Join(s.EnsureOnDisk(t.Context()), s.Close()))
	_, err = open(before).Discard(t.Context(), path)
	noError(t, err)
	noError(t, os.Rename(before, after))
	got, err := open(after).Restore(t.Context(), s.ID())
	noError(t, err)
	rel, err := filepath.Rel(before, path)
	noError(t, err)
	if want := filepath.Join(after, rel); got != want {
		t.Errorf("restored to %q, want %q", got, want)
	}
}
