package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed index/*.sql history/*.sql
var files embed.FS

// versionTable says which migrations were applied; goose's own name, so that
// its tools can read it.
const versionTable = goose.DefaultTablename

// Migrate brings the schema of the database's set up to date. Several processes
// may do so at once; each migration is applied once. Errors: ErrNewer, Busy.
func (db *DB) Migrate(ctx context.Context) error {
	return whileBusy(ctx, 2*db.opt.BusyTimeout, func() error {
		for {
			at, err := db.Version(ctx)
			if err != nil {
				return err
			}
			if err := db.checkNotNewer(at); err != nil {
				return err
			}
			target, err := target(db.set)
			if err != nil || at == target {
				return err
			}
			err = db.apply(ctx)
			if err == nil {
				return nil
			}
			// Another process may have been faster, whatever the error looks
			// like then (a table that exists); if so, go on from where it is.
			now, err2 := db.Version(ctx)
			if err2 != nil || now == at {
				return err
			}
		}
	})
}

// Version is the number of the last migration applied; 0 if none ever was.
func (db *DB) Version(ctx context.Context) (at int64, err error) {
	// One connection: another one may not see yet what this one does, while the
	// file is being made.
	conn, err := db.Connx(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var tables int
	if err := conn.GetContext(ctx, &tables, `
		SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, versionTable); err != nil {
		return 0, err
	}
	if tables == 0 {
		return 0, nil
	}
	var last sql.NullInt64
	err = conn.GetContext(ctx, &last, `SELECT max(version_id) FROM `+versionTable)
	return last.Int64, err
}

func (db *DB) checkNotNewer(at int64) error {
	ours, err := target(db.set)
	if err != nil {
		return err
	}
	if at > ours {
		return fmt.Errorf("%w: schema %d, ours is %d", ErrNewer, at, ours)
	}
	return nil
}

// target is the highest version among the files of set.
func target(set Set) (int64, error) {
	names, err := fs.Glob(files, string(set)+"/*.sql")
	if err != nil {
		return 0, err
	}
	var highest int64
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		highest = max(highest, n)
	}
	return highest, nil
}

// apply runs what is missing, each migration in one transaction with the row
// that says so.
func (db *DB) apply(ctx context.Context) error {
	folder, err := fs.Sub(files, string(db.set))
	if err != nil {
		return err
	}
	store, err := database.NewStore(database.DialectSQLite3, versionTable)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectCustom, db.DB.DB, folder,
		goose.WithStore(onceStore{store}), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate %s: %w", db.set, err)
	}
	return nil
}

// onceStore is goose's store for SQLite, made safe against other processes: it
// looks again, inside the transaction and so under the write lock, whether the
// version table or the migration has come into being meanwhile.
type onceStore struct{ database.Store }

// TableExists reports whether the version table is there.
func (s onceStore) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, `
		SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, s.Tablename()).Scan(&n)
	return n > 0, err
}

// CreateVersionTable makes the version table unless it is there.
func (s onceStore) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	switch there, err := s.TableExists(ctx, db); {
	case err != nil:
		return err
	case there:
		return nil
	}
	return s.Store.CreateVersionTable(ctx, db)
}

// Insert notes a version as applied. One that is noted already rolls the
// transaction back, and with it the second application of that migration.
func (s onceStore) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	_, err := s.GetMigration(ctx, db, req.Version)
	switch {
	case errors.Is(err, database.ErrVersionNotFound):
		return s.Store.Insert(ctx, db, req)
	case err != nil:
		return err
	case req.Version == 0:
		return nil // the row that comes with the table
	}
	return errRaced
}
