package migrations

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// fullTextParts are the ends of the names of the tables that SQLite itself makes
// for a full-text table without content. How they are made is its own affair.
var fullTextParts = [...]string{"_config", "_data", "_idx"}

// indexDDL are the statements of set Index, by the name of what they make; ""
// is a table that only has to be there. A migration makes and drops, indexes by
// name, and none alters: a test compares this with what SQLite says of a fresh database.
var indexDDL = sync.OnceValues(func() (map[string]string, error) {
	names, err := fs.Glob(files, string(Index)+"/*.sql")
	if err != nil {
		return nil, err
	}
	made := map[string]string{}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, statement := range strings.Split(plainDDL(string(text)), ";") {
			statement = strings.TrimSpace(statement)
			if gone, ok := strings.CutPrefix(statement, "DROP "); ok {
				delete(made, strings.SplitN(gone, " ", 3)[1]) // after TABLE or INDEX
			}
			what, ok := strings.CutPrefix(statement, "CREATE ")
			if !ok {
				continue
			}
			what, fullText := strings.CutPrefix(what, "VIRTUAL ")
			name := strings.SplitN(what, " ", 3)[1] // after TABLE or INDEX
			made[name] = statement
			for _, part := range fullTextParts {
				if fullText {
					made[name+part] = ""
				}
			}
		}
	}
	return made, nil
})

// plainDDL is a statement without comments and with one blank where there is
// any white space.
func plainDDL(statement string) string {
	var b strings.Builder
	for line := range strings.Lines(statement) {
		line, _, _ = strings.Cut(line, "--")
		for word := range strings.FieldsSeq(line) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

// CheckSchema reports ErrSchema unless each table and index of set Index is
// there as its migrations make it, and no trigger changes rows behind them. What
// somebody has added beside them is no matter.
func (db *DB) CheckSchema(ctx context.Context) error {
	want, err := indexDDL()
	if err != nil {
		return err
	}
	var found []struct {
		Type string `db:"type"`
		Name string `db:"name"`
		SQL  string `db:"sql"`
	}
	if err := db.SelectContext(ctx, &found, `SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_master`); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range found {
		if f.Type == "trigger" {
			return fmt.Errorf("%w: trigger %s", ErrSchema, f.Name)
		}
		statement, ours := want[f.Name]
		if !ours {
			continue
		}
		if statement != "" && statement != plainDDL(f.SQL) {
			return fmt.Errorf("%w: %s %s", ErrSchema, f.Type, f.Name)
		}
		there[f.Name] = true
	}
	for name := range want {
		if !there[name] {
			return fmt.Errorf("%w: %s is missing", ErrSchema, name)
		}
	}
	return nil
}
