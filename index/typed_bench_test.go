package index

import (
	"slices"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// BenchmarkSearchHistory reports the medians of searches through Index.Search,
// the look at what was deleted included, over GJC_BENCH_PROMPTS (100,000) rows
// of history.db, the newest 20.
func BenchmarkSearchHistory(b *testing.B) {
	dir := b.TempDir()
	s, err := history.Open(b.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(dir).HistoryDB(), history.Options{})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	_, err = s.Import(b.Context(), func(yield func(history.Prompt, error) bool) {
		for p := range promptCorpus(benchSize()) {
			if !yield(history.Prompt{Text: p.Text, Cwd: &p.Cwd, Time: time.UnixMilli(p.Time)}, nil) {
				return
			}
		}
	})
	if err == nil {
		_, err = s.DeleteText(b.Context(), "never typed")
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Logf("imported in %v", time.Since(start))
	put(b, dir, "--a--/s.jsonl", "")
	x := openAt(b, dir, Options{})
	start = time.Now()
	refresh(b, x)
	b.Logf("refreshed in %v", time.Since(start))
	for _, tt := range []struct {
		name string
		r    SearchRequest
	}{
		{"recent", SearchRequest{}},
		{"recent-repeats", SearchRequest{Repeats: true}},
		{"commonest", SearchRequest{Query: ParseQuery("the")}},
		{"infix", SearchRequest{Query: ParseQuery("weckentfremdun")}},
		{"nowhere", SearchRequest{Query: ParseQuery("qqqzzzq")}},
		{"cjk1", SearchRequest{Query: ParseQuery("설")}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			tt.r.Limit = 20
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := x.Search(b.Context(), tt.r); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
		})
	}
}
