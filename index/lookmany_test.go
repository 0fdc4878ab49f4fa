package index

import (
	"fmt"
	"strings"
	"testing"
)

// Of very many files less is read, and of those whose header or first prompt
// lies further on as much as of a few.
func TestManyFilesAreListedByTheirEnds(t *testing.T) {
	home, long := t.TempDir(), strings.Repeat("x", manyPrefixBytes+100)
	put := func(name, text string) { put(t, home, "scope/"+name+".jsonl", text) }
	filler := fmt.Sprintf(`{"type":"custom","id":"00000009","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"c","data":"%s"}`+"\n",
		strings.Repeat("y", prefixBytes))
	said := `{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"what"}}` + "\n"
	for i := range manyFiles + 1 {
		head := fmt.Sprintf(`{"type":"session","version":5,"id":"s%04d","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n", i)
		put(fmt.Sprintf("s%04d", i), head+said+filler)
	}
	put("wide", fmt.Sprintf(`{"type":"session","version":5,"id":"wide","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"%s"}`, long)+"\n"+said+filler)
	put("late", `{"type":"session","version":5,"id":"late","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n"+
		`{"type":"custom","id":"00000008","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"c","data":"`+long+`"}`+"\n"+said+filler)
	x := openAt(t, home, Options{})
	w, err := x.walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.setPending(&pending{walk: w, all: true})
	x.looks.reset()
	x.looks.left = 0
	rows, total, err := x.Sessions(t.Context(), Filter{})
	if err == nil {
		for row := range rows {
			if row.FirstPrompt != "what" || !row.Estimated {
				t.Fatalf("%s: first prompt %q, estimated %v", row.ID, row.FirstPrompt, row.Estimated)
			}
		}
	}
	if err != nil || total != manyFiles+3 {
		t.Errorf("%d sessions, %v, want %d", total, err, manyFiles+3)
	}
}
