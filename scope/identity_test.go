//go:build unix

package scope

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

func faultCase(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "faults", name))
	must(t, err)
	must(t, json.Unmarshal(raw, into))
}

// B040: directories that a lossy encoding of the path maps to one name.
func TestB040DistinctWorkspacesHaveDistinctScopes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	var paths []string
	var same [][]string
	var expect struct{ Distinct int }
	faultCase(t, "B040/paths.json", &paths)
	faultCase(t, "B040/equal.json", &same)
	faultCase(t, "B040/expect.json", &expect)
	seen := map[string]string{}
	for _, path := range paths {
		must(t, os.MkdirAll(filepath.Join(root, path), 0o700))
		id, err := Identify(filepath.Join(root, path))
		must(t, err)
		if other, ok := seen[id.Digest]; ok {
			t.Errorf("%q and %q share the scope %s", path, other, id.Digest)
		}
		seen[id.Digest] = path
		if len(id.DirName()) != 55 {
			t.Errorf("DirName of %q = %q, want 55 characters", path, id.DirName())
		}
	}
	if len(seen) != expect.Distinct {
		t.Errorf("%d distinct scopes, want %d", len(seen), expect.Distinct)
	}
	must(t, os.MkdirAll(root+"/w/x", 0o700))
	for _, group := range same {
		for _, spelling := range group {
			a, err := Identify(root + group[0])
			must(t, err)
			b, err := Identify(root + spelling)
			must(t, err)
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("%q and %q (-want +got):\n%s", group[0], spelling, diff)
			}
		}
	}
}

// B041: the spellings of a network share; and a mount that does not tell cases
// apart, which is asked and not guessed.
func TestB041NetworkPathsAreRecognized(t *testing.T) {
	var groups struct {
		WindowsSame []string `json:"windows_same"`
		Unsupported []string `json:"unsupported"`
	}
	faultCase(t, "B041/groups.json", &groups)
	more := []string{`\\?\UNC\server\share`, `//server/share`, `\\.\unc\server\x`, `\\server`}
	for _, path := range append(groups.Unsupported, more...) {
		if !networkPath(path) {
			t.Errorf("networkPath(%q) = false", path)
		}
	}
	for _, path := range append(groups.WindowsSame, `\\?\Volume{1}\x`, `\\.\C:\x`, `\x`, `C:\UNC\x`, "/", "") {
		if networkPath(path) {
			t.Errorf("networkPath(%q) = true", path)
		}
	}
}

// caseless is a mount that stores names and finds them in any case.
type caseless struct{ stored []string }

func (c caseless) Lstat(name string) (storage.Info, error) {
	for i, path := range c.stored {
		if strings.EqualFold(path, name) {
			return storage.Info{Kind: storage.Dir, Inode: uint64(i + 1)}, nil
		}
	}
	return storage.Info{}, fs.ErrNotExist
}

func (c caseless) ReadDir(name string) ([]storage.DirEntry, error) {
	var list []storage.DirEntry
	for _, path := range c.stored {
		if strings.EqualFold(filepath.Dir(path), name) {
			list = append(list, storage.DirEntry{Name: filepath.Base(path), Info: storage.Info{Kind: storage.Dir}})
		}
	}
	return list, nil
}

func TestB041CaselessMountHasOneSpelling(t *testing.T) {
	mount := caseless{stored: []string{"/mnt", "/mnt/c", "/mnt/c/Users", "/mnt/c/Users/Me", "/mnt/c/Users/Me/Vault"}}
	for _, path := range []string{"/mnt/c/Users/Me/Vault", "/mnt/c/users/me/vault", "/MNT/c/USERS/me/VAULT"} {
		if got, want := storedSpelling(path, mount), "/mnt/c/Users/Me/Vault"; got != want {
			t.Errorf("storedSpelling(%q) = %q, want %q", path, got, want)
		}
	}
	// The real file system here tells cases apart.
	_, w := newHome(t)
	must(t, os.Mkdir(filepath.Join(w, "MyProject"), 0o700))
	must(t, os.Mkdir(filepath.Join(w, "myproject"), 0o700))
	a, err := Identify(filepath.Join(w, "MyProject"))
	must(t, err)
	b, err := Identify(filepath.Join(w, "myproject"))
	must(t, err)
	if a == b {
		t.Errorf("MyProject and myproject are both %+v", a)
	}
}

// B043: an alias lists the same sessions; a project that was moved with a link
// left behind is one workspace under both names, and the sessions made before
// are legacy candidates of neither but found by their binding.
func TestB043AliasAndMovedProject(t *testing.T) {
	ctx := context.Background()
	home, real := newHome(t)
	alias := filepath.Join(filepath.Dir(real), "alias")
	must(t, os.Symlink(real, alias))
	s, err := Ensure(ctx, disk(), home, alias)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.Dir, "a.jsonl"), []byte(transcript("A", alias)), 0o600))
	for _, workspace := range []string{real, alias} {
		same, err := Lookup(disk(), home, workspace)
		must(t, err)
		list, err := same.Candidates(ctx, disk())
		must(t, err)
		if len(list.Owned) != 1 || list.Owned[0].Cwd != alias {
			t.Errorf("from %s: %+v, want the session with its own spelling", workspace, list.Owned)
		}
	}
	must(t, os.Rename(real, real+"2"))
	must(t, os.Symlink(real+"2", real))
	a, err := Lookup(disk(), home, real)
	must(t, err)
	b, err := Lookup(disk(), home, real+"2")
	must(t, err)
	if a.Dir != b.Dir {
		t.Errorf("after the move: %s and %s, want one scope", a.Dir, b.Dir)
	}
	// The old scope still says whose it was, so that it can be bound anew.
	former, err := a.Former(ctx, disk())
	must(t, err)
	if len(former) != 1 || former[0].Dir != s.Dir || former[0].Canonical != real {
		t.Errorf("Former = %+v, want the scope of the old place", former)
	}
}
