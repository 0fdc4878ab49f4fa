package index

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
)

// promptCorpus makes n prompts of sessions, 20 of each.
func promptCorpus(n int) iter.Seq[Prompt] {
	return func(yield func(Prompt) bool) {
		for i, text := range corpus.Prompts(n) {
			p := Prompt{
				Source: SourceSession, SessionID: strconv.Itoa(i / 20), FileKey: int64(i / 20),
				EntryID: strconv.Itoa(i), Line: i%20 + 2, Time: 1_700_000_000_000 + int64(i)*61_000,
				Cwd: fmt.Sprintf("/src/project%d", i/20%50), Text: text,
			}
			if !yield(p) {
				return
			}
		}
	}
}

var benchQueries = []struct{ name, query string }{
	{"recent", ""},
	{"commonest", "the"},
	{"prefix", "foo_b"},
	{"infix", "weckentfremdun"},
	{"rare", "zweckentfremdung"},
	{"nowhere", "qqqzzzq"},
	{"nowhere-commonletters", "etetoaetea"},
	{"two-rare", "xyloph entfrem"},
	{"two-one-rare", "the xyloph"},
	{"phrase-rare", `"the zweckentfremdung of"`},
	{"phrase-mid", `"foo_bar::baz the"`},
	{"never-meet", "the of"},
	{"never-phrase", `"the the the the the the"`},
	{"punctuation-nowhere", "@@"},
	{"punct", "::"},
	{"cjk1-common", "설"},
	{"cjk2", "파일"},
	{"cjk1-rare", "稀"},
	{"cjk2-rare", "稀有"},
	{"cjk1-nowhere", "龍"},
	{"infix-2", "zx"},
	{"infix-wide-nowhere", "qe"},
}

func benchSize() int {
	if n, err := strconv.Atoi(os.Getenv("GJC_BENCH_PROMPTS")); err == nil {
		return n
	}
	return 100_000
}

// BenchmarkSearchPrompts reports the median of each kind of search over
// GJC_BENCH_PROMPTS prompts (100,000), newest 20.
func BenchmarkSearchPrompts(b *testing.B) {
	db := openPrompts(b)
	start := time.Now()
	tx, err := db.Beginx()
	if err != nil {
		b.Fatal(err)
	}
	w := newPromptWriter(true)
	size := 0
	for p := range promptCorpus(benchSize()) {
		size += len(p.Text)
		w.Add(p)
	}
	b.Logf("generated %d bytes in %v", size, time.Since(start))
	start = time.Now()
	if err := w.Flush(tx); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	b.Logf("built in %v", time.Since(start))
	for _, table := range []string{"prompts", "prompt_texts", "prompts_sum", "prompts_cwd", "prompts_session", "prompt_words_data", "prompt_tokens", "prompt_recent"} {
		var bytes int
		if err := db.Get(&bytes, `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ?`, table); err == nil {
			b.Logf("%s: %.3f of the text", table, float64(bytes)/float64(size))
		}
	}
	for _, tt := range benchQueries {
		b.Run(tt.name, func(b *testing.B) {
			var times []time.Duration
			hits := 0
			for b.Loop() {
				start := time.Now()
				hits = len(find(b, db, tt.query, SearchFilter{}, 20))
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(hits), "hits")
		})
	}
}
