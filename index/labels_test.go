package index

import (
	"fmt"
	"os"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// told are labels with the entries that bear them, in few words.
func told(t *testing.T, x *Index, f LabelFilter) []string {
	t.Helper()
	list, _, err := x.AllLabels(t.Context(), f)
	if err != nil {
		t.Fatalf("AllLabels(%+v): %v", f, err)
	}
	var out []string
	for _, l := range list {
		e, err := x.LabelledEntry(t.Context(), l)
		if err != nil {
			t.Fatalf("LabelledEntry(%s): %v", l.Entry, err)
		}
		id, _ := e.ID()
		out = append(out, fmt.Sprint(l.Row.ID, " ", l.Label, " ", id, " ", e.Type(), " ", l.Given.Format(time.TimeOnly)))
	}
	return out
}

func labelLine(id, target, label, at string) string {
	return fmt.Sprintf(`{"type":"label","id":"%s","parentId":null,"timestamp":"2026-01-03T%sZ","targetId":"%s","label":"%s"}`+"\n", id, at, target, label)
}

func TestLabelsAreTheSameFromIndexAndFiles(t *testing.T) {
	home := t.TempDir()
	put(t, home, "s/a.jsonl", longText("aaaa0001")+labelLine("l1", "u01", "one", "01:00:00")+labelLine("l2", "gone", "lost", "02:00:00"))
	put(t, home, "s/b.jsonl", longText("bbbb0001")+labelLine("l1", "u02", "old", "03:00:00")+labelLine("l2", "u02", "two", "04:00:00"))
	want := []string{"bbbb0001 two u02 message 04:00:00", "aaaa0001 one u01 message 01:00:00"}
	x := openAt(t, home, Options{})
	refresh(t, x)
	if diff := gocmp.Diff(want, told(t, x, LabelFilter{})); diff != "" {
		t.Errorf("AllLabels from the index (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(want[:1], told(t, x, LabelFilter{Limit: 1})); diff != "" {
		t.Errorf("AllLabels, one (-want +got):\n%s", diff)
	}
	inMemory, err := OpenDir(t.Context(), storage.Disk(storage.Policy{}), home+"/sessions/s", Options{Project: func(s string) string { return s }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inMemory.Close() }()
	if _, err := inMemory.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, told(t, inMemory, LabelFilter{})); diff != "" {
		t.Errorf("AllLabels of a directory (-want +got):\n%s", diff)
	}
	x.setPending(&pending{all: true, walk: walked(t, x)})
	if diff := gocmp.Diff(want, told(t, x, LabelFilter{})); diff != "" {
		t.Errorf("AllLabels from the files (-want +got):\n%s", diff)
	}
}

func walked(t *testing.T, x *Index) *walk {
	t.Helper()
	w, err := x.walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLabelsOfArchivedEntriesStay(t *testing.T) {
	home := t.TempDir()
	text := longText("long0001") +
		`{"type":"label","id":"l1","parentId":"c1","timestamp":"2026-01-03T01:00:00.000Z","targetId":"u01","label":"one"}` + "\n"
	path := put(t, home, "s/long.jsonl", text)
	x := openAt(t, home, Options{})
	refresh(t, x)
	before := told(t, x, LabelFilter{})
	in := put(t, home, "../elsewhere/long.jsonl", text) // other directories of the home are not archived
	s := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: scope.HomeAt(home)})
	if a, err := s.Archive(t.Context(), in, session.ArchiveOptions{}); err != nil || a.Moved < 70 {
		t.Fatal(a, err)
	}
	for from, to := range map[string]string{in: path, session.ArchivePath(in): session.ArchivePath(path)} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	refresh(t, x)
	if diff := gocmp.Diff(before, told(t, x, LabelFilter{})); diff != "" || len(before) != 1 {
		t.Errorf("AllLabels after archiving %v (-before +after):\n%s", before, diff)
	}
}

func TestPinsAreListedLastPinnedFirst(t *testing.T) {
	home := t.TempDir()
	put(t, home, "s/a.jsonl", longText("aaaa0001"))
	put(t, home, "s/b.jsonl", longText("bbbb0001"))
	put(t, home, "s/c.jsonl", "no session\n")
	put(t, home, "s/d.jsonl", longText("dddd0001"))
	put(t, home, "s/a.pin.json", `{"schema":1,"session":"aaaa0001","pinned":"2026-01-01T00:00:00.000Z"}`)
	put(t, home, "s/b.pin.json", `{"schema":1,"session":"bbbb0001","pinned":"2026-01-02T00:00:00.000Z"}`)
	put(t, home, "s/c.pin.json", "garbage")
	x := openAt(t, home, Options{})
	refresh(t, x)
	list, total, err := x.Pins(t.Context(), PinFilter{Limit: 2})
	if err != nil || total != 3 || len(list) != 2 || list[0].Row.ID != "bbbb0001" || list[1].Row.ID != "aaaa0001" {
		t.Errorf("Pins, two: %v, %d, %v, want b and a of 3", list, total, err)
	}
	list, _, err = x.Pins(t.Context(), PinFilter{Since: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)})
	if err != nil || len(list) != 1 {
		t.Errorf("Pins since the second: %v, %v, want b", list, err)
	}
}
