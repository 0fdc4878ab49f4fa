package index

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// pastHome is a home with a transcript's prompt and three rows of history.db.
func pastHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "--a--/s.jsonl", typedHeader("s")+typedLine("a", "mint tea", 1))
	rowsAt(t, dir, typedDay, []history.Prompt{{Text: "mint leaf", Time: typedDay.Add(2 * time.Second)},
		{Text: "mint oil", Time: typedDay.Add(3 * time.Second)}, {Text: "basil", Time: typedDay.Add(4 * time.Second)}}, nil)
	return dir
}

// other is another program's connection to history.db.
func other(t *testing.T, dir string) *sqlx.Conn {
	t.Helper()
	db, err := sqlx.Open("sqlite", filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = db.Close() })
	return conn
}

func execAll(t *testing.T, conn *sqlx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestRowsOfHistoryAreAsTheyAreNow changes history.db after it was indexed.
func TestRowsOfHistoryAreAsTheyAreNow(t *testing.T) {
	all := []string{"history 3s mint oil×1", "history 2s mint leaf×1", "session 1s mint tea×1"}
	tests := []struct {
		name    string
		change  func(t *testing.T, dir string)
		want    []string // of "mint"
		refresh []string // after a refresh; nil: the same
		lost    bool     // it is said that history can't be read
	}{
		{"as it was", func(*testing.T, string) {}, all, nil, false},
		{"row deleted", func(t *testing.T, dir string) {
			execAll(t, other(t, dir), `DELETE FROM history WHERE prompt = 'mint oil'`)
		}, []string{all[1], all[2]}, nil, false},
		{"row edited", func(t *testing.T, dir string) {
			execAll(t, other(t, dir), `UPDATE history SET prompt = 'mint oils' WHERE prompt = 'mint oil'`)
		}, []string{"history 3s mint oils×1", all[1], all[2]}, nil, false},
		{"row edited to another word", func(t *testing.T, dir string) {
			execAll(t, other(t, dir), `UPDATE history SET prompt = 'thyme' WHERE prompt = 'mint oil'`)
		}, []string{all[1], all[2]}, nil, false},
		{"vacuumed", func(t *testing.T, dir string) {
			execAll(t, other(t, dir), `DELETE FROM history WHERE prompt = 'basil'`, `VACUUM`)
		}, all, nil, false},
		{"replaced by another with as many rows", func(t *testing.T, dir string) {
			conn := other(t, dir)
			execAll(t, conn, `VACUUM INTO '`+filepath.Join(dir, "new.db")+`'`)
			if err := os.Rename(filepath.Join(dir, "new.db"), filepath.Join(dir, "history.db")); err != nil {
				t.Fatal(err)
			}
			execAll(t, other(t, dir), `UPDATE history SET prompt = 'mint ' || id, created_at = created_at + 10`)
		}, []string{"history 3s mint 2×1", "history 2s mint 1×1", all[2]},
			[]string{"history 14s mint 3×1", "history 13s mint 2×1", "history 12s mint 1×1", all[2]}, false},
		{"removed", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "history.db")); err != nil {
				t.Fatal(err)
			}
		}, []string{all[2]}, nil, false},
		{"damaged", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "history.db"), []byte(strings.Repeat("no database", 900)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{all[2]}, nil, true},
		{"locked", func(t *testing.T, dir string) {
			execAll(t, other(t, dir), `PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`)
		}, []string{all[2]}, nil, true},
	}
	for _, tt := range tests {
		for _, warm := range []bool{false, true} {
			t.Run(tt.name+map[bool]string{true: ", searched before"}[warm], func(t *testing.T) {
				dir := pastHome(t)
				x := openAt(t, dir, Options{BusyTimeout: 30 * time.Millisecond})
				refresh(t, x)
				if warm && !tt.lost {
					searched(t, x, all, false)
				}
				tt.change(t, dir)
				want := tt.want
				searched(t, x, want, tt.lost)
				if _, err := x.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				if tt.refresh != nil {
					want = tt.refresh
				}
				searched(t, x, want, tt.lost)
				if aside, _ := filepath.Glob(filepath.Join(dir, "index.db.*.damaged")); len(aside) > 0 {
					t.Errorf("set aside: %q", aside)
				}
			})
		}
	}
}

// searched wants these hits of "mint", found in each way.
func searched(t *testing.T, x *Index, want []string, lost bool) {
	t.Helper()
	for _, query := range []string{"mint", `MIN "int "`} {
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery(query)})
		if diff := cmp.Diff(want, shown(found.Hits)); diff != "" || err != nil {
			t.Errorf("Search %s, %v (-want +got):\n%s", query, err, diff)
		}
		if (found.History != "") != lost {
			t.Errorf("Search %s: history %q, lost %v", query, found.History, lost)
		}
	}
}

func TestRowsComeBackOnceALockIsGone(t *testing.T) {
	dir := pastHome(t)
	x := openAt(t, dir, Options{BusyTimeout: 30 * time.Millisecond})
	conn := other(t, dir)
	execAll(t, conn, `PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`)
	for range 2 { // builds without the rows
		if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	searched(t, x, []string{"session 1s mint tea×1"}, true)
	execAll(t, conn, `COMMIT`)
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	searched(t, x, []string{"history 3s mint oil×1", "history 2s mint leaf×1", "session 1s mint tea×1"}, false)
	checkEqual(t, x)
}
