package index

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// testHome is a home in a directory of its own, with an index on it.
func openAt(t testing.TB, dir string, opt Options) *Index {
	t.Helper()
	if opt.Tick == nil {
		opt.Tick = func(string) time.Duration { return 0 }
	}
	x, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(dir), opt)
	if err != nil {
		t.Fatalf("Open(%s): %v", dir, err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return x
}

func refresh(t testing.TB, x *Index) Report {
	t.Helper()
	rep, err := x.Refresh(t.Context())
	if err != nil {
		t.Fatalf("Refresh: %v", err)
	}
	if notes := x.Notes(); len(notes) > 0 {
		t.Fatalf("Refresh left notes: %q", notes)
	}
	rep.Elapsed = 0
	return rep
}

func dump(t testing.TB, x *Index) string {
	t.Helper()
	var b bytes.Buffer
	if err := x.Dump(t.Context(), &b); err != nil {
		t.Fatalf("Dump: %v", err)
	}
	return b.String()
}

// put writes a file of a scope and makes its directory.
func put(t testing.TB, home, name, text string) string {
	t.Helper()
	path := filepath.Join(home, "sessions", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRefreshSeesACorpus(t *testing.T) {
	dir := t.TempDir()
	made, err := corpus.Generate(dir, corpus.Options{Files: 60, Bytes: 3 << 20})
	if err != nil {
		t.Fatal(err)
	}
	x := openAt(t, made.Home, Options{})
	first := refresh(t, x)
	if first.Added < made.Files || first.Files != first.Added {
		t.Errorf("first Refresh = %+v, want %d files", first, made.Files)
	}
	second := refresh(t, x)
	if second.Same != first.Files || second.Added+second.Changed+second.Removed != 0 || second.Bytes != 0 {
		t.Errorf("second Refresh = %+v, want all the same", second)
	}
	before := dump(t, x)
	if _, err := x.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, dump(t, x)); diff != "" {
		t.Errorf("Rebuild changed rows (-before +after):\n%s", diff)
	}
}

func TestFindTakesPathsIdsNamesAndPrefixes(t *testing.T) {
	home := simpleHome(t, 12)
	put(t, home, "scope0/2026-03-01_abc.jsonl", `{"type":"session","version":5,"id":"0195AB","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n")
	child := put(t, home, "scope0/s0000/kid.jsonl", `{"type":"session","version":5,"id":"kid","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n")
	bad := put(t, home, "scope0/bad.jsonl", "nothing\n")
	x := openAt(t, home, Options{})
	refresh(t, x)
	for _, tt := range []struct{ ref, want string }{
		{"s0003", "s0003.jsonl"},
		{"0195ab", "2026-03-01_abc.jsonl"},
		{"0195", "2026-03-01_abc.jsonl"},
		{"2026-03", "2026-03-01_abc.jsonl"},
		{"AB", "2026-03-01_abc.jsonl"},
		{"kid", "kid.jsonl"},
		{"ki", "kid.jsonl"},
		{child, "kid.jsonl"},
		{bad, "bad.jsonl"},
		{"bad", "bad.jsonl"},
		{"s00", "s00: 12 sessions begin so"},
		{"nope", "session nope: file does not exist"},
		{"", "session : file does not exist"},
		{"naïve", "session naïve: file does not exist"},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			row, err := x.Find(t.Context(), tt.ref)
			got := filepath.Base(row.Path)
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "session s")
				got = map[bool]string{true: "s" + got, false: err.Error()}[strings.HasPrefix(err.Error(), "session s0")]
			}
			if got != tt.want {
				t.Errorf("Find(%q) = %q, want %q", tt.ref, got, tt.want)
			}
		})
	}
	row, err := x.Find(t.Context(), "kid")
	if err != nil || !row.Child || row.Parent != "s0000" {
		t.Errorf("child = %+v, %v, want parent s0000", row, err)
	}
}
