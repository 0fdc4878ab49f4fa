package migrations

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatementsOfTheIndexAreThoseOfAFreshDatabase(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), Index, Options{})
	var rows []struct {
		Name string `db:"name"`
		SQL  string `db:"sql"`
	}
	if err := db.Select(&rows, `SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' AND name <> ?`, versionTable); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range rows {
		got[r.Name] = plainDDL(r.SQL)
		for _, part := range fullTextParts {
			if r.Name == "prompt_words"+part {
				got[r.Name] = ""
			}
		}
	}
	want, err := indexDDL()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if err := db.CheckSchema(t.Context()); err != nil {
		t.Errorf("CheckSchema() = %v", err)
	}
}

func TestCheckSchemaSeesWhatWasChanged(t *testing.T) {
	for _, tt := range []struct {
		statement string
		what      string // "" if it is no matter
	}{
		{`DROP TABLE prompts`, "prompts"},
		{`DROP TABLE prompt_words`, "prompt_words"},
		{`DROP TABLE prompt_words_idx`, "prompt_words_idx"},
		{`DROP INDEX sessions_id`, "sessions_id"},
		{`ALTER TABLE sessions DROP COLUMN title`, "sessions"},
		{`ALTER TABLE sessions RENAME COLUMN title TO name2`, "sessions"},
		{`ALTER TABLE entries ADD COLUMN more TEXT`, "entries"},
		{`CREATE TRIGGER t AFTER INSERT ON labels BEGIN DELETE FROM labels; END`, "trigger"},
		{`ANALYZE`, ""},
		{`CREATE INDEX mine ON sessions (size)`, ""},
		{`CREATE VIEW mine AS SELECT id FROM sessions`, ""},
		{`VACUUM`, ""},
	} {
		t.Run(tt.statement, func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "index.db"), Index, Options{})
			if _, err := db.Exec(tt.statement); err != nil {
				t.Fatal(err)
			}
			err := db.CheckSchema(t.Context())
			if (tt.what != "") != errors.Is(err, ErrSchema) || err != nil && !strings.Contains(err.Error(), tt.what) {
				t.Errorf("CheckSchema() = %v, want %q", err, tt.what)
			}
		})
	}
}
