package index

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// The page docs/index-schema.md is for people who query the index: it names
// every table and column, and its queries run.

var (
	pageTables  = regexp.MustCompile(`(?m)^## (.+)$`)
	pageColumns = regexp.MustCompile("`([a-z_]+)`")
	pageQueries = regexp.MustCompile("(?ms)^```sql\\n(.*?)^```$")
)

// documentedColumns are the columns of each table of the page.
func documentedColumns(page string) map[string][]string {
	columns := map[string][]string{}
	at := pageTables.FindAllStringSubmatchIndex(page, -1)
	for i, m := range at {
		end := len(page)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		var names []string
		for line := range strings.Lines(page[m[1]:end]) {
			if cells := strings.Split(line, "|"); len(cells) > 2 {
				for _, name := range pageColumns.FindAllStringSubmatch(cells[1], -1) {
					names = append(names, name[1])
				}
			}
		}
		for table := range strings.SplitSeq(page[m[2]:m[3]], ", ") {
			columns[table] = names
		}
	}
	return columns
}

// demoIndex is the database of a copy of the demo home.
func demoIndex(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	x := openAt(t, home, Options{})
	refresh(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, "index.db")
}

func TestSchemaPageNamesEveryColumn(t *testing.T) {
	page, err := os.ReadFile("../docs/index-schema.md")
	if err != nil {
		t.Fatal(err)
	}
	path := demoIndex(t)
	db, err := migrations.Open(t.Context(), storage.Disk(storage.Policy{}), path, migrations.Index, migrations.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var have []struct {
		Table  string `db:"name"`
		Column string `db:"column"`
	}
	err = db.SelectContext(t.Context(), &have, `
		SELECT m.name, c.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'prompt_words_%'`)
	if err != nil || len(have) == 0 {
		t.Fatal(err)
	}
	documented := documentedColumns(string(page))
	seen := map[string]bool{}
	for _, h := range have {
		names, ok := documented[h.Table]
		seen[h.Table] = true
		if h.Table == "goose_db_version" && ok || h.Table == "prompt_words" && h.Column == "prompt_words" || h.Column == "rank" {
			continue
		}
		if !slices.Contains(names, h.Column) {
			t.Errorf("docs/index-schema.md does not name %s.%s", h.Table, h.Column)
		}
	}
	for table, names := range documented {
		if !seen[table] {
			t.Errorf("docs/index-schema.md names the table %s, which there is not", table)
		}
		for _, name := range names {
			known := slices.ContainsFunc(have, func(h struct {
				Table  string `db:"name"`
				Column string `db:"column"`
			}) bool {
				return h.Column == name && (h.Table == table || strings.HasPrefix(table, "prompt_"))
			})
			if !known {
				t.Errorf("docs/index-schema.md names %s.%s, which there is not", table, name)
			}
		}
	}
}

func TestSchemaPagesQueriesRun(t *testing.T) {
	page, err := os.ReadFile("../docs/index-schema.md")
	if err != nil {
		t.Fatal(err)
	}
	path := demoIndex(t)
	db, err := migrations.Open(t.Context(), storage.Disk(storage.Policy{}), path, migrations.Index, migrations.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	queries := pageQueries.FindAllStringSubmatch(string(page), -1)
	if len(queries) < 8 {
		t.Fatalf("docs/index-schema.md: %d queries", len(queries))
	}
	shell, _ := exec.LookPath("sqlite3")
	some := 0
	for _, q := range queries {
		rows, err := db.QueryContext(t.Context(), q[1])
		if err != nil {
			t.Errorf("%s%v", q[1], err)
			continue
		}
		for rows.Next() {
			some++
		}
		if err := rows.Err(); err != nil {
			t.Errorf("%s%v", q[1], err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if shell != "" {
			if out, err := exec.Command(shell, "-readonly", "-bail", path, q[1]).CombinedOutput(); err != nil {
				t.Errorf("%ssqlite3: %v: %s", q[1], err, out)
			}
		}
	}
	if some < 10 {
		t.Errorf("the queries of docs/index-schema.md found %d rows in the demo", some)
	}
}
