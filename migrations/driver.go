package migrations

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // registers the driver
)

// driverName is the one place that says which SQLite this is.
const driverName = "sqlite"

// logLimitBytes is what a write-ahead log is cut to once it is empty again.
const logLimitBytes = 32 << 20

// access is how a connection reaches the file.
type access uint8

const (
	readWrite access = iota
	queryOnly        // never writes a row; the last one to close takes -wal and -shm away
	readOnly         // writes nothing, and leaves -wal and -shm behind if it made them
	immutable        // reads the file alone: no locks, no log
)

// dsn names path for the driver. What each connection must have stands here, so
// that the pool can't hand out one without it. The busy timeout comes first:
// changing the journal mode may already have to wait.
func dsn(path string, a access, journal Journal, busy time.Duration) string {
	slash := filepath.ToSlash(path)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // a Windows drive: file:///C:/…
	}
	pragmas := []string{"busy_timeout(" + strconv.FormatInt(busy.Milliseconds(), 10) + ")"}
	query := "_error_rc=1&_txlock=immediate"
	switch a {
	case readWrite:
		pragmas = append(pragmas,
			"journal_mode("+string(journal)+")",
			"synchronous(NORMAL)",
			"journal_size_limit("+strconv.Itoa(logLimitBytes)+")")
	case queryOnly:
		query += "&mode=rw"
		pragmas = append(pragmas, "query_only(1)")
	case readOnly:
		query += "&mode=ro"
	case immutable:
		query += "&mode=ro&immutable=1"
	}
	pragmas = append(pragmas, "foreign_keys(1)")
	for _, p := range pragmas {
		query += "&_pragma=" + url.QueryEscape(p)
	}
	return (&url.URL{Scheme: "file", Path: slash, RawQuery: query}).String()
}
