package migrations

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

var (
	sqlComment = regexp.MustCompile(`--[^\n]*`)
	sqlBlanks  = regexp.MustCompile(`\s+`)
	sqlCreate  = regexp.MustCompile(`^CREATE (?:VIRTUAL )?(?:TABLE|INDEX) (\w+)`)
)

// fullTextParts are the ends of the names of the tables that SQLite itself makes
// for a full-text table without content. How they are made is its own affair.
var fullTextParts = [...]string{"_config", "_data", "_idx"}

// indexDDL are the statements of set Index, by the name of what they make; ""
// is a table that only has to be there. Each migration makes and none alters: a
// test compares this with what SQLite says of a fresh database.
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
		for _, statement := range strings.Split(sqlComment.ReplaceAllString(string(text), ""), ";") {
			statement = plainDDL(statement)
			found := sqlCreate.FindStringSubmatch(statement)
			if found == nil {
				continue
			}
			made[found[1]] = statement
			if strings.Contains(statement, " USING fts5 ") {
				for _, part := range fullTextParts {
					made[found[1]+part] = ""
				}
			}
		}
	}
	return made, nil
})

// plainDDL is a statement without comments and with one blank where there is
// any white space.
func plainDDL(statement string) string {
	return strings.TrimSpace(sqlBlanks.ReplaceAllString(sqlComment.ReplaceAllString(statement, ""), " "))
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
