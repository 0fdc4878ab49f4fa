package index

import (
	"context"
	"database/sql"
	"strings"

	"github.com/jmoiron/sqlx"
)

// inserter gathers rows of one table and inserts many with one statement,
// which is twice as fast as one by one.
type inserter struct {
	head string // INSERT OR FAIL INTO t (columns) VALUES: a failure ends the transaction, so no statement need be undone
	one  string // (?, ?, …)
	cols int
	most int // rows a statement
	args []any
	full *sql.Stmt
}

// insertArgs bounds the values of one statement.
const insertArgs = 1400

func newInserter(table string, columns ...string) *inserter {
	return &inserter{
		head: "INSERT OR FAIL INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES ",
		one:  "(?" + strings.Repeat(", ?", len(columns)-1) + ")",
		cols: len(columns), most: insertArgs / len(columns),
	}
}

func (i *inserter) statement(rows int) string {
	return i.head + i.one + strings.Repeat(", "+i.one, rows-1)
}

// add takes one row; it is in the table after flush.
func (i *inserter) add(ctx context.Context, tx *sqlx.Tx, values ...any) error {
	i.args = append(i.args, values...)
	if len(i.args) < i.most*i.cols {
		return nil
	}
	if i.full == nil {
		stmt, err := tx.PrepareContext(ctx, i.statement(i.most))
		if err != nil {
			return err
		}
		i.full = stmt
	}
	_, err := i.full.ExecContext(ctx, i.args...)
	i.args = i.args[:0]
	return err
}

// flush inserts what is left and closes the statement.
func (i *inserter) flush(ctx context.Context, tx *sqlx.Tx) error {
	if i.full != nil {
		if err := i.full.Close(); err != nil {
			return err
		}
		i.full = nil
	}
	if len(i.args) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, i.statement(len(i.args)/i.cols), i.args...)
	i.args = i.args[:0]
	return err
}
