package index

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/storage"
)

func TestWhatWasDeletedIsHiddenAtOnceAndAfterRefresh(t *testing.T) {
	home := simpleHome(t, 3)
	path := filepath.Join(home, "history.db")
	change := func(fn func(h *history.Store) error) {
		t.Helper()
		h, err := history.Open(t.Context(), storage.Disk(storage.Policy{}), path, history.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(fn(h), h.Flush(t.Context()), h.Close()); err != nil {
			t.Fatal(err)
		}
	}
	change(func(h *history.Store) error { return h.Add("needle0001", nil) })
	x := openAt(t, home, Options{})
	hits := func() int {
		t.Helper()
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0001")})
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Hits)
	}
	refresh(t, x)
	refresh(t, x)
	if n := hits(); n != 1 {
		t.Fatalf("before the deletion: %d hits, want 1", n)
	}
	change(func(h *history.Store) error { _, err := h.DeleteText(t.Context(), "needle0001"); return err })
	for _, when := range []string{"at once", "after a refresh", "after another"} {
		if when == "at once" {
			// The row itself is gone with the next refresh only; the session's is hidden.
			if n := hits(); n > 1 {
				t.Errorf("%s: %d hits", when, n)
			}
			continue
		}
		refresh(t, x)
		if n := hits(); n != 0 {
			t.Errorf("%s: %d hits, want none", when, n)
		}
	}
	if _, err := x.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := hits(); n != 0 {
		t.Errorf("after a rebuild: %d hits, want none", n)
	}
}
