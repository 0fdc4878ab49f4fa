package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// manyAnswers are sessions of more answers than fit a batch, one of which is a
// copy of another and one of which has a record of a request.
func manyAnswers(t testing.TB, home string) (paths []string) {
	t.Helper()
	for _, s := range []struct {
		id     string
		from   int
		record bool
	}{{"a", 0, false}, {"b", 0, false}, {"c", 700, true}, {"d", 5000, false}} {
		var b strings.Builder
		fmt.Fprintf(&b, `{"type":"session","version":5,"id":"many000%s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n", s.id)
		for i := s.from; i < s.from+3*batchFacts/2; i++ {
			at := time.Date(2026, 2, 1, 0, 20*i, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
			fmt.Fprintf(&b, `{"type":"message","id":"a%d","parentId":null,"timestamp":"%s","message":{"role":"assistant","content":[],"provider":"p","model":"m","usage":{"input":%d,"output":1,"cost":{"total":0.1}}}}`+"\n", i, at, i)
		}
		if s.record {
			b.WriteString(`{"type":"custom","id":"r1","parentId":null,"timestamp":"2026-02-20T00:00:00.000Z","customType":"gjc-index/usage","data":{"v":1,"request":"q","state":"partial","provider":"p","model":"m","input":3,"output":1,"cacheRead":0,"cacheWrite":0}}` + "\n")
		}
		paths = append(paths, put(t, home, "s/"+s.id+".jsonl", b.String()))
	}
	return paths
}

func TestUsageOfManyAnswersEqualsARecount(t *testing.T) {
	home := t.TempDir()
	paths := manyAnswers(t, home)
	x := openAt(t, home, Options{})
	refresh(t, x)
	rows, err := x.Usage(t.Context(), UsageFilter{By: UsageDay})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]checkpoint.Sum{}
	for _, r := range rows {
		got[r.Key] = r.Sum
	}
	if diff := gocmp.Diff(recount(t, paths, time.UTC), got); diff != "" {
		t.Errorf("usage by day (-recount +index):\n%s", diff)
	}
}

func TestPacksReadInHalvesAreThoseReadAtOnce(t *testing.T) {
	home := t.TempDir()
	manyAnswers(t, home)
	x := openAt(t, home, Options{})
	refresh(t, x)
	op, err := x.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer op.done()
	halves, err := x.storedPacks(t.Context(), op.db)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readPacks(t.Context(), op.db, 0, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.packs) != 4 {
		t.Errorf("%d packs, want 4", len(all.packs))
	}
	for _, packs := range [][]sessionPack{halves, all.packs} {
		slices.SortFunc(packs, func(a, b sessionPack) int { return a.older(&b) })
	}
	if diff := gocmp.Diff(all.packs, halves, gocmp.AllowUnexported(sessionPack{}, millis{})); diff != "" {
		t.Errorf("packs (-at once +in halves):\n%s", diff)
	}
}
