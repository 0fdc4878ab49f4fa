package history

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// synthetic gives n prompts of 370 bytes on average, the same ones each time.
func synthetic(n int) iter.Seq2[Prompt, error] {
	return func(yield func(Prompt, error) bool) {
		rnd := rand.New(rand.NewPCG(1, 2))
		words := make([]string, 20_000)
		for i := range words {
			b := make([]byte, 2+rnd.IntN(9))
			for j := range b {
				b[j] = byte('a' + rnd.IntN(26))
			}
			words[i] = string(b)
		}
		for i := range n {
			var b strings.Builder
			for size := 40 + rnd.IntN(660); b.Len() < size; {
				// Low numbers are common words, as in prose.
				b.WriteString(words[int(rnd.ExpFloat64()*1500)%len(words)])
				b.WriteByte(' ')
			}
			p := Prompt{Text: Trim(b.String()), Time: noon.Add(time.Duration(i*90) * time.Second), Cwd: new(fmt.Sprint("/src/", i%40))}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// benchSize is GJC_BENCH_PROMPTS, or 100,000.
func benchSize() int {
	if n, err := strconv.Atoi(os.Getenv("GJC_BENCH_PROMPTS")); err == nil {
		return n
	}
	return 100_000
}

func filled(b *testing.B, n int) *Store {
	b.Helper()
	s := open(b, b.TempDir(), Options{})
	_, err := s.Import(b.Context(), synthetic(n))
	must(b, err)
	return s
}

func BenchmarkRecent20(b *testing.B) {
	s := filled(b, benchSize())
	for b.Loop() {
		got, err := s.Recent(b.Context(), Query{Limit: 20})
		if err != nil || len(got) != 20 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkSearch asks as the original does.
func BenchmarkSearch(b *testing.B) {
	s := filled(b, benchSize())
	for _, text := range []string{"commonprefix", "zz qq", "e"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				_, err := s.Search(b.Context(), Query{Text: text, Limit: 20})
				must(b, err)
			}
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	s := filled(b, benchSize())
	for b.Loop() {
		_, err := s.Fingerprint(b.Context())
		must(b, err)
	}
}

func BenchmarkCheck(b *testing.B) {
	s := filled(b, benchSize())
	for b.Loop() {
		ok, err := s.Check(b.Context())
		if !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkAddWhileLocked adds while another connection holds the write lock
// for 2 s, and tells the 99th percentile of how long Add takes.
func BenchmarkAddWhileLocked(b *testing.B) {
	for _, journal := range []bool{false, true} {
		b.Run(fmt.Sprint("journal ", journal), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				s := open(b, dir, Options{Journal: journal})
				took := make([]time.Duration, 0, 20_000)
				must(b, rawDB(b, dir).Write(b.Context(), func(*sqlx.Tx) error {
					tick := time.NewTicker(200 * time.Microsecond)
					defer tick.Stop()
					for end := time.Now().Add(2 * time.Second); time.Now().Before(end); <-tick.C {
						text := fmt.Sprint("a prompt of a usual length that somebody typed ", len(took))
						start := time.Now()
						err := s.Add(text, nil)
						took = append(took, time.Since(start))
						must(b, err)
					}
					return nil
				}))
				must(b, s.Flush(b.Context()))
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-µs")
				b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1000, "max-µs")
			}
		})
	}
}

// BenchmarkImport compares an import with the same rows put into the same
// table without full text.
func BenchmarkImport(b *testing.B) {
	n := benchSize()
	for b.Loop() {
		s := open(b, b.TempDir(), Options{})
		start := time.Now()
		got, err := s.Import(b.Context(), synthetic(n))
		if err != nil || got.Added != n {
			b.Fatal(got, err)
		}
		imported := time.Since(start)

		plainDB, err := migrations.Open(b.Context(), realDisk(), filepath.Join(b.TempDir(), "history.db"), migrations.History, migrations.Options{})
		must(b, err)
		for _, sql := range []string{createTable, createTimeIndex, createCwdIndex} {
			_, err := plainDB.Exec(sql)
			must(b, err)
		}
		p := &Store{db: plainDB, have: layout{"history": ""}, opt: Options{Now: time.Now}}
		start = time.Now()
		_, err = p.importAll(b.Context(), synthetic(n))
		must(b, err)
		without := time.Since(start)
		must(b, plainDB.Close())
		b.ReportMetric(imported.Seconds(), "import-s")
		b.ReportMetric(without.Seconds(), "without-fts-s")
		b.ReportMetric(imported.Seconds()/without.Seconds(), "ratio")
	}
}
