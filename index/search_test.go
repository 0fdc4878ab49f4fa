package index

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"
)

// openPrompts makes a database with the index's tables.
func openPrompts(t testing.TB) *sqlx.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.db")
	db, err := sqlx.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	files, err := filepath.Glob("../migrations/index/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ddl, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(ddl), "-- +goose Down")
		if _, err := db.Exec(up); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if _, err := db.Exec(`
		CREATE TABLE typed (id INTEGER PRIMARY KEY, text TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	return db
}

// typedRows stand for history.db: its rows are in a table of the same database.
type typedRows struct{ q sqlx.QueryerContext }

func (r typedRows) Texts(ctx context.Context, ids []int64) (map[int64]string, error) {
	texts := map[int64]string{}
	for _, id := range ids {
		var list []string
		if err := sqlx.SelectContext(ctx, r.q, &list, `SELECT text FROM typed WHERE id = ?`, id); err != nil {
			return nil, err
		}
		for _, text := range list {
			texts[id] = text
		}
	}
	return texts, nil
}

func (r typedRows) Joined(ctx context.Context, first, last int64, use func(n int, texts []byte)) error {
	var list []string
	err := sqlx.SelectContext(ctx, r.q, &list, `SELECT text FROM typed WHERE id BETWEEN ? AND ?`, first, last)
	use(len(list), []byte(strings.Join(list, joint)))
	return err
}

// add gives prompts to a writer, and rows of history to their table.
func add(t interface{ Fatal(...any) }, tx *sqlx.Tx, w *promptWriter, prompts ...Prompt) {
	for _, p := range prompts {
		if p.Source == SourceHistory {
			if _, err := tx.Exec(`INSERT OR REPLACE INTO typed (id, text) VALUES (?, ?)`, p.Row, p.Text); err != nil {
				t.Fatal(err)
			}
		}
		w.Add(p)
	}
}

// change runs fn with a writer in one transaction and flushes.
func change(t interface{ Fatal(...any) }, db *sqlx.DB, bulk bool, fn func(tx *sqlx.Tx, w *promptWriter)) {
	tx, err := db.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	w := newPromptWriter(bulk)
	w.rows = typedRows{tx}
	fn(tx, w)
	if err := w.Flush(tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func addAll(t interface{ Fatal(...any) }, db *sqlx.DB, bulk bool, prompts ...Prompt) {
	change(t, db, bulk, func(tx *sqlx.Tx, w *promptWriter) { add(t, tx, w, prompts...) })
}

func find(t interface{ Fatal(...any) }, db *sqlx.DB, query string, f SearchFilter, limit int) []Hit {
	ctx, cancel := testContext()
	defer cancel()
	f.rows = typedRows{db}
	hits, err := SearchPrompts(ctx, db, "/s", ParseQuery(query), f, limit)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestSearchFindsTheCasesOfTheFaults(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/faults/B*/queries.json")
	if err != nil || len(dirs) == 0 {
		t.Skipf("no cases: %v", err)
	}
	for _, name := range dirs {
		dir := filepath.Dir(name)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			db := openPrompts(t)
			texts := map[int]string{}
			addAll(t, db, false, readCasePrompts(t, filepath.Join(dir, "prompts.jsonl"), texts)...)
			var cases []struct {
				Query  string `json:"query"`
				Expect []int  `json:"expect_ids"`
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &cases); err != nil {
				t.Fatal(err)
			}
			for _, tt := range cases {
				var got []int
				for _, h := range find(t, db, tt.Query, SearchFilter{}, 0) {
					id, _ := strconv.Atoi(h.EntryID)
					got = append(got, id)
					if h.Text != texts[id] {
						t.Errorf("search %q: text of %d differs", tt.Query, id)
					}
					if strings.ContainsAny(h.Snippet, "\n\r\t\x00\x1b") {
						t.Errorf("search %q: snippet %q is not one line", tt.Query, h.Snippet)
					}
				}
				if diff := cmp.Diff(tt.Expect, got, cmp.Transformer("", func(l []int) []int { return append([]int{}, l...) })); diff != "" {
					t.Errorf("search %q (-want +got):\n%s", tt.Query, diff)
				}
			}
		})
	}
}

func readCasePrompts(t *testing.T, name string, texts map[int]string) []Prompt {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var prompts []Prompt
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var row struct {
			ID      int       `json:"id"`
			Created time.Time `json:"created_at"`
			Cwd     string    `json:"cwd"`
			Prompt  string    `json:"prompt"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		texts[row.ID] = row.Prompt
		ms := row.Created.UnixMilli()
		prompts = append(prompts, Prompt{
			Source: SourceHistory, Row: int64(row.ID), Time: ms, Cwd: row.Cwd, Text: row.Prompt,
		})
	}
	return prompts
}

// searchNaive is the search rule over all prompts.
func searchNaive(prompts []Prompt, query string, f SearchFilter, limit int) []string {
	sorted := slices.Clone(prompts)
	slices.SortStableFunc(sorted, func(a, b Prompt) int { return int(b.Time - a.Time) })
	q := ParseQuery(query)
	var got []string
	seen := map[string]bool{}
	for _, p := range sorted {
		if f.Cwds != nil && !slices.Contains(f.Cwds, p.Cwd) ||
			f.Sources != nil && !slices.Contains(f.Sources, p.Source) ||
			!f.Since.IsZero() && p.Time < f.Since.UnixMilli() ||
			!f.Until.IsZero() && p.Time >= f.Until.UnixMilli() {
			continue
		}
		if ok, _ := q.MatchText(p.Text, nil); ok && !seen[p.Text] && (limit == 0 || len(got) < limit) {
			seen[p.Text] = true
			got = append(got, p.EntryID)
		}
	}
	return got
}

func oddTexts() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"the", "Timeout", "retry", "C++", "a::b", "foo_bar", "--flag", "설정", "파일을", "用户身份", "验证", "データ", "ベース",
		"café", "cafe\u0301", "Ёлка", "🌱", "👩‍🌾", "हिन्दी", "ที่", "x=1", "/usr/local", "don't", "\"hi\"", "100%", "\x00", "\n",
		"ß", "STRASSE", "０１", strings.Repeat("QUJD", 20), "\ufffd", "a", "e",
	})
	joined := rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(word, 1, 8).Draw(t, "words")
		return strings.Join(words, rapid.SampledFrom([]string{" ", "", " ", "  "}).Draw(t, "sep"))
	})
	return rapid.OneOf(joined, rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(oddRunes(), 1, 20).Draw(t, "runes"))
	}))
}

// oddQueries draws parts of texts, in other case, quoted or not.
func oddQueries(texts []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var terms []string
		for range rapid.IntRange(0, 3).Draw(t, "terms") {
			r := []rune(rapid.SampledFrom(texts).Draw(t, "of"))
			from := rapid.IntRange(0, len(r)-1).Draw(t, "from")
			to := min(len(r), from+rapid.IntRange(1, 6).Draw(t, "n"))
			term := string(r[from:to])
			if rapid.Bool().Draw(t, "upper") {
				term = strings.ToUpper(term)
			}
			if rapid.Bool().Draw(t, "quoted") {
				term = `"` + term + `"`
			}
			terms = append(terms, term)
		}
		return strings.Join(terms, " ")
	})
}

// TestSearchEqualsTheRuleOverAllTexts also takes the floor of the newest
// prompts up at random, so that every way to search is used.
func TestSearchEqualsTheRuleOverAllTexts(t *testing.T) {
	db := openPrompts(t)
	rapid.Check(t, func(rt *rapid.T) {
		change(rt, db, false, func(tx *sqlx.Tx, w *promptWriter) {
			if err := w.Clear(tx); err != nil {
				rt.Fatal(err)
			}
		})
		var world []Prompt
		clock := int64(1_700_000_000_000)
		for step := range rapid.IntRange(1, 4).Draw(rt, "steps") {
			texts := rapid.SliceOfN(oddTexts(), 1, 20).Draw(rt, "texts")
			var added []Prompt
			for i, text := range texts {
				clock += 7
				at := clock
				if rapid.IntRange(0, 3).Draw(rt, "late") == 0 {
					at -= 1_000_000 // still different from all others
				}
				p := Prompt{
					FileKey: int64(step + 1), SessionID: "s", EntryID: fmt.Sprint(1 + 100*step + i),
					Time: at, Cwd: rapid.SampledFrom([]string{"/a", "/b"}).Draw(rt, "cwd"), Text: text,
				}
				if i%2 == 1 {
					p.Source, p.FileKey, p.Row = SourceHistory, historyFile, int64(1+100*step+i)
				}
				added = append(added, p)
			}
			gone := int64(rapid.IntRange(-1, step+1).Draw(rt, "gone"))
			change(rt, db, rapid.Bool().Draw(rt, "bulk"), func(tx *sqlx.Tx, w *promptWriter) {
				if err := w.RemoveFile(tx, gone); err != nil {
					rt.Fatal(err)
				}
				if gone == historyFile {
					if _, err := tx.Exec(`DELETE FROM typed`); err != nil {
						rt.Fatal(err)
					}
				}
				add(rt, tx, w, added...)
			})
			world = append(slices.DeleteFunc(world, func(p Prompt) bool { return p.FileKey == gone }), added...)
			raiseFloor(rt, db, rapid.IntRange(0, 40).Draw(rt, "kept"))
			checkSearches(rt, db, world)
		}
		if _, err := db.Exec(`INSERT INTO prompt_words (prompt_words) VALUES ('integrity-check')`); err != nil {
			rt.Fatal(err)
		}
	})
}

// raiseFloor leaves only the newest n prompts to the rows of the newest.
func raiseFloor(t interface{ Fatal(...any) }, db *sqlx.DB, n int) {
	var ids []int64
	if err := db.Select(&ids, `SELECT id FROM prompts ORDER BY id DESC LIMIT ?`, n+1); err != nil {
		t.Fatal(err)
	}
	if len(ids) <= n || n == 0 {
		return
	}
	if _, err := db.Exec(`UPDATE prompt_recent SET floor = max(floor, ?)`, ids[n-1]); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT OR IGNORE INTO prompt_marks SELECT id FROM prompts WHERE id % 3 = 0`); err != nil {
		t.Fatal(err)
	}
}

func checkSearches(t *rapid.T, db *sqlx.DB, world []Prompt) {
	texts := make([]string, len(world))
	for i, p := range world {
		texts[i] = p.Text
	}
	for range 4 {
		query := oddQueries(texts).Draw(t, "query")
		f := SearchFilter{}
		switch rapid.IntRange(0, 4).Draw(t, "filter") {
		case 0:
			f.Cwds = []string{"/a", "/c"}
		case 1:
			f.Sources = []Source{SourceHistory}
		case 2:
			f.Since = time.UnixMilli(rapid.SampledFrom(world).Draw(t, "since").Time)
		case 3:
			f.Until = time.UnixMilli(rapid.SampledFrom(world).Draw(t, "until").Time)
		}
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		var got []string
		for _, h := range find(t, db, query, f, limit) {
			got = append(got, h.EntryID)
		}
		if diff := cmp.Diff(searchNaive(world, query, f, limit), got); diff != "" {
			t.Fatalf("search %+q %+v limit %d (-want +got):\n%s", query, f, limit, diff)
		}
		for _, way := range []string{"words", "scan"} {
			checkWay(t, db, way, query, world)
		}
	}
}

// checkWay searches all prompts in one way only.
func checkWay(t *rapid.T, db *sqlx.DB, way, query string, world []Prompt) {
	ctx, cancel := testContext()
	defer cancel()
	s := newPromptSearch(db, ParseQuery(query), SearchFilter{rows: typedRows{db}}, 0)
	if s.query.Empty() {
		return
	}
	plan, err := s.plan(ctx, nil)
	switch {
	case err != nil:
	case way == "scan":
		err = s.scan(ctx)
	case plan.nothing:
	case plan.match != "":
		err = s.searchWords(ctx, plan.match)
	default:
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.hits(ctx, "/s")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range hits {
		got = append(got, h.EntryID)
	}
	if diff := cmp.Diff(searchNaive(world, query, SearchFilter{}, 0), got); diff != "" {
		t.Fatalf("search %+q by %s, plan %q (-want +got):\n%s", query, way, plan.match, diff)
	}
}
