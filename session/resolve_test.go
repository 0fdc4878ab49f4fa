package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolveFitsIDNameAndLastPart(t *testing.T) {
	w := newWorld(t)
	cwd, other := w.workspace("w"), w.workspace("other")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/2026-01-01T00-00-00-000Z_AbC-1.jsonl", "AbC-1", cwd, 1)
	w.transcript(sc.Dir+"/2026-01-02T00-00-00-000Z_abc-2.jsonl", "abc-2", cwd, 2)
	w.transcript(sc.Dir+"/2026-01-03T00-00-00-000Z_part.jsonl", "id-of-part", cwd, 3)
	w.transcript(w.scope(other).Dir+"/x_far.jsonl", "abc-far", other, 9)
	w.transcript(w.root+"/s/e_abc-9.jsonl", "abc-9", cwd, 4)
	tests := []struct {
		name, arg, dir, want, scope string
		others                      int
	}{
		{"whole id", "abc-2", "", "abc-2", ScopeLocal, 0},
		{"beginning of two ids, the newest", "abc", "", "abc-2", ScopeLocal, 1},
		{"case of letters", "ABC-1", "", "AbC-1", ScopeLocal, 0},
		{"file name", "2026-01-03t", "", "id-of-part", ScopeLocal, 0},
		{"last part of the name", "PART", "", "id-of-part", ScopeLocal, 0},
		{"nothing fits the newest", "", "", "id-of-part", ScopeLocal, 2},
		{"of another workspace", "abc-f", "", "abc-far", ScopeGlobal, 0},
		{"in an explicit directory", "abc", w.root + "/s", "abc-9", ScopeLocal, 0},
		{"outside of the explicit directory", "part", w.root + "/s", "id-of-part", ScopeGlobal, 0},
		{"a path", w.root + "/s/e_abc-9.jsonl", "", "abc-9", ScopeLocal, 0},
		{"a relative path", "../s/e_abc-9.jsonl", "", "abc-9", ScopeLocal, 0},
		{"a path of another workspace", filepath.Join(w.scope(other).Dir, "x_far.jsonl"), "", "abc-far", ScopeGlobal, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := w.reading(Options{}).Resolve(t.Context(), tt.arg, cwd, tt.dir)
			noError(t, err)
			if r.Session.ID != tt.want || r.Scope != tt.scope || len(r.Others) != tt.others {
				t.Errorf("Resolve(%q) = %s, %s, others %v, want %s, %s, %d", tt.arg, r.Session.ID, r.Scope, w.names(r.Others), tt.want, tt.scope, tt.others)
			}
		})
	}
	for _, arg := range []string{"nothing", "/no/such/file.jsonl", "bc-2"} {
		if r, err := w.reading(Options{}).Resolve(t.Context(), arg, cwd, ""); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Resolve(%q) = %v, %v, want fs.ErrNotExist", arg, r, err)
		}
	}
}

func TestResolveByPathRefusesWhatIsNoSession(t *testing.T) {
	w := newWorld(t)
	path := w.file(w.root+"/s/a.jsonl", "garbage\n", 1)
	if r, err := w.reading(Options{}).Resolve(t.Context(), path, w.root, ""); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Resolve(%q) = %v, %v, want an error that says why", path, r, err)
	}
}

func TestInventoryListsEveryDirectoryWithoutWriting(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	w.transcript(sc.Root+"/-old/b.jsonl", "b", w.root+"/gone", 2)
	w.transcript(sc.Root+"/plain/c.jsonl", "c", cwd, 3)
	w.transcript(sc.Root+"/plain/orphan.jsonl.1.bak", "o", cwd, 3)
	w.file(sc.Root+"/plain/bad.jsonl", "garbage\n", 4)
	big := sessionText("big", cwd)
	for len(big) < 70<<10 {
		big += sessionText("more", cwd)
	}
	w.file(sc.Root+"/plain/big.jsonl", big+`{"type":"header_patch","patch":{"title":"renamed"}}`+"\n", 5)
	inv, err := w.reading(Options{}).Inventory(t.Context())
	noError(t, err)
	got := []string{}
	for _, row := range inv.Sessions {
		got = append(got, w.rel(row.Path))
		if want := row.ID == "big"; row.Truncated != want || (row.Title == "renamed") != want {
			t.Errorf("row of %s = %+v, truncated and renamed: want %v", row.ID, row, want)
		}
	}
	want := []string{"agent/sessions/plain/big.jsonl", "agent/sessions/plain/c.jsonl", "agent/sessions/-old/b.jsonl", w.rel(sc.Dir) + "/a.jsonl"}
	if diff := cmp.Diff(want, got); diff != "" || inv.Cut != "" {
		t.Errorf("Inventory, cut %q (-want +got):\n%s", inv.Cut, diff)
	}
	if diff := cmp.Diff(map[string]string{"agent/sessions/plain/bad.jsonl": "no session header"}, w.reasons(inv.LeftOut)); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestOpeningASessionOfAnotherWorkspaceForksIt(t *testing.T) {
	w := newWorld(t)
	cwd, other := w.workspace("w"), w.workspace("other")
	w.transcript(w.scope(cwd).Dir+"/x_near.jsonl", "near", cwd, 1)
	far := w.transcript(w.scope(other).Dir+"/x_far.jsonl", "far", other, 2)
	before, err := os.ReadFile(far)
	noError(t, err)
	for _, tt := range []struct {
		arg, dir   string
		want, from string // the directory it is in, its parent
		forked     bool
	}{
		{"near", "", w.scope(cwd).Dir, "", false},
		{"far", "", w.scope(cwd).Dir, "far", true},
		{"far", w.root + "/s", w.root + "/s", "far", true},
		{far, "", w.scope(cwd).Dir, "far", true},
	} {
		s := w.store(Options{})
		r, err := s.Resolve(t.Context(), tt.arg, cwd, tt.dir)
		noError(t, err)
		session, forked, err := s.OpenResolved(t.Context(), r, cwd, tt.dir, OpenOptions{})
		noError(t, err)
		parent := session.Header().Get("parentSession").Str()
		if session.Dir() != tt.want || forked != tt.forked || session.Cwd() != cwd || parent != tt.from {
			t.Errorf("OpenResolved(%s) is in %s for %s, parent %q, forked %v, want %s, parent %q, %v",
				tt.arg, w.rel(session.Dir()), w.rel(session.Cwd()), parent, forked, w.rel(tt.want), tt.from, tt.forked)
		}
		if entries, err := session.Entries(t.Context()); err != nil || len(entries) != 2 {
			t.Errorf("OpenResolved(%s) has %d entries, %v, want 2", tt.arg, len(entries), err)
		}
		path := session.Path()
		noError(t, session.Close())
		if forked {
			noError(t, os.Remove(path))
		}
	}
	if after, err := os.ReadFile(far); err != nil || string(after) != string(before) {
		t.Errorf("the session of the other workspace changed: %v", err)
	}
}
