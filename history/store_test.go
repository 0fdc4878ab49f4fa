package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func realDisk() storage.FS { return storage.Disk(storage.Policy{}) }

// open opens the history of a directory with a clock that stands at noon.
func open(t testing.TB, dir string, opt Options) *Store {
	t.Helper()
	if opt.Now == nil {
		opt.Now = func() time.Time { return noon }
	}
	s, err := Open(t.Context(), realDisk(), filepath.Join(dir, "history.db"), opt)
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// texts gives the texts of the whole table in the order of their ids.
func texts(t testing.TB, s *Store) []string {
	t.Helper()
	var all []string
	for p, err := range s.Rows(t.Context(), 0) {
		must(t, err)
		all = append(all, p.Text)
	}
	return all
}

func found(t testing.TB, s *Store, query string) []string {
	t.Helper()
	prompts, err := s.Search(t.Context(), Query{Text: query, Limit: 20})
	if err != nil {
		t.Fatalf("Search(%.40q) = %v", query, err)
	}
	var all []string
	for _, p := range prompts {
		all = append(all, p.Text)
	}
	return all
}

func TestTrimIsECMAScripts(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"ASCII and no-break space", " \t\n\v\f\r\u00a0a b\u00a0 ", "a b"},
		{"byte order mark and wide spaces", "\ufeffa\u3000\u2028\u2029\u202f\u205f\u1680\u2000\u200a", "a"},
		{"what Go would trim stays", "\u0085a\u0085", "\u0085a\u0085"},
		{"a zero-width space is none", "\u200ba\u180e", "\u200ba\u180e"},
		{"nothing but space", " \n\ufeff", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Trim(tt.text); got != tt.want {
				t.Errorf("Trim(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	for n, want := range map[float64]int{
		0: 0, -3: 0, 2.9: 2, 1000: 1000, 1001: 1000, 1e300: 1000, -1e300: 0,
		math.Inf(1): 0, math.Inf(-1): 0, 0.5: 0,
	} {
		if got := Limit(n); got != want {
			t.Errorf("Limit(%v) = %d, want %d", n, got, want)
		}
	}
	if got := Limit(math.NaN()); got != 0 {
		t.Errorf("Limit(NaN) = %d, want 0", got)
	}
}

func TestLowerIsECMAScripts(t *testing.T) {
	for text, want := range map[string]string{
		"ABC": "abc", "ÄÖ": "äö", "İzmir": "i\u0307zmir", "ΟΔΟΣ": "οδος", "Σ": "σ", "ΣΑ": "σα", "ΑΣ.": "ας.", "ΑΣ Β": "ας β", "Α.Σ": "α.ς",
	} {
		if got := lower(text); got != want {
			t.Errorf("lower(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTextsComeBackByteForByte(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	want := []string{
		"first line\nsecond line\n\tthird", "one\r\ntwo", "plant 🌱 seeds 👩‍🌾", "nul \x00 inside", "100% \\ 'quoted' \"\"",
		"설정 파일을 찾아서", "cafe\u0301", strings.Repeat("paste lorem ", 17_000) + "endword", "/compact keep the plan",
	}
	for _, text := range want {
		must(t, s.Add(text, nil))
	}
	must(t, s.Flush(t.Context()))
	if diff := cmp.Diff(want, texts(t, s)); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	if got := found(t, s, "ENDWORD"); len(got) != 1 || got[0] != want[7] {
		t.Errorf("Search(ENDWORD) found %d", len(got))
	}
}

func TestBrokenTextIsStoredAsUTF8(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, s.Add("a\xffb", nil))
	must(t, s.Flush(t.Context()))
	if diff := cmp.Diff([]string{"a\ufffdb"}, texts(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAddGoesOnWhileAnotherHoldsTheLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	other := rawDB(t, dir)
	must(t, other.Write(t.Context(), func(*sqlx.Tx) error {
		for i := range 100 {
			must(t, s.Add(fmt.Sprint("prompt ", i), nil))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Flush(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Flush() while locked = %v, want canceled", err)
		}
		return nil
	}))
	must(t, s.Flush(t.Context()))
	if got := len(texts(t, s)); got != 100 {
		t.Errorf("%d rows, want 100", got)
	}
}

func TestFlushNamesALockThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		other := rawDB(t, dir)
		must(t, other.Write(t.Context(), func(*sqlx.Tx) error {
			must(t, s.Add("a", nil))
			if err := s.Flush(t.Context()); !errors.Is(err, ErrBusy) {
				t.Errorf("Flush() = %v, want ErrBusy", err)
			}
			return nil
		}))
		must(t, s.Flush(t.Context()))
	})
}

func TestOpenDoesNotWaitForAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir, Options{})
		must(t, rawDB(t, dir).Write(t.Context(), func(*sqlx.Tx) error {
			start := time.Now() // the bubble's clock moves only while all wait
			open(t, dir, Options{Journal: true})
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("Open() took %v", took)
			}
			return nil
		}))
	})
}

func TestANewerVersionsAdditionsStopOnlyDeletions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	must(t, s.Add("a", nil))
	must(t, s.Flush(t.Context()))
	_, err := s.DeleteText(t.Context(), "b")
	must(t, err)
	_, err = s.db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999999, 1)`)
	must(t, errors.Join(err, s.Close()))
	s = open(t, dir, Options{})
	if diff := cmp.Diff([]string{"a"}, found(t, s, "a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := s.DeleteText(t.Context(), "a"); !errors.Is(err, migrations.ErrNewer) {
		t.Errorf("DeleteText() = %v, want ErrNewer", err)
	}
}

func rawDB(t testing.TB, dir string) *migrations.DB {
	t.Helper()
	db, err := migrations.Open(t.Context(), realDisk(), filepath.Join(dir, "history.db"), migrations.History, migrations.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func TestCloseStoresWhatIsQueued(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{BatchFor: time.Hour})
	must(t, s.Add("a", nil))
	must(t, s.Add("b", nil))
	must(t, s.Close())
	if err := s.Add("c", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Add() after Close = %v, want ErrClosed", err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, texts(t, open(t, dir, Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(t.Context(), realDisk(), filepath.Join(dir, "history.db"), Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open() of nothing = %v, want fs.ErrNotExist", err)
	}
	s := open(t, dir, Options{})
	must(t, s.Add("a", nil))
	must(t, s.Flush(t.Context()))
	ro := open(t, dir, Options{ReadOnly: true})
	if diff := cmp.Diff([]string{"a"}, found(t, ro, "a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for what, err := range map[string]error{
		"Add":     ro.Add("b", nil),
		"Rebuild": ro.Rebuild(t.Context()),
		"Delete":  second(ro.DeleteText(t.Context(), "a")),
		"Import":  second(ro.Import(t.Context(), nil)),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s() = %v, want ErrReadOnly", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestReadOnlyOpensWhatHasNoTables(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "history.db"), nil, 0o600))
	s := open(t, dir, Options{ReadOnly: true})
	if got := append(found(t, s, "a"), texts(t, s)...); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	_, err := s.Fingerprint(t.Context())
	must(t, err)
}

func TestDamageIsSaidAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "history.db")
	text := strings.Repeat("not a database ", 1000)
	must(t, os.WriteFile(name, []byte(text), 0o600))
	if _, err := Open(t.Context(), realDisk(), name, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("Open() = %v, want ErrDamaged", err)
	}
	got, err := os.ReadFile(name)
	must(t, err)
	if string(got) != text {
		t.Error("the file was changed")
	}
}

func TestFingerprintAndStampSeeOthers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	other := rawDB(t, dir)
	for i, sql := range []string{
		`INSERT INTO history (prompt, created_at) VALUES ('a', 5)`,
		`INSERT INTO history (prompt, created_at) VALUES ('b', 6)`,
		`DELETE FROM history WHERE id = 1`,
		`INSERT OR REPLACE INTO history (prompt, created_at) VALUES ('c', 6)`,
	} {
		before, err := s.Fingerprint(t.Context())
		must(t, err)
		stamp, err := StampOf(realDisk(), s.path)
		must(t, err)
		_, err = other.Exec(sql)
		must(t, err)
		after, err := s.Fingerprint(t.Context())
		must(t, err)
		stamp2, err := StampOf(realDisk(), s.path)
		must(t, err)
		if before == after || stamp == stamp2 {
			t.Errorf("%d: fingerprint %v, %v; stamp %v, %v", i, before, after, stamp, stamp2)
		}
	}
	want := Fingerprint{MaxID: 3, Count: 2}
	if got, err := s.Fingerprint(t.Context()); got != want || err != nil {
		t.Errorf("Fingerprint() = %v, %v; want %v", got, err, want)
	}
}
