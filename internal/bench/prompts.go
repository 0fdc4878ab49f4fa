package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/scope"
)

// typed searches in so many rows of history.db.
func (b *bench) typed(ctx context.Context, rows string) error {
	n, err := strconv.Atoi(rows)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(b.dir, "prompts"+rows))
	if err != nil {
		return err
	}
	home := scope.HomeAt(dir)
	size, err := typedHome(ctx, home, n)
	if err != nil {
		return err
	}
	took, err := b.measured("--home", dir, "--quiet", "reindex", "--full")
	if err != nil {
		return err
	}
	b.add(rows+" prompts: reindex --full, the process", ms(took.wall), "", "", "")
	b.add(rows+" prompts: its memory", mb(took.memory), "", "", "")
	info, err := os.Stat(home.IndexDB())
	if err != nil {
		return err
	}
	b.add(rows+" prompts: what the index has of them", mb(info.Size()), mb(size)+" of text", strconv.FormatFloat(float64(info.Size())/float64(size), 'f', 2, 64), "0.5")
	x, err := index.Open(ctx, disk, home, index.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	million := n >= 1_000_000
	for _, q := range typedQueries {
		ts, err := b.inTurn(func() error {
			_, err := x.Search(ctx, index.SearchRequest{Query: index.ParseQuery(q.text), Limit: 20})
			return err
		})
		if err != nil {
			return err
		}
		bar := q.bar
		if million {
			bar = q.large
		}
		b.add(rows+" prompts: "+q.kind, ms(ts[0]), "", "", bar)
	}
	ts, err := b.inTurn(b.run("--home", dir, "--no-refresh", "search", "--limit", "20", "zweckentfremdung"))
	if err != nil {
		return err
	}
	b.add(rows+" prompts: a process, --no-refresh", ms(ts[0]), "", "", "12 ms")
	return nil
}

// typedQueries are asked of each number of rows; large is what is promised of
// a million.
var typedQueries = []struct{ kind, text, bar, large string }{
	{"the newest", "", "1 ms", "1 ms"},
	{"the commonest word", "the", "3 ms", "5 ms"},
	{"a beginning", "foo_b", "3 ms", "5 ms"},
	{"inside of a word", "weckentfremdun", "3 ms", "5 ms"},
	{"a rare word", "zweckentfremdung", "3 ms", "5 ms"},
	{"nowhere", "qqqzzzq", "3 ms", "5 ms"},
	{"nowhere, common letters", "etetoaetea", "3 ms", "5 ms"},
	{"two rare words", "xyloph entfrem", "10 ms", "15 ms"},
	{"a common and a rare word", "the xyloph", "10 ms", "15 ms"},
	{"a rare phrase", `"the zweckentfremdung of"`, "10 ms", "15 ms"},
	{"a phrase", `"foo_bar::baz the"`, "10 ms", "15 ms"},
	{"two common words", "the of", "60 ms", "600 ms"},
	{"common parts that never meet", `"the the the the the the"`, "60 ms", "600 ms"},
	{"signs that are nowhere", "@@", "60 ms", "600 ms"},
	{"one Hangul syllable", "설", "20 ms", "20 ms"},
	{"two Han characters, rare", "稀有", "20 ms", "20 ms"},
	{"one Han character, nowhere", "龍", "20 ms", "20 ms"},
}

// typedHome makes a home that holds nothing but history.db, once, and gives the
// bytes of its text.
func typedHome(ctx context.Context, home scope.Home, n int) (size int64, err error) {
	if err := os.MkdirAll(home.Dir(), 0o700); err != nil {
		return 0, err
	}
	for _, text := range corpus.Prompts(n) {
		size += int64(len(text))
	}
	if _, err := os.Stat(home.HistoryDB()); err == nil {
		return size, nil
	}
	h, err := history.Open(ctx, disk, home.HistoryDB(), history.Options{})
	if err != nil {
		return 0, err
	}
	_, err = h.Import(ctx, func(yield func(history.Prompt, error) bool) {
		start := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, text := range corpus.Prompts(n) {
			cwd := "/src/project" + strconv.Itoa(i/20%50)
			if !yield(history.Prompt{Text: text, Cwd: &cwd, Time: start.Add(time.Duration(i) * time.Minute)}, nil) {
				return
			}
		}
	})
	return size, errors.Join(err, h.Close())
}
