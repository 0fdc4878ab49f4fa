package scope

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

// newHome is a home and a workspace in a fresh directory.
func newHome(t testing.TB) (home Home, workspace string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace = filepath.Join(root, "w")
	must(t, os.Mkdir(workspace, 0o700))
	return HomeAt(filepath.Join(root, "home", ".gjc", "agent")), workspace
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func disk() storage.FS { return storage.Disk(storage.Policy{}) }

// tree lists what is under dir: path and mode of each.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		got[rel] = info.Mode().String()
		return nil
	})
	must(t, err)
	return got
}

func TestEnsureMakesTheScopeBeforeAnyTranscript(t *testing.T) {
	home, w := newHome(t)
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	want := map[string]string{
		".": "drwx------", "sessions": "drwx------",
		"sessions/" + s.DirName():                                               "drwx------",
		"sessions/" + s.DirName() + "/.gjc-managed-session-internal":            "drwx------",
		"sessions/" + s.DirName() + "/.gjc-managed-session-internal/locks":      "drwx------",
		"sessions/" + s.DirName() + "/.gjc-managed-session-internal/receipts":   "drwx------",
		"sessions/" + s.DirName() + "/.gjc-managed-session-internal/tombstones": "drwx------",
		"sessions/" + s.DirName() + "/.gjc-managed-session-scope.v2.json":       "-rw-------",
	}
	if diff := cmp.Diff(want, tree(t, home.Dir())); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	raw, err := os.ReadFile(filepath.Join(s.Dir, bindingName))
	must(t, err)
	wantRaw := `{"schemaVersion":1,"layoutVersion":2,"identityVersion":1,"platform":"posix","canonicalPath":"` + w + `","identityDigest":"` + Digest(Posix, w) + "\"}\n"
	if diff := cmp.Diff(wantRaw, string(raw)); diff != "" {
		t.Errorf("binding (-want +got):\n%s", diff)
	}
	again, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	again.Exists = s.Exists
	if diff := cmp.Diff(s, again, cmp.AllowUnexported(Home{})); diff != "" {
		t.Errorf("second Ensure (-first +second):\n%s", diff)
	}
}

func TestLookupCreatesNothing(t *testing.T) {
	home, w := newHome(t)
	s, err := Lookup(disk(), home, w)
	must(t, err)
	if s.Exists || s.Bound {
		t.Errorf("Lookup in an empty home = %+v, want neither there nor bound", s)
	}
	if _, err := os.Lstat(home.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Lookup made the home: %v", err)
	}
}

func TestLookupThroughAliasIsTheSameScope(t *testing.T) {
	home, w := newHome(t)
	alias := filepath.Join(filepath.Dir(w), "alias")
	must(t, os.Symlink("w", alias))
	a, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	b, err := Lookup(disk(), home, alias)
	must(t, err)
	if a.Dir != b.Dir || a.Identity != b.Identity || !b.Bound {
		t.Errorf("alias: %+v, want the scope of %+v", b, a)
	}
	if b.Workspace != alias {
		t.Errorf("alias: workspace %q, want the spelling %q", b.Workspace, alias)
	}
}

func TestIdentifyRefuses(t *testing.T) {
	_, w := newHome(t)
	file := filepath.Join(w, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	bad := filepath.Join(w, "x\xff")
	must(t, os.Mkdir(bad, 0o700))
	loop := filepath.Join(w, "loop")
	must(t, os.Symlink("loop", loop))
	for _, tt := range []struct {
		name, workspace string
		code            Code
		is              error
	}{
		{"missing", filepath.Join(w, "gone"), CwdMissing, fs.ErrNotExist},
		{"a file", file, CwdNotDirectory, nil},
		{"below a file", filepath.Join(file, "x"), CwdNotDirectory, nil},
		{"not UTF-8", bad, IdentityUnavailable, nil},
		{"a loop of links", loop, IdentityUnavailable, nil},
		{"no name", "", IdentityUnavailable, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Identify(tt.workspace)
			var e *Error
			if !errors.As(err, &e) || e.Code != tt.code {
				t.Fatalf("Identify(%q) = %v, want code %s", tt.workspace, err, tt.code)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("Identify(%q) = %v, want errors.Is %v", tt.workspace, err, tt.is)
			}
		})
	}
}
