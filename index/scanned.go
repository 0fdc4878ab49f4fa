package index

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/gajae-code/gjc-index/migrations"
)

// scanned are the files of the sessions that f selects, the last active first.
func (x *Index) scanned(ctx context.Context, f Filter) ([]ScanFile, error) {
	var files []ScanFile
	stored, err := x.fromRows(ctx, func(db *migrations.DB) (err error) {
		l := &listing{x: x, filter: f, latest: x.opt.Now().Add(futureAfter).UnixMilli()}
		files, err = l.files(ctx, db)
		return err
	})
	if stored || err != nil {
		return files, err
	}
	f.brief = true
	rows, _, err := x.Sessions(ctx, f)
	if err != nil {
		return nil, err
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		files = append(files, ScanFile{Path: row.Path, SessionID: row.ID, Cwd: row.Cwd, Archived: true})
	}
	return files, nil
}

// files are those of the rows selected.
func (l *listing) files(ctx context.Context, db *migrations.DB) ([]ScanFile, error) {
	where, args, err := l.where(ctx, db)
	if err != nil {
		return nil, err
	}
	key, keyArgs, direction := l.order()
	rows, err := db.QueryContext(ctx, `
		SELECT c.name, s.name, s.id, s.cwd, EXISTS (SELECT 1 FROM archives a WHERE a.session = s.key) FROM sessions s JOIN scopes c ON c.id = s.scope
		WHERE `+where+` ORDER BY `+key+` `+direction+`, c.name, s.name`, append(args, keyArgs...)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var files []ScanFile
	root := l.x.root()
	for rows.Next() {
		var scope, name string
		var id, cwd sql.NullString
		var archived bool
		if err := rows.Scan(&scope, &name, &id, &cwd, &archived); err != nil {
			return nil, err
		}
		files = append(files, ScanFile{Path: filepath.Join(root, scope, filepath.FromSlash(name)), SessionID: id.String, Cwd: cwd.String, Archived: archived})
	}
	return files, rows.Err()
}

// fromRows runs fn if the database has all there is; stored says whether fn has
// answered. An error that is not ctx's leaves the answer to the files.
func (x *Index) fromRows(ctx context.Context, fn func(db *migrations.DB) error) (stored bool, err error) {
	if x.unstored().sessions() {
		return false, nil
	}
	err = x.retrying(ctx, func(db *migrations.DB) error {
		if stored = db != nil; !stored {
			return nil
		}
		return fn(db)
	})
	if err != nil && ctx.Err() == nil {
		x.note("index can't be read now (" + reasonOf(err) + "): sessions are read from the files")
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list sessions: %w", err)
	}
	return stored, nil
}
