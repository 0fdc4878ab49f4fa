package index

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestOneIDInEveryEntryIsReadOnce(t *testing.T) {
	const n = 2000
	var b strings.Builder
	b.WriteString(`{"type":"session","version":5,"id":"s1","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}` + "\n")
	for i := range n {
		line := fmt.Sprintf(`{"type":"message","id":"same","parentId":"same","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"x%04d"}}`, i)
		b.WriteString(line + "\n")
		if i == n/2 {
			b.WriteString(line + "\n") // repeats the one before byte for byte
		}
	}
	home := t.TempDir()
	put(t, home, "p/s1.jsonl", b.String())
	reads := 0
	fsys := &storagetest.Hook{FS: storage.Disk(storage.Policy{}), Before: func(op storagetest.Op, name string) error {
		if op == storagetest.OpRead && strings.HasSuffix(name, ".jsonl") {
			reads++
		}
		return nil
	}}
	x, err := Open(t.Context(), fsys, scope.HomeAt(home), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, _, err := x.Sessions(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range rows {
		if err != nil || row.Entries != n {
			t.Errorf("%d entries (%v), want %d", row.Entries, err, n)
		}
	}
	if reads > 100 {
		t.Errorf("%d reads of a file of %d KB", reads, b.Len()>>10)
	}
}

// A session that is removed while files are searched is no file left out.
func TestSearchPassesOverAFileThatWentMeanwhile(t *testing.T) {
	home := t.TempDir()
	gone := put(t, home, "p/s1.jsonl", `{"type":"session","version":5,"id":"s1","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}`+"\n")
	put(t, home, "p/s2.jsonl", `{"type":"session","version":5,"id":"s2","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}`+"\n")
	x := openAt(t, home, Options{})
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("nothing"), Role: RoleAny})
	if err != nil || len(found.Failed) > 0 {
		t.Errorf("Search: %v, failed %+v; want none", err, found.Failed)
	}
}

// A file that comes after the walk, and that another process has indexed by
// then, keeps its rows.
func TestRefreshByAnOlderWalkKeepsWhatCameSince(t *testing.T) {
	home := t.TempDir()
	text := func(id string) string {
		return `{"type":"session","version":5,"id":"` + id + `","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}` + "\n"
	}
	put(t, home, "p/s1.jsonl", text("s1"))
	other := openAt(t, home, Options{})
	if _, err := other.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	walked, came := false, false
	fsys := &storagetest.Hook{FS: storage.Disk(storage.Policy{}), Before: func(op storagetest.Op, name string) error {
		// The walk is over once something else is looked at.
		if op == storagetest.OpReadDir && strings.HasSuffix(name, "p") {
			walked = true
		} else if walked && !came {
			came = true
			put(t, home, "p/s2.jsonl", text("s2"))
			if _, err := other.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		}
		return nil
	}}
	x, err := Open(t.Context(), fsys, scope.HomeAt(home), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	rep, err := x.Refresh(t.Context())
	if err != nil || !came || rep.Removed > 0 {
		t.Errorf("Refresh = %+v, %v; a file came: %v; want none removed", rep, err, came)
	}
	if _, err := other.Find(t.Context(), "s2"); err != nil {
		t.Errorf("the other index: %v", err)
	}
}
