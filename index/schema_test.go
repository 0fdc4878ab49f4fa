package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

// alter runs a statement on the database of a home, beside whoever has it open.
func alter(t *testing.T, home, statement string) {
	t.Helper()
	db, err := sqlx.Open("sqlite", filepath.Join(home, "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// refreshed is refresh for what leaves notes.
func refreshed(t *testing.T, x *Index) Report {
	t.Helper()
	rep, err := x.Refresh(t.Context())
	if err != nil {
		t.Fatalf("Refresh: %v", err)
	}
	return rep
}

// schemaChanges are ways to change a database that leave its version as it was.
var schemaChanges = []string{
	`DROP TABLE prompts`,
	`DROP TABLE prompt_words`,
	`DROP TABLE prompt_words_data`,
	`DROP TABLE prompt_recent`,
	`DROP TABLE usage_packs`,
	`DROP INDEX sessions_id`,
	`ALTER TABLE sessions DROP COLUMN title_source`,
	`ALTER TABLE prompts RENAME COLUMN entry TO entries`,
	`ALTER TABLE labels ADD COLUMN more TEXT NOT NULL DEFAULT ''`,
}

func TestChangedSchemaIsSetAsideAndBuiltAgain(t *testing.T) {
	for _, statement := range schemaChanges {
		t.Run(statement, func(t *testing.T) {
			home := simpleHome(t, 5)
			x := openAt(t, home, Options{})
			refresh(t, x)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			alter(t, home, statement)
			x = openAt(t, home, Options{})
			if rep := refreshed(t, x); rep.Added != 5 {
				t.Errorf("Refresh = %+v, want 5 added", rep)
			}
			if found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0003")}); err != nil || len(found.Hits) != 1 {
				t.Errorf("Search = %+v, %v, want one hit", found, err)
			}
			if s, err := x.Status(t.Context()); err != nil || s.Sessions != 5 || s.Prompts != 5 {
				t.Errorf("Status = %+v, %v, want 5 sessions", s, err)
			}
			if notes := strings.Join(x.Notes(), "; "); !strings.Contains(notes, "damaged") {
				t.Errorf("Notes = %q", notes)
			}
			checkEqual(t, x)
		})
	}
}

func TestSchemaChangedWhileOpenIsMended(t *testing.T) {
	for _, tt := range []struct {
		name string
		ask  func(t *testing.T, x *Index) error
	}{
		{"list", func(t *testing.T, x *Index) error {
			if got := sessionIDs(t, x, Filter{}); len(got) != 5 {
				t.Errorf("Sessions = %q, want 5", got)
			}
			return nil
		}},
		{"search", func(t *testing.T, x *Index) error {
			found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0003")})
			if len(found.Hits) != 1 {
				t.Errorf("Search = %+v, want one hit", found)
			}
			return err
		}},
		{"status", func(t *testing.T, x *Index) error {
			s, err := x.Status(t.Context())
			if s.Sessions != 5 || s.Entries != 10 || s.Prompts != 5 {
				t.Errorf("Status = %+v, want 5 sessions of 2 entries", s)
			}
			return err
		}},
		{"usage", func(t *testing.T, x *Index) error { _, err := x.Usage(t.Context(), UsageFilter{}); return err }},
		{"ids", func(t *testing.T, x *Index) error {
			ids, err := x.IDs(t.Context())
			if len(ids) != 5 {
				t.Errorf("IDs = %q, want 5", ids)
			}
			return err
		}},
		{"labels", func(t *testing.T, x *Index) error {
			_, err := x.Labels(t.Context(), filepath.Join(x.root(), "scope0", "s0000.jsonl"))
			return err
		}},
		{"refresh", func(t *testing.T, x *Index) error { _, err := x.Refresh(t.Context()); return err }},
		{"rebuild", func(t *testing.T, x *Index) error { _, err := x.Rebuild(t.Context()); return err }},
		{"check", func(t *testing.T, x *Index) error {
			n := 0
			for d, err := range x.Check(t.Context()) {
				if n++; err != nil || !strings.Contains(d.What, "reindex --full") {
					t.Errorf("Check = %+v, %v, want advice", d, err)
				}
			}
			if n != 1 {
				t.Errorf("%d differences, want one", n)
			}
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := simpleHome(t, 5)
			x := openAt(t, home, Options{})
			refresh(t, x)
			alter(t, home, `ALTER TABLE sessions RENAME COLUMN size TO bytes; ALTER TABLE labels RENAME TO marks; DROP TABLE usage_packs`)
			alter(t, home, `DROP TABLE prompts; DROP INDEX sessions_id`)
			if err := tt.ask(t, x); err != nil {
				t.Errorf("error = %v", err)
			}
			for _, note := range x.Notes() {
				if strings.Contains(note, "SQL") {
					t.Errorf("note %q", note)
				}
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			x = openAt(t, home, Options{})
			refreshed(t, x)
			checkEqual(t, x)
		})
	}
}

func TestDamagedPageIsOneDifferenceWithAdvice(t *testing.T) {
	home := simpleHome(t, 400)
	x := openAt(t, home, Options{})
	refresh(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "index.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 60; (page+1)*4096 <= len(data); page++ {
		copy(data[page*4096:], strings.Repeat("\xA5", 64))
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	x = openAt(t, home, Options{})
	var got []Difference
	for d, err := range x.Check(t.Context()) {
		if err != nil {
			t.Fatalf("Check: %v", err)
		}
		got = append(got, d)
	}
	if len(got) != 1 || got[0] != (Difference{Path: path, What: damagedIndex}) {
		t.Errorf("Check = %+v, want one difference", got)
	}
	if _, err := x.Rebuild(t.Context()); err != nil {
		t.Errorf("Rebuild = %v", err)
	}
	checkEqual(t, x)
}
