package migrations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/jmoiron/sqlx"
)

// Set is a folder of migration files here.
type Set string

// The sets.
const (
	Index   Set = "index"   // run by Open
	History Set = "history" // run by DB.Migrate, when first needed
)

// Journal is how SQLite keeps a transaction that may have to be undone.
type Journal string

// The journal modes used.
const (
	WAL      Journal = "WAL"      // readers and one writer at once; needs shared memory
	Truncate Journal = "TRUNCATE" // works everywhere; a writer shuts out readers
)

// DefaultBusyTimeout is how long a connection waits for a lock.
const DefaultBusyTimeout = 5 * time.Second

// Options of Open. The zero value is right for a database that is written.
type Options struct {
	// ReadOnly opens what is there and changes nothing: a missing file is
	// fs.ErrNotExist, an older schema stays as it is.
	ReadOnly bool
	// Fallback is the journal mode to use where WAL can't work. Empty: Open
	// fails there with an error that is Unusable.
	Fallback Journal
	// NoLog is for places where a write-ahead log seems to work and doesn't, such
	// as network file systems: the journal is Truncate from the start.
	NoLog bool
	// BusyTimeout; 0 is DefaultBusyTimeout.
	BusyTimeout time.Duration
}

// Open opens the database at path, making it (mode 0600) if it is missing, and
// brings the schema of set Index up to date. Any number of processes may open a
// fresh database at once. The caller closes the result.
//
// Errors: ErrNewer and ErrSchema (set Index); storage.ErrUnsafe if path is no plain file; fs.ErrNotExist
// if ReadOnly and missing; else see Damaged, Busy and Unusable.
func Open(ctx context.Context, fsys storage.FS, path string, set Set, opt Options) (*DB, error) {
	if opt.BusyTimeout == 0 {
		opt.BusyTimeout = DefaultBusyTimeout
	}
	if err := prepareFile(ctx, fsys, path, opt.ReadOnly); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	pool, journal, err := connect(ctx, fsys, path, opt)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := newDB(pool, set, journal, opt)
	if err := db.settle(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	return db, nil
}

// settle brings the index's schema up to date, or, where nothing may be written,
// refuses a newer one. History is another program's file too: what a newer
// version of this one added to it matters only where it is used.
func (db *DB) settle(ctx context.Context) error {
	if db.set != Index {
		return nil
	}
	if !db.opt.ReadOnly {
		if err := db.Migrate(ctx); err != nil {
			return err
		}
		return db.CheckSchema(ctx)
	}
	at, err := db.Version(ctx)
	if err != nil {
		return err
	}
	return db.checkNotNewer(at)
}

// prepareFile makes the file before SQLite would, which gives it to everybody
// (0644); -wal and -shm take the mode of the file. An existing file keeps its
// mode. The new file gets its name only once its descriptor is closed: closing
// one on a file that SQLite has open drops SQLite's locks.
func prepareFile(ctx context.Context, fsys storage.FS, path string, readOnly bool) error {
	info, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && !readOnly {
		err = storage.Publish(ctx, fsys, path, 0o600, func(io.Writer) error { return nil })
		if errors.Is(err, fs.ErrExist) || errors.Is(err, storage.ErrUnsynced) {
			return nil // another process was first; or it is there, if not for sure
		}
		return err
	}
	if err != nil {
		return err
	}
	if info.Kind != storage.Regular {
		return &storage.UnsafeError{Path: path, Reason: "is not a regular file"}
	}
	return nil
}

// connect gives a pool whose first connection works, and the journal mode it
// has.
func connect(ctx context.Context, fsys storage.FS, path string, opt Options) (*sqlx.DB, Journal, error) {
	if opt.ReadOnly {
		pool, err := connectToRead(ctx, fsys, path, opt.BusyTimeout)
		return pool, "", err
	}
	if opt.NoLog {
		pool, err := connectWithoutLog(ctx, path, opt.BusyTimeout)
		return pool, Truncate, err
	}
	pool, err := dial(ctx, dsn(path, readWrite, WAL, opt.BusyTimeout), opt.BusyTimeout)
	if err == nil {
		if err = hasJournal(ctx, pool, WAL); err == nil {
			return pool, WAL, nil
		}
		err = errors.Join(err, pool.Close())
	}
	if opt.Fallback == "" || !Unusable(err) || Full(err) {
		return nil, "", err
	}
	pool, err = dialWithoutLog(ctx, path, opt)
	return pool, opt.Fallback, err
}

// connectWithoutLog opens the database with a journal that needs no shared memory.
// Only one that has a log must be taken out of that mode first.
func connectWithoutLog(ctx context.Context, path string, busy time.Duration) (*sqlx.DB, error) {
	pool, err := dial(ctx, dsn(path, readWrite, Truncate, busy), busy)
	if err == nil {
		if err = hasJournal(ctx, pool, Truncate); err == nil {
			return pool, nil
		}
		err = errors.Join(err, pool.Close())
	}
	if !Unusable(err) {
		return nil, err
	}
	return dialWithoutLog(ctx, path, Options{Fallback: Truncate, BusyTimeout: busy})
}

// connectToRead opens a pool that leaves the directory as it finds it. With a log
// there, SQLite can be told to write nothing. Without one it makes one even so,
// and only a connection that may write takes it away again.
func connectToRead(ctx context.Context, fsys storage.FS, path string, busy time.Duration) (*sqlx.DB, error) {
	how := readOnly
	if _, err := fsys.Lstat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		how = queryOnly
	}
	pool, err := dial(ctx, dsn(path, how, "", busy), busy)
	if err != nil && Unusable(err) && logIsEmpty(fsys, path) {
		// No -shm can be made here; without a log the file alone is whole.
		pool, err = dial(ctx, dsn(path, immutable, "", busy), busy)
	}
	return pool, err
}

// dialWithoutLog opens the database with the fallback journal. A file that is
// in WAL mode can be read without shared memory only under an exclusive lock,
// so one connection takes it out of that mode first.
func dialWithoutLog(ctx context.Context, path string, opt Options) (*sqlx.DB, error) {
	name := dsn(path, readWrite, opt.Fallback, opt.BusyTimeout)
	alone := strings.Replace(name, "&_pragma=journal_mode", "&_pragma=locking_mode%28EXCLUSIVE%29&_pragma=journal_mode", 1)
	first, err := dial(ctx, alone, opt.BusyTimeout)
	if err != nil {
		return nil, err
	}
	if err := first.Close(); err != nil {
		return nil, err
	}
	return dial(ctx, name, opt.BusyTimeout)
}

// dial opens a pool and makes it connect. Setting a journal mode and recovering
// a log can be busy without SQLite's waiting, as when many processes open a
// fresh file at once; then it is tried again for twice the busy timeout.
func dial(ctx context.Context, name string, busy time.Duration) (*sqlx.DB, error) {
	pool, err := sqlx.Open(driverName, name)
	if err != nil {
		return nil, err
	}
	err = whileBusy(ctx, 2*busy, func() error {
		var n int
		return pool.GetContext(ctx, &n, `SELECT count(*) FROM sqlite_master`)
	})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// whileBusy calls fn again, after a short random pause, as long as it says that
// the database is busy and limit has not passed.
func whileBusy(ctx context.Context, limit time.Duration, fn func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := fn()
		if err == nil || !Busy(err) || time.Now().After(deadline) {
			return err
		}
		pause := time.NewTimer(time.Duration(1+mathrand.IntN(20)) * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return errors.Join(ctx.Err(), err)
		case <-pause.C:
		}
	}
}

// hasJournal asks what the journal mode came to: SQLite keeps the old one, and
// says no more, where it can't have the one wanted.
func hasJournal(ctx context.Context, pool *sqlx.DB, want Journal) error {
	var got string
	if err := pool.GetContext(ctx, &got, `PRAGMA journal_mode`); err != nil {
		return err
	}
	if !strings.EqualFold(got, string(want)) {
		return errNoWAL
	}
	return nil
}

// logIsEmpty reports whether no write-ahead log holds anything.
func logIsEmpty(fsys storage.FS, path string) bool {
	info, err := fsys.Lstat(path + "-wal")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return info.Size == 0
}
