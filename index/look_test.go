package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// bigSession is a session of n messages, longer than what is read of a file's
// ends if n is above 100.
func bigSession(t *testing.T, home, id string, n int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":5,"id":"%s","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n", id)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"assistant","content":"%s"}}`+"\n",
			i, strings.Repeat("x", 1000))
	}
	put(t, home, "scope/"+id+".jsonl", b.String())
}

func TestWithoutADatabaseReadingIsBoundedAndSaid(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	for id, n := range map[string]int{"a": 200, "b": 300, "c": 10} {
		bigSession(t, home, id, n)
	}
	for _, tt := range []struct {
		left   int64
		filter Filter
		want   string // "~" marks numbers of beginnings
		noted  bool
	}{
		{left: wholeBytes, filter: Filter{Sort: SortMessages}, want: "b 300, a 200, c 10"},
		{left: 400_000, filter: Filter{Sort: SortSize}, want: "b 300, a ~, c 10"}, // the first that are shown
		{left: 400_000, filter: Filter{Sort: SortSize, Limit: 1, Offset: 1}, want: "a 200"},
		{left: 0, filter: Filter{Sort: SortSize}, want: "b ~, a ~, c 10"},
		{left: 0, filter: Filter{Sort: SortMessages, Limit: 2}, want: "a ~, b ~", noted: true},
	} {
		t.Run(fmt.Sprintf("%d %+v", tt.left, tt.filter), func(t *testing.T) {
			x := openAt(t, home, Options{})
			x.giveUp(storage.ErrLocked)
			x.looks.reset()
			x.looks.left = tt.left
			for range 2 {
				rows, _, err := x.Sessions(t.Context(), tt.filter)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for row := range rows {
					said := fmt.Sprintf("%s %d", row.ID, row.Messages)
					if row.Estimated {
						said = row.ID + " ~"
					}
					got = append(got, said)
				}
				if strings.Join(got, ", ") != tt.want {
					t.Errorf("Sessions = %q, want %q", got, tt.want)
				}
			}
			if noted := strings.Contains(strings.Join(x.Notes(), " "), "ordered by the messages at their beginnings"); noted != tt.noted {
				t.Errorf("Notes = %q", x.Notes())
			}
		})
	}
}

func TestDamagedHistoryIsSaidWhereItIsLeftOut(t *testing.T) {
	home := simpleHome(t, 2)
	typed(t, home, "typedword")
	path := filepath.Join(home, "history.db")
	for _, spoil := range []func() error{
		func() error {
			return os.WriteFile(path, []byte(strings.Repeat("garbage ", 1000)), 0o600)
		},
		func() error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
	} {
		for _, side := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + side)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		x := openAt(t, home, Options{})
		if rep := refreshed(t, x); rep.History == "" {
			t.Errorf("Refresh = %+v, want why history is left out", rep)
		}
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0001")})
		if err != nil || len(found.Hits) != 1 || found.History == "" {
			t.Errorf("Search = %+v, %v, want one hit and why history is left out", found, err)
		}
		if found, err := x.Search(t.Context(), SearchRequest{Role: RoleAny}); err != nil || found.History != "" {
			t.Errorf("Search of all roles = %q, %v: no history was asked for", found.History, err)
		}
		for _, note := range x.Notes() {
			if strings.Contains(note, "SQL") || strings.Contains(note, path) {
				t.Errorf("note %q", note)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
