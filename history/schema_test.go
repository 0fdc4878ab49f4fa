package history

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/google/go-cmp/cmp"
)

const oldTable = `CREATE TABLE history (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	prompt TEXT NOT NULL,
	created_at INTEGER NOT NULL DEFAULT (unixepoch()),
	cwd TEXT
)`

// object is a row of sqlite_master.
type object struct{ Type, Name, SQL string }

func objects(t *testing.T, db *migrations.DB) []object {
	t.Helper()
	var all []object
	must(t, db.Select(&all, `
		SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_master
		WHERE name NOT LIKE 'sqlite_%' ORDER BY name`))
	return all
}

func TestOldSchemaIsRenewed(t *testing.T) {
	fresh := t.TempDir()
	open(t, fresh, Options{})
	want := objects(t, rawDB(t, fresh))
	tests := []struct {
		name string
		sql  []string
	}{
		{"with its full-text table", []string{oldTable, createTimeIndex, createCwdIndex, createText, createTrigger}},
		{"without it", []string{oldTable}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := migrations.Open(t.Context(), realDisk(), filepath.Join(dir, "history.db"), migrations.History, migrations.Options{})
			must(t, err)
			for _, sql := range append(tt.sql,
				`INSERT INTO history (id, prompt, created_at, cwd) VALUES (3, 'old oak', 10, '/a'), (7, 'old elm', 11, NULL), (9, 'gone', 12, NULL)`,
				`DELETE FROM history WHERE id = 9`) {
				_, err := db.Exec(sql)
				must(t, err)
			}
			must(t, db.Close())
			s := open(t, dir, Options{})
			must(t, s.Add("new ash", nil))
			must(t, s.Flush(t.Context()))
			if diff := cmp.Diff(want, objects(t, s.db)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			var ids []int64
			must(t, s.db.Select(&ids, `SELECT id FROM history ORDER BY id`))
			if diff := cmp.Diff([]int64{3, 7, 10}, ids); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"old elm", "old oak"}, found(t, s, "old")); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if _, err := s.Heal(t.Context()); err != nil {
				t.Error(err)
			}
			if inStep, err := s.Check(t.Context()); !inStep || err != nil {
				t.Errorf("Check() = %v, %v", inStep, err)
			}
		})
	}
}

func TestFullTextIsMendedWhereItFellOutOfStep(t *testing.T) {
	tests := []struct {
		name, sql string
		atOpen    bool // seen by Open already
	}{
		{"rows were added without the trigger", `DROP TRIGGER history_ai; INSERT INTO history (prompt, created_at) VALUES ('late basil', 9)`, true},
		{"a text was changed", `UPDATE history SET prompt = 'late basil' WHERE id = 1`, false},
		{"a row was replaced", `INSERT OR REPLACE INTO history (id, prompt, created_at) VALUES (1, 'late basil', 9)`, false},
		{"a row was deleted", `INSERT INTO history (prompt, created_at) VALUES ('late basil', 9); DELETE FROM history WHERE id = 1`, false},
		{"a row was indexed twice", `INSERT INTO history (prompt, created_at) VALUES ('late basil', 9); INSERT INTO history_fts(rowid, prompt) VALUES (1, 'mint')`, false},
		{"the records of the table are bad", `INSERT INTO history (prompt, created_at) VALUES ('late basil', 9); UPDATE history_fts_data SET block = x'00ff' WHERE id > 1`, false},
		{"its structure is bad", `INSERT INTO history (prompt, created_at) VALUES ('late basil', 9); UPDATE history_fts_data SET block = x'ffff' WHERE id = 10`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Options{})
			must(t, s.Add("old mint", nil))
			must(t, s.Add("other mint", nil))
			must(t, s.Close())
			db, err := migrations.Open(t.Context(), realDisk(), filepath.Join(dir, "history.db"), migrations.History, migrations.Options{})
			must(t, err)
			_, err = db.Exec(tt.sql)
			must(t, err)
			must(t, db.Close())

			s = open(t, dir, Options{})
			rebuilt, err := s.Heal(t.Context())
			if err != nil || rebuilt == tt.atOpen {
				t.Errorf("Heal() = %v, %v; want %v", rebuilt, err, !tt.atOpen)
			}
			if inStep, err := s.Check(t.Context()); !inStep || err != nil {
				t.Errorf("Check() = %v, %v; want in step", inStep, err)
			}
			if diff := cmp.Diff([]string{"late basil"}, found(t, s, "basil")); diff != "" {
				t.Errorf("Search(basil) (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchMendsADamagedTable(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	must(t, s.Add("basil and mint", nil))
	must(t, s.Close())
	db, err := migrations.Open(t.Context(), realDisk(), s.path, migrations.History, migrations.Options{})
	must(t, err)
	_, err = db.Exec(`DELETE FROM history_fts_data WHERE id > 10`)
	must(t, errors.Join(err, db.Close()))
	s = open(t, dir, Options{})
	if diff := cmp.Diff([]string{"basil and mint"}, found(t, s, "bas")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if inStep, err := s.Check(t.Context()); !inStep || err != nil {
		t.Errorf("Check() = %v, %v", inStep, err)
	}
}
