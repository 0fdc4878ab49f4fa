package migrations

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNewer is a database whose schema a later version of this program made. It
// is left as it was found.
var ErrNewer = errors.New("database is of a newer version")

// ErrSchema is a database whose tables are not those of its version: somebody
// has changed them.
var ErrSchema = errors.New("database has other tables than its version has")

// errNoWAL is a file system on which SQLite can't keep a write-ahead log.
var errNoWAL = errors.New("write-ahead log is not possible here")

// errRaced rolls a migration back that another process has applied meanwhile.
var errRaced = errors.New("migration was applied by another process")

// errWriting is Busy for a writer of this very process.
var errWriting = errors.New("another write is under way")

// errUndo rolls a transaction back that was only to see whether it can be.
var errUndo = errors.New("undo")

// code gives SQLite's extended result code, or 0 for other errors. The low
// byte is the primary code.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// Damaged reports whether err says that the file's own bytes are bad: it must
// be rebuilt or restored. OutOfStep errors are damage too.
func Damaged(err error) bool {
	c := code(err)
	switch c & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	// A full-text table whose own tables are not as SQLite made them says so.
	broken := c == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "vtable constructor failed")
	return broken || c == sqlite3.SQLITE_IOERR_CORRUPTFS || c == sqlite3.SQLITE_IOERR_DATA
}

// OutOfStep reports whether err says that a full-text table doesn't agree with
// the table it indexes, or is damaged itself; 'rebuild' mends it.
func OutOfStep(err error) bool { return code(err) == sqlite3.SQLITE_CORRUPT_VTAB }

// BadStatement reports whether err says that a statement doesn't fit the tables:
// one of them, or a column, is not as it should be.
func BadStatement(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_MISMATCH:
		return true
	}
	return false
}

// Busy reports whether err says that another connection held the lock for
// longer than the busy timeout. The same call may work later.
func Busy(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return errors.Is(err, errWriting)
}

// Full reports whether err says that the disk or a quota is used up.
func Full(err error) bool {
	c := code(err)
	return c&0xff == sqlite3.SQLITE_FULL || c == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC)
}

// Refused reports whether err says that the file or its directory may not be
// written, or not be opened at all.
func Refused(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return true
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// Unusable reports whether err says that the database can't be used here and
// now although nothing says that its bytes are bad: it is Refused or Full, its
// log can't be made, the disk answers with errors, or the file was swapped
// under an open connection.
func Unusable(err error) bool {
	if Damaged(err) {
		return false
	}
	switch code(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS:
		return true
	}
	return Refused(err) || Full(err) || errors.Is(err, errNoWAL)
}

// FromSQLite reports whether err comes from SQLite: its text is no sentence for
// people.
func FromSQLite(err error) bool { return code(err) != 0 }
