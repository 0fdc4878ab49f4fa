package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// promptCorpus makes n prompts of 370 bytes on average over a vocabulary whose
// words are as unequally common as those of a language; seed fixed. Every
// prompt has "the" or "of" but hardly one has both.
func promptCorpus(n int) func(yield func(Prompt) bool) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 60_000)
	for i := range words {
		b := make([]byte, 2+r.IntN(4)+r.IntN(5))
		for j := range b {
			b[j] = "etaoinsrhdlucmfywgpbvk"[int(float64(22)*r.Float64()*r.Float64())]
		}
		words[i] = string(b)
	}
	hangul := []rune("설정파일을찾아서고쳐줘결제화면테스트온실도로그인덱스이전검색결과")
	han := make([]rune, 800)
	for i := range han {
		han[i] = rune(0x4E00 + r.IntN(4000))
	}
	zipf := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	return func(yield func(Prompt) bool) {
		for i := range n {
			var b strings.Builder
			size := 60 + r.IntN(300) + r.IntN(320)
			side := []string{"the", "of"}[i/50%2]
			for b.Len() < size {
				switch k := r.IntN(100); {
				case k < 6:
					b.WriteString(side)
				case k == 10:
					b.WriteString("foo_bar::baz")
				case k == 11 && i%5 == 0:
					for range 2 + r.IntN(6) {
						b.WriteRune(hangul[r.IntN(len(hangul))])
					}
				case k == 12 && i%5 == 1:
					for range 4 + r.IntN(12) {
						b.WriteRune(han[int(float64(len(han))*r.Float64()*r.Float64())])
					}
				default:
					b.WriteString(words[zipf.Uint64()])
				}
				b.WriteByte(' ')
			}
			if i == n/10 {
				b.WriteString("the zweckentfremdung of xylophones 稀有")
			}
			p := Prompt{
				Source: SourceSession, SessionKey: int64(i / 20), SessionID: strconv.Itoa(i / 20), FileKey: int64(i / 20),
				EntryID: strconv.Itoa(i), Line: i%20 + 2, Time: 1_700_000_000_000 + int64(i)*61_000,
				Cwd: fmt.Sprintf("/src/project%d", i/20%50), Text: b.String(),
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
	for _, table := range []string{"prompts", "prompt_words_data", "prompt_tokens", "prompt_recent"} {
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
