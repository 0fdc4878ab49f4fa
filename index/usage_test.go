package index

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// recount sums up the usage of all files anew, without the index: the slow way,
// by the folds over entries.
func recount(t *testing.T, paths []string, zone *time.Location) map[string]checkpoint.Sum {
	t.Helper()
	var all []*jsonl.Transcript
	for _, path := range paths {
		tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
		if err != nil {
			if !errors.Is(err, jsonl.ErrNotTranscript) && !errors.Is(err, jsonl.ErrTooNew) && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			continue
		}
		tr.Upgrade(nil)
		all = append(all, tr)
	}
	age := func(tr *jsonl.Transcript) float64 {
		if ms, ok := jsonl.ParseDate(tr.Header.Timestamp()); ok {
			return ms
		}
		return 1e18
	}
	slices.SortStableFunc(all, func(a, b *jsonl.Transcript) int {
		return cmp.Or(cmp.Compare(age(a), age(b)), cmp.Compare(a.Header.ID(), b.Header.ID()))
	})
	seen := map[checkpoint.Identity]bool{}
	days := map[string]checkpoint.Sum{}
	for _, tr := range all {
		var fresh []*jsonl.Entry
		for _, e := range tr.Entries() {
			var f jsonl.Fields
			f.Of(nil, jsonl.ObjectValue(e.Value()))
			if r, ok := checkpoint.ResponseOf(&f); ok {
				id, _ := e.ID()
				key := checkpoint.IdentityOf(id, e.Timestamp(), r)
				if seen[key] {
					continue
				}
				seen[key] = true
			}
			fresh = append(fresh, e)
		}
		u := checkpoint.FoldUsage(fresh, checkpoint.UsageOptions{Zone: zone})
		for day, sum := range u.By(func(g checkpoint.UsageGroup) string { return g.Day }) {
			have := days[day]
			have.Add(sum)
			days[day] = have
		}
	}
	return days
}

func TestUsageEqualsARecountOfTheFiles(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			home := t.TempDir()
			x := openAt(t, home, Options{})
			w := newWorld(home, 100+seed)
			// The recount knows no forks of records.
			w.plain = seed%2 == 0
			for range 6 {
				for range 8 {
					w.step(t)
				}
				if w.plain { // a copy, as a fork of the original program makes one
					f := w.file()
					data, err := os.ReadFile(f.path)
					if err == nil {
						w.n++
						path := filepath.Join(filepath.Dir(f.path), fmt.Sprintf("copy%d.jsonl", w.n))
						if err := os.WriteFile(path, data, 0o600); err != nil {
							t.Fatal(err)
						}
					}
				}
				if _, err := x.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.edited, w.grown = map[string]bool{}, map[string]bool{}
			}
			var paths []string
			rows, _, err := x.Sessions(t.Context(), Filter{Children: true})
			if err != nil {
				t.Fatal(err)
			}
			for row := range rows {
				paths = append(paths, row.Path)
			}
			got := map[string]checkpoint.Sum{}
			sums, err := x.Usage(t.Context(), UsageFilter{By: UsageDay, Zone: berlin})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range sums {
				got[r.Key] = r.Sum
			}
			if diff := gocmp.Diff(recount(t, paths, berlin), got); diff != "" {
				t.Errorf("usage by day (-recount +index):\n%s", diff)
			}
		})
	}
}

func packFacts(facts []usageFact) []byte {
	l := newFactList()
	for i := range facts {
		l.add(&facts[i])
	}
	return l.pack()
}

func unpack(pack []byte) ([]usageFact, error) {
	var all []usageFact
	err := eachFact(pack, sameText, func(u *usageFact) { all = append(all, *u) })
	return all, err
}

func TestUsagePacksReadAsTheyWereWritten(t *testing.T) {
	want := []usageFact{
		{kind: factAnswer, seq: 3, time: millis{5, true}, identity: 1 << 63, name: 7, known: true, whole: true, provider: "p", model: "m", tokens: [5]float64{1, 2, 3, 4, 5}},
		{kind: factAnswer, seq: 3, identity: 9, provider: "p", model: "n"},
		{kind: factRecord, seq: 900, identity: 2, request: 8, known: true, provider: "", model: "m", tokens: [5]float64{0.5, 2, 3, 4, 1e300}, cost: 0.1, priced: true},
		{kind: factTotal, seq: 901, time: millis{-5, true}, identity: 3, known: true, whole: true, counts: [3]int64{1, 2, 3}},
		{kind: factOpen, seq: 902, identity: 4, name: 1},
	}
	pack := packFacts(want)
	got, err := unpack(pack)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(usageFact{}, millis{})); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if !packTold(pack) || packTold(packFacts(want[:1])) {
		t.Error("packTold is wrong")
	}
	for n := range pack {
		if _, err := unpack(pack[:n]); err == nil && n > 0 {
			t.Errorf("the first %d bytes can be read", n)
		}
	}
}

func BenchmarkUsageByDay(b *testing.B) {
	home := b.TempDir()
	for i := range 10000 {
		text := fmt.Appendf(nil, `{"type":"session","version":5,"id":"s%d","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/%d"}`+"\n", i, i%50)
		for k := range 30 {
			text = fmt.Appendf(text, `{"type":"message","id":"%06d%02d","parentId":null,"timestamp":"2026-%02d-%02dT%02d:%02d:00.000Z","message":{"role":"assistant","content":[],"provider":"p","model":"m%d","usage":{"input":%d,"output":200,"cacheRead":5000,"cacheWrite":0,"cost":{"total":0.0123}}}}`+"\n",
				i, k, 1+i%12, 1+i%28, i%24, k, i%4, i*k)
		}
		put(b, home, fmt.Sprintf("scope%d/s%d.jsonl", i%50, i), string(text))
	}
	x := openAt(b, home, Options{})
	if _, err := x.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rows, err := x.Usage(b.Context(), UsageFilter{By: UsageDay, Zone: time.Local})
		if err != nil || len(rows) == 0 {
			b.Fatal(rows, err)
		}
	}
}
