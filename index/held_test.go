package index

import (
	"fmt"
	"testing"
)

func TestWhatSearchesHoldIsDroppedWhenTheDatabaseIsWritten(t *testing.T) {
	home := simpleHome(t, 3)
	x, other := openAt(t, home, Options{}), openAt(t, home, Options{})
	count := func(x *Index, text string) int {
		t.Helper()
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery(text)})
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Hits)
	}
	refresh(t, x)
	for i := range 3 {
		fresh := fmt.Sprintf("brandnew%d", i)
		if n := count(x, fresh); n != 0 {
			t.Fatalf("search %s before it was typed: %d hits", fresh, n)
		}
		put(t, home, fmt.Sprintf("scope0/new%d.jsonl", i), fmt.Sprintf(`{"type":"session","version":5,"id":"new%d","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"1","parentId":null,"timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"%s"}}
`, i, fresh))
		switch i {
		case 0:
			refresh(t, x)
		case 1: // another process
			refresh(t, other)
		case 2: // a database that takes the place of this one
			spoil(t, home)
			again := openAt(t, home, Options{})
			if _, err := again.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{fresh, "randne", "needle0001"} {
			want := 1
			if text == "randne" {
				want = i + 1
			}
			if n := count(x, text); n != want {
				t.Errorf("round %d: search %s: %d hits, want %d", i, text, n, want)
			}
		}
	}
}
