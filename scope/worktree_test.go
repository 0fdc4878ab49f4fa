package scope

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// lay writes files (name ending in / is a directory) under root.
func lay(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		at := filepath.Join(root, name)
		if name[len(name)-1] == '/' {
			must(t, os.MkdirAll(at, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte(content), 0o644))
	}
}

func TestProjectOfCountsWorktreesAsOne(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	lay(t, root, map[string]string{
		"repo/.git/worktrees/wt/gitdir":     root + "/wt/.git\n",
		"repo/.git/worktrees/wt/commondir":  "../..\n",
		"repo/sub/deep/":                    "",
		"wt/.git":                           "gitdir: " + root + "/repo/.git/worktrees/wt\n",
		"wt/src/":                           "",
		"repo/.git/worktrees/rel/gitdir":    "../../../../rel/.git\n",
		"repo/.git/worktrees/rel/commondir": "../..\n",
		"rel/.git":                          "gitdir: ../repo/.git/worktrees/rel\n",
		"bare.git/worktrees/b/gitdir":       root + "/b/.git\n",
		"bare.git/worktrees/b/commondir":    "../..\n",
		"b/.git":                            "gitdir: " + root + "/bare.git/worktrees/b\n",
		"liar/.git":                         "gitdir: " + root + "/repo/.git/worktrees/wt\n",
		"repo/module/.git":                  "gitdir: ../.git/modules/module\n",
		"repo/.git/modules/module/config":   "",
		"broken/.git":                       "what\n",
		"gone/.git":                         "gitdir: /nowhere/at/all\n",
		"plain/dir/":                        "",
		"linked/":                           "",
	})
	must(t, os.Symlink(root+"/repo/.git", root+"/linked/.git"))
	for _, tt := range []struct{ name, workspace, want string }{
		{"main checkout", "repo", "repo"},
		{"inside of it", "repo/sub/deep", "repo"},
		{"worktree", "wt", "repo"},
		{"inside of a worktree", "wt/src", "repo"},
		{"worktree with relative paths", "rel", "repo"},
		{"worktree of a bare repository", "b", "bare.git"},
		{"a .git file that the repository does not name back", "liar", "liar"},
		{"submodule", "repo/module", "repo/module"},
		{"a .git file of another shape", "broken", "broken"},
		{"a .git file that leads nowhere", "gone", "gone"},
		{"no repository", "plain/dir", "plain/dir"},
		{"a symbolic link named .git", "linked", "linked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ProjectOf(disk(), filepath.Join(root, tt.workspace))
			if want := filepath.Join(root, tt.want); got != want {
				t.Errorf("ProjectOf(%s) = %s, want %s", tt.workspace, got, want)
			}
		})
	}
}

func TestRemovedWorktreeStaysInItsProject(t *testing.T) {
	home, w := newHome(t)
	root := filepath.Dir(w)
	lay(t, root, map[string]string{
		"repo/.git/worktrees/w/gitdir":    w + "/.git\n",
		"repo/.git/worktrees/w/commondir": "../..\n",
		"w/.git":                          "gitdir: " + root + "/repo/.git/worktrees/w\n",
	})
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	must(t, os.RemoveAll(w))
	for all, err := range All(context.Background(), disk(), home) {
		must(t, err)
		if got, want := all.Project(disk()), filepath.Join(root, "repo"); got != want || all.Dir != s.Dir {
			t.Errorf("project of the removed worktree = %s, want %s", got, want)
		}
	}
}
