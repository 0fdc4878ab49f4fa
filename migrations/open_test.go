package migrations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// childEnv makes the test binary one more process that opens a database.
const childEnv = "GJC_INDEX_TEST_OPEN"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(openAsChild(path))
	}
	os.Exit(m.Run())
}

// openAsChild opens path, writes a row and closes.
func openAsChild(path string) int {
	ctx := context.Background()
	db, err := Open(ctx, storage.Disk(storage.Policy{}), path, Index, Options{})
	if err == nil {
		err = db.Write(ctx, func(tx *sqlx.Tx) error {
			return insert(tx, fmt.Sprint("child ", os.Getpid()))
		})
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// insert puts a name into a table that no migration knows.
func insert(tx *sqlx.Tx, name string) error {
	if _, err := tx.Exec(`CREATE TABLE IF NOT EXISTS probe (name TEXT)`); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO probe (name) VALUES (?)`, name)
	return err
}

func open(t *testing.T, path string, set Set, opt Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, set, opt)
	if err != nil {
		t.Fatalf("Open(%q) = %v", path, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return db
}

func TestOpenMakesOwnerOnlyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, Index, Options{})
	if err := db.Write(t.Context(), func(tx *sqlx.Tx) error {
		return insert(tx, "a")
	}); err != nil {
		t.Fatalf("Write() = %v", err)
	}
	got := map[string]fs.FileMode{}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = info.Mode()
	}
	want := map[string]fs.FileMode{"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestEachConnectionHasThePragmas(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a b%20?#é.db"), Index, Options{})
	for i := range 4 {
		conn, err := db.Connx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		got := map[string]string{}
		want := map[string]string{
			"busy_timeout": "5000", "foreign_keys": "1", "journal_mode": "wal", "synchronous": "1",
		}
		for name := range want {
			var value string
			if err := conn.GetContext(t.Context(), &value, `PRAGMA `+name); err != nil {
				t.Fatal(err)
			}
			got[name] = value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("connection %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestManyProcessesOpenAFreshDatabase(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "index.db")
	const children = 16
	var wg sync.WaitGroup
	for range children {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), childEnv+"="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child: %v: %s", err, out)
			}
		})
	}
	wg.Wait()
	db := open(t, path, Index, Options{})
	var rows, versions, doubled int
	if err := db.Get(&rows, `SELECT count(*) FROM probe`); err != nil {
		t.Fatal(err)
	}
	if err := db.Get(&versions, `SELECT count(DISTINCT version_id) FROM goose_db_version`); err != nil {
		t.Fatal(err)
	}
	if err := db.Get(&doubled, `SELECT count(*) FROM goose_db_version`); err != nil {
		t.Fatal(err)
	}
	if rows != children || versions != doubled {
		t.Errorf("rows %d of %d, %d migrations noted in %d rows", rows, children, versions, doubled)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		opt  Options
		is   func(error) bool
	}{
		{"a missing file when reading only", func(*testing.T, string) {}, Options{ReadOnly: true},
			func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"a symbolic link", func(t *testing.T, path string) { must(t, os.Symlink("/nowhere", path)) }, Options{},
			func(err error) bool { return errors.Is(err, storage.ErrUnsafe) }},
		{"a directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, Options{},
			func(err error) bool { return errors.Is(err, storage.ErrUnsafe) }},
		{"text", func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte("this is no database, whatever its name may say; it is long enough to have had a header, too, and goes on."), 0o600))
		}, Options{}, Damaged},
		{"a newer schema", func(t *testing.T, path string) {
			db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, Index, Options{})
			must(t, err)
			_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999999, 1)`)
			must(t, errors.Join(err, db.Close()))
		}, Options{}, func(err error) bool { return errors.Is(err, ErrNewer) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			tt.make(t, path)
			db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, Index, tt.opt)
			if err == nil {
				must(t, db.Close())
			}
			if !tt.is(err) {
				t.Errorf("Open() = %v", err)
			}
		})
	}
}

func TestReadOnlySeesTheLogAndChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, Index, Options{})
	must(t, db.Write(t.Context(), func(tx *sqlx.Tx) error {
		return insert(tx, "a")
	}))
	ro := open(t, path, Index, Options{ReadOnly: true})
	var got string
	must(t, ro.Get(&got, `SELECT name FROM probe`))
	if got != "a" {
		t.Errorf("name = %q, want a", got)
	}
	if _, err := ro.Exec(`DELETE FROM probe`); !Unusable(err) {
		t.Errorf("DELETE = %v, want an error that is Unusable", err)
	}
}

func TestReadingLeavesTheDirectoryAsItWas(t *testing.T) {
	tests := []struct {
		name string
		made func(t *testing.T, path string)
	}{
		{"closed by its writer", func(t *testing.T, path string) {
			db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, Index, Options{})
			must(t, err)
			must(t, db.Write(t.Context(), func(tx *sqlx.Tx) error { return insert(tx, "a") }))
			must(t, db.Close())
		}},
		{"open elsewhere", func(t *testing.T, path string) {
			db := open(t, path, Index, Options{})
			must(t, db.Write(t.Context(), func(tx *sqlx.Tx) error { return insert(tx, "a") }))
		}},
		{"empty", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			tt.made(t, path)
			want := shape(t, filepath.Dir(path))
			for range 2 {
				db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, History, Options{ReadOnly: true})
				must(t, err)
				var n int
				must(t, db.Get(&n, `SELECT count(*) FROM sqlite_master`))
				if _, err := db.Exec(`CREATE TABLE x (y)`); !Unusable(err) {
					t.Errorf("CREATE TABLE = %v, want an error that is Unusable", err)
				}
				must(t, db.Close())
			}
			if diff := cmp.Diff(want, shape(t, filepath.Dir(path))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// shape gives size and time of each file of dir, times of -shm apart: readers
// note there how far they have read.
func shape(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	all := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		all[e.Name()] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
		if filepath.Ext(e.Name()) == ".db-shm" {
			all[e.Name()] = ""
		}
	}
	return all
}

func TestFallbackJournalTakesTheFileOutOfWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db, err := Open(t.Context(), storage.Disk(storage.Policy{}), path, Index, Options{})
	must(t, err)
	must(t, db.Close())
	pool, err := dialWithoutLog(t.Context(), path, Options{Fallback: Truncate, BusyTimeout: DefaultBusyTimeout})
	must(t, err)
	defer func() { must(t, pool.Close()) }()
	must(t, hasJournal(t.Context(), pool, Truncate))
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("-wal: %v, want none", err)
	}
}

func TestTryWriteDoesNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db, other := open(t, path, Index, Options{}), open(t, path, Index, Options{})
	must(t, other.Write(t.Context(), func(*sqlx.Tx) error {
		start := time.Now()
		err := db.TryWrite(t.Context(), func(*sqlx.Tx) error { return nil })
		if !Busy(err) || time.Since(start) > 2*time.Second {
			t.Errorf("TryWrite() = %v after %v, want busy at once", err, time.Since(start))
		}
		return nil
	}))
	must(t, db.TryWrite(t.Context(), func(tx *sqlx.Tx) error {
		if err := db.TryWrite(t.Context(), nil); !Busy(err) {
			t.Errorf("TryWrite() inside = %v, want busy", err)
		}
		var ms int
		must(t, tx.Get(&ms, `PRAGMA busy_timeout`))
		if ms != 5000 {
			t.Errorf("busy_timeout = %d afterwards", ms)
		}
		return nil
	}))
}

func TestWriteRollsBack(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), Index, Options{})
	bad := errors.New("bad")
	err := db.Write(t.Context(), func(tx *sqlx.Tx) error {
		return errors.Join(insert(tx, "a"), bad)
	})
	var n int
	must(t, db.Get(&n, `SELECT count(*) FROM sqlite_master WHERE name = 'probe'`))
	if !errors.Is(err, bad) || n != 0 {
		t.Errorf("Write() = %v, %d rows; want bad and none", err, n)
	}
}

func TestHistoryMigratesOnlyWhenAsked(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "history.db"), History, Options{})
	var tables []string
	must(t, db.Select(&tables, `SELECT name FROM sqlite_master`))
	if len(tables) != 0 {
		t.Errorf("tables after Open: %q, want none", tables)
	}
	must(t, db.Migrate(t.Context()))
	must(t, db.Migrate(t.Context()))
	at, err := db.Version(t.Context())
	must(t, err)
	if want, err := target(History); at != want || err != nil {
		t.Errorf("Version() = %d, want %d (%v)", at, want, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
