package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// alikeHome is a home of sessions whose ids begin alike and whose times are
// equal, missing or in the future.
func alikeHome(t *testing.T, n int) *Index {
	t.Helper()
	home, rnd := t.TempDir(), rand.New(rand.NewPCG(7, 7))
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		dir := filepath.Join(home, "sessions", fmt.Sprintf("--p%d--", i%3))
		must(t, os.MkdirAll(dir, 0o700))
		id := fmt.Sprintf("%c%c%c%d", "aAbB"[rnd.IntN(4)], "aAbB"[rnd.IntN(4)], "xX_"[rnd.IntN(3)], rnd.IntN(12))
		stamp := at.Add(time.Duration(rnd.IntN(9)) * time.Hour).Format(time.RFC3339)
		switch rnd.IntN(6) {
		case 0:
			stamp = "some day"
		case 1:
			stamp = "2199-01-01T00:00:00Z"
		}
		text := fmt.Sprintf(`{"type":"session","version":5,"id":%q,"timestamp":%q,"cwd":"/p"}`+"\n", id, stamp)
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		mtime := at.Add(time.Duration(rnd.IntN(9)) * time.Hour)
		must(t, os.Chtimes(path, mtime, mtime))
	}
	x, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{})
	must(t, err)
	t.Cleanup(func() { must(t, x.Close()) })
	_, err = x.Refresh(t.Context())
	must(t, err)
	return x
}

func pathsOf(t *testing.T, x *Index, f Filter) ([]string, int) {
	t.Helper()
	rows, total, err := x.Sessions(t.Context(), f)
	must(t, err)
	var paths []string
	for row, err := range rows {
		must(t, err)
		paths = append(paths, row.Path)
	}
	return paths, total
}

func TestPagesAreTheWholeListCut(t *testing.T) {
	x := alikeHome(t, 90)
	for _, until := range []time.Time{{}, time.Date(2026, 3, 1, 5, 0, 0, 0, time.UTC)} {
		whole, all := pathsOf(t, x, Filter{Until: until})
		for _, limit := range []int{1, 7, 20, 200} {
			for offset := 0; offset < all+3; offset += 6 {
				page, total := pathsOf(t, x, Filter{Until: until, Limit: limit, Offset: offset})
				want := whole[min(offset, all):min(offset+limit, all)]
				if diff := cmp.Diff(append([]string{}, want...), append([]string{}, page...)); diff != "" || total != all {
					t.Fatalf("limit %d, offset %d: total %d, want %d (-want +got):\n%s", limit, offset, total, all, diff)
				}
			}
		}
	}
}

func TestNearIDsTellWhatAllIDsTell(t *testing.T) {
	x := alikeHome(t, 90)
	all, err := x.IDs(t.Context())
	must(t, err)
	// longest is what id shares with another one, and how often id is there.
	longest := func(id string, ids []string) (shares, same int) {
		low := strings.ToLower(id)
		for _, other := range ids {
			other := strings.ToLower(other)
			n := 0
			for n < min(len(low), len(other)) && low[n] == other[n] {
				n++
			}
			if low == other {
				same++
				continue
			}
			shares = max(shares, n)
		}
		return shares, same
	}
	for at := range all {
		asked := all[at:min(at+3, len(all))]
		near, err := x.NearIDs(t.Context(), asked)
		must(t, err)
		for _, id := range asked {
			share, same := longest(id, near)
			wantShare, wantSame := longest(id, all)
			if share != wantShare || (same > 1) != (wantSame > 1) || same == 0 {
				t.Errorf("%s among %q: shares %d, is there %d times; want %d, %d", id, near, share, same, wantShare, wantSame)
			}
		}
	}
	odd, err := x.NearIDs(t.Context(), []string{"é"})
	if err != nil || len(odd) != len(all) {
		t.Errorf("NearIDs of what SQLite can't fold: %d ids (%v), want all %d", len(odd), err, len(all))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
