package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/jmoiron/sqlx"
)

// maxConns bounds the pool: one writer and some readers.
const maxConns = 8

// DB is an open SQLite database. Read through it directly, or through Prepared;
// write through Write. Safe for several goroutines.
type DB struct {
	*sqlx.DB
	set     Set
	journal Journal
	opt     Options

	writing chan struct{} // holds a token while a write transaction is open

	mu    sync.Mutex
	stmts map[string]*sqlx.Stmt
}

func newDB(pool *sqlx.DB, set Set, journal Journal, opt Options) *DB {
	pool.SetMaxOpenConns(maxConns)
	pool.SetMaxIdleConns(maxConns)
	return &DB{
		DB: pool, set: set, journal: journal, opt: opt,
		writing: make(chan struct{}, 1),
		stmts:   make(map[string]*sqlx.Stmt),
	}
}

// ReadOnly reports whether the database was opened for reading only.
func (db *DB) ReadOnly() bool { return db.opt.ReadOnly }

// Journal is the journal mode in use; "" if opened for reading only.
func (db *DB) Journal() Journal { return db.journal }

// Write runs fn in one IMMEDIATE transaction and commits it, or rolls it back
// if fn fails. Writers of one DB take turns; other processes are waited for at
// most the busy timeout (then Busy(err)), or until ctx ends. fn must not call
// Write.
func (db *DB) Write(ctx context.Context, fn func(tx *sqlx.Tx) error) error {
	return db.write(ctx, db, fn)
}

// WriteOn is Write on one connection of this database, which may have temporary
// tables of its own.
func (db *DB) WriteOn(ctx context.Context, conn *sqlx.Conn, fn func(tx *sqlx.Tx) error) error {
	return db.write(ctx, conn, fn)
}

// beginner is a pool or one connection.
type beginner interface {
	BeginTxx(ctx context.Context, opts *sql.TxOptions) (*sqlx.Tx, error)
}

func (db *DB) write(ctx context.Context, on beginner, fn func(tx *sqlx.Tx) error) error {
	select {
	case db.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.writing }()
	tx, err := on.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	return finish(tx, fn)
}

// TryWrite is Write for callers that have something better to do than to wait:
// if another process or goroutine is writing, it answers at once with an error
// that is Busy. Once the transaction has begun it is like Write.
func (db *DB) TryWrite(ctx context.Context, fn func(tx *sqlx.Tx) error) (err error) {
	select {
	case db.writing <- struct{}{}:
	default:
		return errWriting
	}
	defer func() { <-db.writing }()
	conn, err := db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		return err
	}
	tx, err := conn.BeginTxx(ctx, nil)
	// The pool gets the connection back as each of its connections must be.
	restore := fmt.Sprintf(`PRAGMA busy_timeout = %d`, db.opt.BusyTimeout.Milliseconds())
	if _, err2 := conn.ExecContext(context.WithoutCancel(ctx), restore); err2 != nil {
		err = errors.Join(err, err2)
	}
	if err != nil {
		if tx != nil {
			err = errors.Join(err, tx.Rollback())
		}
		return err
	}
	return finish(tx, fn)
}

// Writable says why nothing can be written, as far as that shows without writing:
// SQLite opens a file for reading, and doesn't say so, where it can't have it
// for writing. Another writer is no reason.
func (db *DB) Writable(ctx context.Context) error {
	err := db.TryWrite(ctx, func(tx *sqlx.Tx) error {
		// BEGIN IMMEDIATE alone passes; this is undone before it reaches the disk.
		if _, err := tx.ExecContext(ctx, `PRAGMA user_version = 1`); err != nil {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) || Busy(err) {
		return nil
	}
	return err
}

// finish runs fn in tx and ends tx on every way out, a panic included.
func finish(tx *sqlx.Tx, fn func(tx *sqlx.Tx) error) error {
	done := false
	defer func() {
		if !done {
			_ = tx.Rollback() // fn panicked; the panic says more than this
		}
	}()
	err := fn(tx)
	done = true
	if err == nil {
		return tx.Commit()
	}
	if err2 := tx.Rollback(); err2 != nil && !errors.Is(err2, sql.ErrTxDone) {
		err = errors.Join(err, err2)
	}
	return err
}

// Prepared gives the prepared statement of query, made once and kept until
// Close. In a transaction use tx.StmtxContext(ctx, stmt). The caller must not
// close it.
func (db *DB) Prepared(ctx context.Context, query string) (*sqlx.Stmt, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if s, ok := db.stmts[query]; ok {
		return s, nil
	}
	s, err := db.PreparexContext(ctx, query)
	if err != nil {
		return nil, err
	}
	db.stmts[query] = s
	return s, nil
}

// Checkpoint moves the write-ahead log into the database and empties it. It
// waits for nobody: if others read or write, part of the log stays for later,
// and whole is false.
func (db *DB) Checkpoint(ctx context.Context) (whole bool, err error) {
	if db.journal != WAL {
		return true, nil
	}
	var busy, frames, moved int
	row := db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	if err := row.Scan(&busy, &frames, &moved); err != nil {
		return false, err
	}
	return busy == 0 && frames == moved, nil
}

// Close closes all connections. The last connection of the last process moves
// the log into the database and removes -wal and -shm; a failure of that loses
// nothing, since the next one to open reads the log.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	var errs []error
	for query, s := range db.stmts {
		errs = append(errs, s.Close())
		delete(db.stmts, query)
	}
	return errors.Join(append(errs, db.DB.Close())...)
}
