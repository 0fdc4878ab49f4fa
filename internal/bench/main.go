// Command bench measures what this project promises, as ratios in one run on
// one generated corpus, and prints a table in Markdown:
//
//	go run ./internal/bench -command bin/gjc-index -size M,L > BENCH.md
//
// Each figure is a median; the ones compared are measured in turn, so that what
// else the machine does meanwhile meets both.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
)

func main() {
	command := flag.String("command", "bin/gjc-index", "the command to measure")
	dir := flag.String("dir", ".bench", "where the corpora are, or are made")
	sizes := flag.String("size", "M", "corpora: S, M, L, with commas between")
	runs := flag.Int("runs", 5, "runs of each figure")
	big := flag.Int64("big", 1<<30, "bytes of the big session; 0 leaves it out")
	typed := flag.String("prompts", "100000", "rows of history.db to search in, with commas between; empty leaves it out")
	flag.Parse()
	if os.Getenv(childVar) != "" {
		os.Exit(runChild(flag.Args()))
	}
	b := &bench{command: *command, dir: *dir, runs: *runs}
	err := b.all(context.Background(), fields(*sizes), *big)
	for _, n := range fields(*typed) {
		if err == nil {
			err = b.typed(context.Background(), n)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	b.print()
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

type bench struct {
	command, dir string
	runs         int
	rows         []row
}

// row is one figure beside what it is compared with and what was promised.
type row struct{ what, measured, against, ratio, bar string }

// add takes a figure. What was promised is for a store of thousands: on the
// smallest corpus most of the time is the process itself.
func (b *bench) add(what, measured, against, ratio, bar string) {
	if strings.HasPrefix(what, "S: ") {
		bar = ""
	}
	b.rows = append(b.rows, row{what, measured, against, ratio, bar})
	fmt.Fprintf(os.Stderr, "%-60s %-14s %-30s %-8s %s\n", what, measured, against, ratio, bar)
}

func (b *bench) all(ctx context.Context, sizes []string, big int64) error {
	for _, size := range sizes {
		home, err := b.corpus(size)
		if err != nil {
			return err
		}
		for _, step := range []func(context.Context, string, string) error{b.fieldReader, b.rebuild, b.unchanged, b.appended, b.prompts, b.scans, b.usageByDay, b.exported} {
			if err := step(ctx, size, home); err != nil {
				return fmt.Errorf("%s: %w", size, err)
			}
		}
	}
	if big == 0 {
		return nil
	}
	if err := b.appends(ctx); err != nil {
		return err
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	if err := b.bigSession(ctx, big); err != nil {
		return err
	}
	return b.life(ctx, big)
}

// corpus makes a home of the size once, and gives its directory.
func (b *bench) corpus(size string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(b.dir, size))
	if err != nil {
		return "", err
	}
	home := filepath.Join(dir, "home")
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	o, ok := corpus.Sizes[size]
	if !ok {
		return "", fmt.Errorf("no corpus %q", size)
	}
	_, err = corpus.Generate(dir, o)
	return home, err
}

func (b *bench) print() {
	fmt.Printf("Measured %s on %d cores, %s/%s, %s. Medians of %d runs, page cache warm.\n\n", time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), b.runs)
	fmt.Println("| what | measured | compared with | ratio | promised |\n|---|--:|---|--:|---|")
	for _, r := range b.rows {
		fmt.Printf("| %s | %s | %s | %s | %s |\n", r.what, r.measured, r.against, r.ratio, r.bar)
	}
	b.printGrowth()
}

// printGrowth prints what was measured on several corpora, one beside the other.
func (b *bench) printGrowth() {
	var sizes, whats []string
	measured := map[string]map[string]string{} // by what, then by size
	for _, r := range b.rows {
		size, what, ok := strings.Cut(r.what, ": ")
		if _, known := corpus.Sizes[size]; !ok || !known {
			continue
		}
		if !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
		if measured[what] == nil {
			whats, measured[what] = append(whats, what), map[string]string{}
		}
		measured[what][size] = r.measured
	}
	if len(sizes) < 2 {
		return
	}
	fmt.Printf("\n## Growth\n\nThe same figures, by corpus:")
	for _, size := range sizes {
		fmt.Printf(" %s has %d sessions.", size, corpus.Sizes[size].Files)
	}
	fmt.Printf("\n\n| what | %s |\n|---|%s\n", strings.Join(sizes, " | "), strings.Repeat("--:|", len(sizes)))
	for _, what := range whats {
		fmt.Printf("| %s |", what)
		for _, size := range sizes {
			fmt.Printf(" %s |", measured[what][size])
		}
		fmt.Println()
	}
}

// inTurn runs the functions in turn, some times, and gives each one's median.
func (b *bench) inTurn(fns ...func() error) ([]time.Duration, error) {
	times := make([][]time.Duration, len(fns))
	for range b.runs {
		for i, fn := range fns {
			start := time.Now()
			if err := fn(); err != nil {
				return nil, err
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	medians := make([]time.Duration, len(fns))
	for i, ts := range times {
		slices.Sort(ts)
		medians[i] = ts[len(ts)/2]
	}
	return medians, nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }

func mb(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
