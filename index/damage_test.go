package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/jmoiron/sqlx"
)

// simpleHome is a home of n sessions of two entries, one second apart.
func simpleHome(t testing.TB, n int) string {
	home := filepath.Join(t.TempDir(), "home")
	for i := range n {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		put(t, home, fmt.Sprintf("scope%d/s%04d.jsonl", i%2, i), fmt.Sprintf(`{"type":"session","version":5,"id":"s%04d","timestamp":"%s","cwd":"/work"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"%s","message":{"role":"user","content":"needle%04d"}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"%s","message":{"role":"assistant","content":"fine"}}
`, i, at, at, i, at))
	}
	return home
}

func sessionIDs(t testing.TB, x *Index, f Filter) []string {
	t.Helper()
	rows, _, err := x.Sessions(t.Context(), f)
	if err != nil {
		t.Fatalf("Sessions: %v", err)
	}
	var ids []string
	for row, err := range rows {
		if err != nil {
			t.Fatalf("Sessions: %v", err)
		}
		ids = append(ids, row.ID)
	}
	return ids
}

func TestSessionsAreListedWhateverIsWrongWithTheDatabase(t *testing.T) {
	change := func(t *testing.T, path, statement string) {
		db, err := sqlx.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, path, text string) {
		for _, side := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + side)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		note  string // "" if there must be none
		aside bool
	}{
		{name: "missing", spoil: func(t *testing.T, path string) { _ = os.Remove(path) }},
		{name: "empty file", spoil: func(t *testing.T, path string) { write(t, path, "") }},
		{name: "no database", spoil: func(t *testing.T, path string) { write(t, path, strings.Repeat("garbage ", 1000)) }, note: "damaged", aside: true},
		{name: "cut", spoil: func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(data[:len(data)/2]))
		}, note: "damaged", aside: true},
		{name: "pages overwritten", spoil: func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 4096; i < len(data); i++ {
				data[i] = 0xA5
			}
			write(t, path, string(data))
		}, note: "damaged", aside: true},
		{name: "newer schema", spoil: func(t *testing.T, path string) {
			change(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
		}, note: "newer"},
		{name: "half migrated", spoil: func(t *testing.T, path string) {
			change(t, path, `DELETE FROM goose_db_version WHERE version_id > 0`)
		}, note: "damaged", aside: true},
		{name: "a table is missing", spoil: func(t *testing.T, path string) { change(t, path, `DROP TABLE entries`) }, note: "damaged", aside: true},
		{name: "rows were deleted", spoil: func(t *testing.T, path string) { change(t, path, `DELETE FROM sessions`) }},
		{name: "one row is left", spoil: func(t *testing.T, path string) { change(t, path, `DELETE FROM sessions WHERE key > 1`) }},
		{name: "never built", spoil: func(t *testing.T, path string) {
			change(t, path, `DELETE FROM meta; DELETE FROM sessions; DELETE FROM scopes`)
		}},
		{name: "a directory has the name", spoil: func(t *testing.T, path string) {
			_ = os.Remove(path)
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, note: "can't be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := simpleHome(t, 5)
			x := openAt(t, home, Options{})
			refresh(t, x)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(home, "index.db")
			tt.spoil(t, path)
			for _, id := range []string{"s0005", "s0006"} {
				put(t, home, "scope0/"+id+".jsonl", `{"type":"session","version":5,"id":"`+id+`","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}`+"\n")
			}
			x = openAt(t, home, Options{})
			if _, err := x.Refresh(t.Context()); err != nil {
				t.Fatalf("Refresh: %v", err)
			}
			if got := sessionIDs(t, x, Filter{}); len(got) != 7 {
				t.Errorf("Sessions = %q, want 7", got)
			}
			found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0003")})
			if err != nil || len(found.Hits) != 1 {
				t.Errorf("Search = %+v, %v, want one hit", found, err)
			}
			notes := strings.Join(x.Notes(), "; ")
			if (tt.note == "") != (notes == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("Notes = %q, want %q", notes, tt.note)
			}
			aside, _ := filepath.Glob(path + ".*.damaged")
			if tt.aside != (len(aside) == 1) {
				t.Errorf("set aside: %q, want %v", aside, tt.aside)
			}
		})
	}
}

func TestDamageFoundWhileAnsweringIsMended(t *testing.T) {
	home := simpleHome(t, 40)
	x := openAt(t, home, Options{})
	refresh(t, x)
	x.spoiled(t.Context()) // what an operation does that meets damage
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := sessionIDs(t, x, Filter{}); len(got) != 40 {
		t.Errorf("%d sessions, want 40", len(got))
	}
}

func TestFewDamagedDatabasesAreKept(t *testing.T) {
	home := simpleHome(t, 1)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 6 {
		if err := os.WriteFile(filepath.Join(home, "index.db"), []byte(strings.Repeat("x", 5000)), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
		x := openAt(t, home, Options{Now: func() time.Time { return now }})
		if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(home, "index.db.*.damaged")); len(kept) != maxSetAside {
		t.Errorf("%d damaged databases kept, want %d", len(kept), maxSetAside)
	}
}

func TestBusyDatabaseIsNotWaitedFor(t *testing.T) {
	home := simpleHome(t, 3)
	x := openAt(t, home, Options{BusyTimeout: 100 * time.Millisecond})
	refresh(t, x)
	holder, err := sqlx.Open("sqlite", "file:"+filepath.Join(home, "index.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := holder.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	put(t, home, "scope0/new.jsonl", `{"type":"session","version":5,"id":"new","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"fresh prompt"}}
`)
	if err := os.Remove(filepath.Join(home, "sessions", "scope0", "s0002.jsonl")); err != nil {
		t.Fatal(err)
	}
	rep, err := x.Refresh(t.Context())
	if err != nil || !rep.Busy {
		t.Errorf("Refresh beside a writer = %+v, %v, want busy", rep, err)
	}
	if got := strings.Join(sessionIDs(t, x, Filter{}), " "); got != "new s0001 s0000" {
		t.Errorf("Sessions beside a writer = %q", got)
	}
	if got := strings.Join(sessionIDs(t, x, Filter{Limit: 1, Offset: 1}), " "); got != "s0001" {
		t.Errorf("second session beside a writer = %q", got)
	}
	found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("FRESH")})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("Search beside a writer = %+v, %v", found, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err = x.Refresh(t.Context())
	if err != nil || rep.Busy || rep.Added != 1 || rep.Removed != 1 {
		t.Errorf("Refresh after the writer = %+v, %v", rep, err)
	}
	if got := strings.Join(sessionIDs(t, x, Filter{}), " "); got != "new s0001 s0000" {
		t.Errorf("Sessions after the writer = %q", got)
	}
}

func TestFirstBuildBesideAnotherAnswersFromTheFiles(t *testing.T) {
	home := simpleHome(t, 3)
	x := openAt(t, home, Options{BusyTimeout: 50 * time.Millisecond})
	holder, err := sqlx.Open("sqlite", "file:"+filepath.Join(home, "index.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	rep, err := x.Refresh(t.Context())
	if err != nil || !rep.Busy || !rep.NoIndex {
		t.Errorf("Refresh = %+v, %v, want busy and no index", rep, err)
	}
	if got := strings.Join(sessionIDs(t, x, Filter{}), " "); got != "s0002 s0001 s0000" {
		t.Errorf("Sessions = %q", got)
	}
	found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0001")})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("Search = %+v, %v", found, err)
	}
}

func TestSessionsAreListedFromTheFilesDuringTheFirstBuild(t *testing.T) {
	asked := false
	var x *Index
	var during string
	x = openAt(t, simpleHome(t, 3), Options{Progress: func(p Progress) {
		if !asked && p.Files == 2 {
			asked = true
			during = strings.Join(sessionIDs(t, x, Filter{}), " ")
		}
	}})
	if rep, err := x.Refresh(t.Context()); err != nil || rep.Added != 3 {
		t.Fatalf("Refresh = %+v, %v", rep, err)
	}
	if want := "s0002 s0001 s0000"; !asked || during != want {
		t.Errorf("Sessions during the build = %q, want %q", during, want)
	}
	if x.unstored() != nil {
		t.Error("after the build answers still come from the files")
	}
}

func TestManyOpenAFreshIndexAtOnce(t *testing.T) {
	home := simpleHome(t, 30)
	errs := make(chan error)
	const many = 16
	for range many {
		go func() {
			errs <- func() error {
				x, err := Open(context.Background(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{})
				if err != nil {
					return err
				}
				defer x.Close()
				if _, err := x.Refresh(context.Background()); err != nil {
					return err
				}
				rows, total, err := x.Sessions(context.Background(), Filter{})
				if err != nil {
					return err
				}
				for range rows {
				}
				if total != 30 || len(x.Notes()) > 0 {
					return fmt.Errorf("%d sessions, notes %q", total, x.Notes())
				}
				return nil
			}()
		}()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestNetworkHomeHasAnIndexWithoutALog(t *testing.T) {
	home := simpleHome(t, 3)
	local := openAt(t, home, Options{})
	refresh(t, local) // made where a log works, then moved
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, home, "scope0/late.jsonl", `{"type":"session","version":5,"id":"late","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}`+"\n")
	network := Options{Network: func(string) bool { return true }}
	x := openAt(t, home, network)
	if rep := refresh(t, x); rep.Added != 1 || rep.NoIndex {
		t.Errorf("Refresh = %+v, want one added", rep)
	}
	other := openAt(t, home, network)
	for _, x := range []*Index{x, other} {
		if got := sessionIDs(t, x, Filter{}); len(got) != 4 {
			t.Errorf("Sessions = %q, want 4", got)
		}
		if s, err := x.Status(t.Context()); err != nil || s.Journal != string(migrations.Truncate) {
			t.Errorf("Status = %+v, %v, want journal %s", s, err, migrations.Truncate)
		}
	}
	for _, side := range []string{"-wal", "-shm"} {
		if _, err := os.Lstat(filepath.Join(home, "index.db"+side)); err == nil {
			t.Errorf("index.db%s was made", side)
		}
	}
	checkEqual(t, x)
}

func TestReadingMakesNoHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "none")
	x := openAt(t, home, Options{})
	if rep, err := x.Refresh(t.Context()); err != nil || rep.Files != 0 {
		t.Errorf("Refresh = %+v, %v", rep, err)
	}
	if got := sessionIDs(t, x, Filter{}); got != nil {
		t.Errorf("Sessions = %q", got)
	}
	if _, err := os.Lstat(home); err == nil {
		t.Error("the home was made")
	}
}

func TestExplicitDirectoryIsReadFromItsFiles(t *testing.T) {
	home := simpleHome(t, 4)
	dir := filepath.Join(home, "sessions", "scope0")
	x, err := OpenDir(t.Context(), storage.Disk(storage.Policy{}), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if got := strings.Join(sessionIDs(t, x, Filter{}), " "); got != "s0002 s0000" {
		t.Errorf("Sessions = %q", got)
	}
	found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0002")})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("Search = %+v, %v", found, err)
	}
	if _, err := os.Lstat(filepath.Join(home, "index.db")); err == nil {
		t.Error("index.db was made")
	}
}
