package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// migratedHome is a home with a workspace whose session was migrated, and the
// paths of its source and its copy.
func migratedHome(t *testing.T) (home, source, copied string, s *scope.Scope) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	for _, name := range []string{dir, home, work} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for id, text := range map[string]string{"old1": "legacyword", "old2": "otherword"} {
		source = put(t, home, "-work-/"+id+".jsonl", `{"type":"session","version":5,"id":"`+id+`","timestamp":"2026-01-01T00:00:00.000Z","cwd":"`+work+`"}
{"type":"message","id":"0000000a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"`+text+`"}}
`)
		if err := os.Chmod(filepath.Dir(source), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	source = filepath.Join(home, "sessions", "-work-", "old1.jsonl")
	fsys := storage.Disk(storage.Policy{})
	if s, err = scope.Ensure(t.Context(), fsys, scope.HomeAt(home), work); err != nil {
		t.Fatal(err)
	}
	c, err := s.Candidate(t.Context(), fsys, source)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = s.Open(t.Context(), fsys, scope.ThisProcess(), c, scope.CopyRetain); err != nil {
		t.Fatal(err)
	}
	return home, source, c.Path, s
}

func TestMigratedSourceIsHidden(t *testing.T) {
	fsys := storage.Disk(storage.Policy{})
	for _, tt := range []struct {
		name string
		then func(t *testing.T, source, copied string, s *scope.Scope)
		want string // files listed, without .jsonl
	}{
		{"as it is", func(*testing.T, string, string, *scope.Scope) {}, "-work-/old2 v2/old1"},
		{"after an append", func(t *testing.T, _, copied string, _ *scope.Scope) {
			said(t, copied, "0000000b", "2026-01-01T00:00:01.000Z", "more")
		}, "-work-/old2 v2/old1"},
		{"although its mode was changed", func(t *testing.T, source, _ string, _ *scope.Scope) {
			if err := os.Chmod(source, 0o640); err != nil {
				t.Fatal(err)
			}
		}, "-work-/old2 v2/old1"},
		{"not once it has grown", func(t *testing.T, source, _ string, _ *scope.Scope) {
			said(t, source, "0000000b", "2026-01-01T00:00:01.000Z", "more")
		}, "-work-/old1 -work-/old2 v2/old1"},
		{"not once the copy was lost", func(t *testing.T, _, copied string, _ *scope.Scope) {
			if err := os.Remove(copied); err != nil {
				t.Fatal(err)
			}
		}, "-work-/old1 -work-/old2"},
		{"not once another session took the copy's place", func(t *testing.T, _, copied string, _ *scope.Scope) {
			data, err := os.ReadFile(copied)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied, []byte(strings.Replace(string(data), "old1", "new1", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "-work-/old1 -work-/old2 v2/old1"},
		{"after the copy was deleted", func(t *testing.T, _, copied string, s *scope.Scope) {
			c, err := s.Candidate(t.Context(), fsys, copied)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Delete(t.Context(), fsys, scope.ThisProcess(), c); err != nil {
				t.Fatal(err)
			}
		}, "-work-/old2"},
		{"after the copy was retired and moved away", func(t *testing.T, source, copied string, s *scope.Scope) {
			c, err := s.Candidate(t.Context(), fsys, copied)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Retire(t.Context(), fsys, scope.ThisProcess(), c); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(copied, filepath.Join(filepath.Dir(s.Root), "trash")); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(source); err != nil {
				t.Fatal(err)
			}
		}, "-work-/old2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, source, copied, s := migratedHome(t)
			x := openAt(t, home, Options{})
			refresh(t, x)
			tt.then(t, source, copied, s)
			refresh(t, x)
			later := openAt(t, home, Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
			refresh(t, later) // keeps what the receipts say
			unasked := openAt(t, home, Options{})
			without, err := Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home), Options{})
			if err != nil {
				t.Fatal(err)
			}
			without.giveUp(storage.ErrLocked)
			for name, x := range map[string]*Index{"refreshed": x, "later": later, "not refreshed": unasked, "without a database": without} {
				var got []string
				rows, _, err := x.Sessions(t.Context(), Filter{Sort: SortTitle})
				if err != nil {
					t.Fatal(err)
				}
				for row := range rows {
					rel, _ := filepath.Rel(filepath.Join(home, "sessions"), strings.TrimSuffix(row.Path, ".jsonl"))
					got = append(got, strings.Replace(rel, s.DirName(), "v2", 1))
				}
				slices.Sort(got)
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%s: Sessions = %q, want %q", name, got, tt.want)
				}
			}
			if rep, err := x.Rebuild(t.Context()); err != nil || rep.Removed > 0 {
				t.Errorf("Rebuild = %+v, %v", rep, err)
			}
			checkEqual(t, x)
		})
	}
}

func TestMigratedSessionIsFoundOnce(t *testing.T) {
	home, source, copied, _ := migratedHome(t)
	x := openAt(t, home, Options{})
	refresh(t, x)
	if row, err := x.Find(t.Context(), "old1"); err != nil || row.Path != copied {
		t.Errorf("Find(id) = %q, %v, want the copy", row.Path, err)
	}
	if row, err := x.Find(t.Context(), source); err != nil || row.Path != source {
		t.Errorf("Find(path) = %q, %v, want the source", row.Path, err)
	}
	found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("legacyword")})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Path != copied || found.Hits[0].Count != 1 {
		t.Errorf("Search = %+v, %v, want the copy's prompt, once", found, err)
	}
	found, err = x.Search(t.Context(), SearchRequest{Query: ParseQuery("legacyword"), Role: RoleAny, Repeats: true})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Path != copied {
		t.Errorf("Search of all roles = %+v, %v, want the copy's text", found, err)
	}
	if s, err := x.Status(t.Context()); err != nil || s.Files != 3 || s.Sessions != 2 || s.Hidden != 1 {
		t.Errorf("Status = %+v, %v, want 2 sessions and one hidden", s, err)
	}
	if _, total, err := x.Sessions(t.Context(), Filter{Limit: 1}); err != nil || total != 2 {
		t.Errorf("%d sessions in all, %v, want 2", total, err)
	}
	if n := len(sessionIDs(t, x, Filter{Damaged: DamagedToo})); n != 3 {
		t.Errorf("%d files with the damaged ones, want 3", n)
	}
}
