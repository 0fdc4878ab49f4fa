package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// said appends a prompt of a session.
func said(t *testing.T, path, id, at, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(f, `{"type":"message","id":"%s","parentId":null,"timestamp":"%s","message":{"role":"user","content":"%s"}}`+"\n", id, at, text)
	if err2 := f.Close(); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
}

// typed notes a prompt in the history of a home.
func typed(t *testing.T, home, text string) {
	t.Helper()
	h, err := history.Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home).HistoryDB(), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add(text, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// changeMuch grows, rewrites, removes and adds a session of a simpleHome of 5.
func changeMuch(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, "sessions")
	said(t, filepath.Join(dir, "scope0", "s0000.jsonl"), "feedfeed", "2026-03-01T00:00:00.000Z", "grownword")
	put(t, home, "scope1/s0001.jsonl", `{"type":"session","version":5,"id":"s0001","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/other"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"rewritten"}}
{"type":"label","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:01.000Z","targetId":"00000001","label":"mark"}
`)
	if err := os.Remove(filepath.Join(dir, "scope0", "s0002.jsonl")); err != nil {
		t.Fatal(err)
	}
	put(t, home, "scope2/new.jsonl", `{"type":"session","version":5,"id":"new","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"user","content":"newword"}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-02-01T00:00:00.000Z","message":{"role":"assistant","content":"a","provider":"p","model":"m","usage":{"input":5,"output":2,"cost":{"total":0.5}}}}
`)
	typed(t, home, "typedword")
}

// answers are all that an index says of sessions, for comparison.
func answers(t *testing.T, x *Index) string {
	t.Helper()
	ctx, b := t.Context(), &strings.Builder{}
	for _, f := range []Filter{{}, {Sort: SortMessages}, {Sort: SortTitle, Limit: 2, Offset: 1}, {Cwd: "/other"}, {Damaged: DamagedToo, Children: true, Sort: SortSize}} {
		rows, total, err := x.Sessions(ctx, f)
		fmt.Fprintf(b, "list %+v: %d, %v\n", f, total, err)
		for row, err := range rows {
			fmt.Fprintf(b, "  %+v, %v\n", row, err)
		}
	}
	for _, word := range []string{"", "needle", "needle0000", "needle0001", "needle0002", "grownword", "rewritten", "newword", "typedword", "nowhere"} {
		for _, limit := range []int{0, 2} {
			found, err := x.Search(ctx, SearchRequest{Query: ParseQuery(word), Limit: limit})
			fmt.Fprintf(b, "search %q: %v, %v\n", word, found.Failed, err)
			for _, h := range found.Hits {
				if h.Source == SourceHistory {
					h.Time = time.Time{}
				}
				fmt.Fprintf(b, "  %+v\n", h)
			}
		}
	}
	usage, err := x.Usage(ctx, UsageFilter{By: UsageSession})
	fmt.Fprintf(b, "usage %d, %v\n", len(usage), err)
	for _, u := range usage {
		fmt.Fprintf(b, "  %s %v %v\n", u.Key, u.Input, u.Requests)
	}
	for h, err := range x.Typed(ctx) {
		fmt.Fprintf(b, "typed %s, %v\n", h.Text, err)
	}
	for _, name := range []string{"scope0/s0000", "scope1/s0001"} {
		labels, err := x.Labels(ctx, filepath.Join(x.root(), name+".jsonl"))
		fmt.Fprintf(b, "labels of %s: %+v, %v\n", name, labels, err)
	}
	s, err := x.Status(ctx)
	fmt.Fprintf(b, "status %d %d %d %d %d %d %d %d %d, %v\n", s.Files, s.Sessions, s.Children, s.Damaged, s.Empty, s.FileBytes, s.Entries, s.Labels, s.Prompts, err)
	return b.String()
}

// inOrder sorts the lines that come in no fixed order.
func inOrder(text string) []string {
	lines := strings.Split(text, "\n")
	var typed, rest []string
	for _, l := range lines {
		if strings.HasPrefix(l, "typed ") {
			typed = append(typed, l)
		} else {
			rest = append(rest, l)
		}
	}
	return append(rest, fmt.Sprint(len(typed), " typed"))
}

func TestAnswersBesideAWriterAreThoseOfTheFiles(t *testing.T) {
	home := simpleHome(t, 5)
	x := openAt(t, home, Options{BusyTimeout: 50 * time.Millisecond})
	refresh(t, x)
	holder, err := sqlx.Open("sqlite", "file:"+filepath.Join(home, "index.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	changeMuch(t, home)
	if rep, err := x.Refresh(t.Context()); err != nil || !rep.Busy {
		t.Fatalf("Refresh = %+v, %v, want busy", rep, err)
	}
	got := answers(t, x)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if rep, err := x.Refresh(t.Context()); err != nil || rep.Busy {
		t.Fatalf("Refresh = %+v, %v", rep, err)
	}
	if diff := cmp.Diff(inOrder(answers(t, x)), inOrder(got)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestAnswersWithoutADatabaseAreThoseOfTheIndex(t *testing.T) {
	home := simpleHome(t, 5)
	changeMuch(t, home)
	long := strings.Repeat(`{"type":"message","id":"0000000a","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"assistant","content":"`+strings.Repeat("x", 1000)+`"}}`+"\n", 500)
	long = strings.Replace(long, "0000000a", "0000000b", 1)
	for i := range 500 {
		long = strings.Replace(long, `"0000000a"`, fmt.Sprintf(`"%08x"`, 100+i), 1)
	}
	put(t, home, "scope2/big.jsonl", `{"type":"session","version":5,"id":"big","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n"+long)
	put(t, home, "scope2/big/1-task.jsonl", `{"type":"session","version":5,"id":"task","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n")
	put(t, home, "scope2/empty.jsonl", "")
	put(t, home, "scope2/bad.jsonl", "nonsense\n")
	x := openAt(t, home, Options{})
	refresh(t, x)
	want := answers(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
		_ = os.Remove(filepath.Join(home, name))
	}
	if err := os.Mkdir(filepath.Join(home, "index.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, refreshFirst := range []bool{true, false} {
		x = openAt(t, home, Options{})
		if refreshFirst {
			if rep := refreshed(t, x); !rep.NoIndex || rep.Unwritten == nil {
				t.Errorf("Refresh = %+v, want no index", rep)
			}
		}
		if diff := cmp.Diff(inOrder(want), inOrder(answers(t, x))); diff != "" {
			t.Errorf("answers after refresh=%v (-want +got):\n%s", refreshFirst, diff)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockedIndexIsAnsweredFromTheFiles(t *testing.T) {
	home := simpleHome(t, 3)
	x := openAt(t, home, Options{})
	refresh(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := storage.Disk(storage.Policy{}).Lock(context.Background(), scope.HomeAt(home).IndexLock(), storage.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	x = openAt(t, home, Options{BusyTimeout: 30 * time.Millisecond})
	if rep := refreshed(t, x); !rep.NoIndex {
		t.Errorf("Refresh = %+v, want no index", rep)
	}
	if got := sessionIDs(t, x, Filter{}); len(got) != 3 {
		t.Errorf("Sessions = %q, want 3", got)
	}
	if notes := x.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "locked by another process") {
		t.Errorf("Notes = %q", notes)
	}
	if _, err := x.Rebuild(t.Context()); !isLocked(err) {
		t.Errorf("Rebuild = %v, want ErrLocked", err)
	}
}

func TestRebuildBesideAWriterIsBusy(t *testing.T) {
	home := simpleHome(t, 3)
	x := openAt(t, home, Options{BusyTimeout: 50 * time.Millisecond})
	refresh(t, x)
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
	if _, err := x.Rebuild(t.Context()); !isLocked(err) || strings.Contains(err.Error(), "SQLITE") {
		t.Errorf("Rebuild = %v, want ErrLocked in plain words", err)
	}
}

func isLocked(err error) bool { return errors.Is(err, storage.ErrLocked) }

func TestSessionsDirectoryOfAHomeMayBeNamed(t *testing.T) {
	home := simpleHome(t, 4)
	put(t, home, "scope0/s0002/1-task.jsonl", `{"type":"session","version":5,"id":"task","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n")
	put(t, home, "bare.jsonl", `{"type":"session","version":5,"id":"bare","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n")
	put(t, home, "bare/1-task.jsonl", `{"type":"session","version":5,"id":"task2","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`+"\n")
	for _, tt := range []struct{ dir, want, children string }{
		{"", "bare s0000 s0001 s0002 s0003", "task task2"},
		{"scope0", "s0000 s0002", "task"},
		{"bare", "task2", ""},
	} {
		x, err := OpenDir(t.Context(), storage.Disk(storage.Policy{}), filepath.Join(home, "sessions", tt.dir), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := sessionIDs(t, x, Filter{Sort: SortTitle})
		all := sessionIDs(t, x, Filter{Children: true})
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("Sessions of %q = %q, want %q", tt.dir, got, tt.want)
		}
		if children := len(all) - len(got); children != len(strings.Fields(tt.children)) {
			t.Errorf("%q has %d children, want %q", tt.dir, children, tt.children)
		}
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("needle0002")})
		if want := strings.Contains(tt.want, "s0002"); err != nil || (len(found.Hits) == 1) != want {
			t.Errorf("Search of %q = %+v, %v", tt.dir, found, err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
