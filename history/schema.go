package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// The statements that lay out history.db, to the letter: SQLite keeps their
// text, and the other program's file must not differ from ours.
const (
	createTable = "CREATE TABLE history (\n" +
		"\tid INTEGER PRIMARY KEY AUTOINCREMENT,\n" +
		"\tprompt TEXT NOT NULL,\n" +
		"\tcreated_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)),\n" +
		"\tcwd TEXT\n" +
		")"
	createTimeIndex = "CREATE INDEX idx_history_created_at ON history(created_at DESC)"
	createCwdIndex  = "CREATE INDEX idx_history_cwd_created_at ON history(cwd, created_at DESC)"
	createText      = "CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id')"
	createTrigger   = "CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN\n" +
		"\tINSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);\n" +
		"\tEND"
	rebuildText = `INSERT INTO history_fts(history_fts) VALUES('rebuild')`
)

// layout is what of the schema a file has: the SQL text by name.
type layout map[string]string

// readLayout looks which of our objects are there.
func readLayout(ctx context.Context, q sqlx.QueryerContext) (layout, error) {
	rows, err := q.QueryContext(ctx, `
		SELECT name, coalesce(sql, '') FROM sqlite_master
		WHERE name IN ('history', 'idx_history_created_at', 'idx_history_cwd_created_at', 'history_fts', 'history_ai')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	have := layout{}
	for rows.Next() {
		var name, sql string
		if err := rows.Scan(&name, &sql); err != nil {
			return nil, err
		}
		have[name] = sql
	}
	return have, rows.Err()
}

func (l layout) has(name string) bool { _, ok := l[name]; return ok }

// old reports a table whose default needs a function that older SQLites lack.
func (l layout) old() bool { return strings.Contains(l["history"], "unixepoch(") }

func (l layout) whole() bool { return len(l) == 5 && !l.old() }

// layOut makes what is missing of the schema and renews an old table. No row is
// ever lost: it is one transaction.
func layOut(ctx context.Context, db *migrations.DB) error {
	have, err := readLayout(ctx, db)
	if err != nil || have.whole() {
		return err
	}
	return db.Write(ctx, func(tx *sqlx.Tx) error {
		have, err := readLayout(ctx, tx) // another process may have been here
		if err != nil {
			return err
		}
		if have.old() {
			if err := renewTable(ctx, tx); err != nil {
				return fmt.Errorf("renew old table: %w", err)
			}
			for _, gone := range []string{"idx_history_created_at", "idx_history_cwd_created_at", "history_ai"} {
				delete(have, gone)
			}
		}
		for _, part := range []struct{ name, sql string }{
			{"history", createTable},
			{"idx_history_created_at", createTimeIndex},
			{"idx_history_cwd_created_at", createCwdIndex},
			{"history_fts", createText},
			{"history_ai", createTrigger},
		} {
			if have.has(part.name) {
				continue
			}
			if _, err := tx.ExecContext(ctx, part.sql); err != nil {
				return err
			}
		}
		if !have.has("history_fts") {
			_, err = tx.ExecContext(ctx, rebuildText)
		}
		return err
	})
}

// renewTable puts a table with today's default in the place of an old one. Ids
// stay, so the full-text rows stay right; indexes and trigger go with the old
// table.
func renewTable(ctx context.Context, tx *sqlx.Tx) error {
	for _, sql := range []string{
		`ALTER TABLE history RENAME TO history_old`,
		`DROP TRIGGER IF EXISTS history_ai`,
		createTable,
		`INSERT INTO history (id, prompt, created_at, cwd)
		 SELECT id, prompt, created_at, cwd FROM history_old`,
		// Ids of rows that were deleted are not given again.
		`UPDATE sqlite_sequence SET seq = max(seq, coalesce(
			(SELECT o.seq FROM sqlite_sequence o WHERE o.name = 'history_old'), 0))
		 WHERE name = 'history'`,
		`DROP TABLE history_old`,
	} {
		if _, err := tx.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
