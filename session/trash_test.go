package session

import (
	"errors"
	"os"
	"testing"
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
