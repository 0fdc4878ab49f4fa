//go:build unix

package session

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestTerminalIDIsTheFirstThatNamesATerminal(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		tty  string
		want string
	}{
		{"nothing", nil, "", ""},
		{"tmux pane in tmux", map[string]string{"TMUX": "/tmp/tmux,1,0", "TMUX_PANE": "%9", "KITTY_WINDOW_ID": "3"}, "/dev/pts/4", "tmux-%9"},
		{"terminal of standard input", map[string]string{"TMUX_PANE": "%9", "KITTY_WINDOW_ID": "3"}, "/dev/pts/4", "pts-4"},
		{"plain terminal", nil, "/dev/tty1", "tty1"},
		{"kitty before a pane without tmux", map[string]string{"TMUX_PANE": "%9", "KITTY_WINDOW_ID": "3"}, "", "kitty-3"},
		{"a pane without tmux", map[string]string{"TMUX_PANE": "%9", "TERM_SESSION_ID": "w0t0p0:1"}, "", "tmux-%9"},
		{"apple", map[string]string{"TERM_SESSION_ID": "w0t0p0:1", "WT_SESSION": "g"}, "", "apple-w0t0p0:1"},
		{"windows terminal", map[string]string{"WT_SESSION": "6f9"}, "", "wt-6f9"},
		{"a way out of the directory", map[string]string{"KITTY_WINDOW_ID": "/../../x"}, "", ""},
		{"a line end", map[string]string{"WT_SESSION": "a\nb"}, "", ""},
		{"too long", map[string]string{"WT_SESSION": strings.Repeat("x", 126)}, "", ""},
		{"just not too long", map[string]string{"WT_SESSION": strings.Repeat("x", 125)}, "", "wt-" + strings.Repeat("x", 125)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := TerminalID(func(name string) string { return tt.env[name] }, tt.tty)
			if got != tt.want {
				t.Errorf("TerminalID(%v, %q) = %q, want %q", tt.env, tt.tty, got, tt.want)
			}
		})
	}
}

// terminalStore is a store in a new home, for the terminal tmux-1.
func terminalStore(t *testing.T) *Store {
	t.Helper()
	home := scope.HomeAt(filepath.Join(t.TempDir(), "agent"))
	return NewStore(storage.Disk(storage.Policy{}), Options{Home: home, Terminal: "tmux-1"})
}

func TestBreadcrumbIsOwnerOnlyAndRead(t *testing.T) {
	s := terminalStore(t)
	s.opened("/w", "/s/a.jsonl")
	got, ok := s.readBreadcrumb()
	if want := (breadcrumb{"/w", "/s/a.jsonl"}); got != want || !ok {
		t.Errorf("readBreadcrumb() = %v, %v, want %v, true", got, ok, want)
	}
	dir := s.opt.Home.Breadcrumbs()
	name := filepath.Join(dir, "tmux-1")
	for path, want := range map[string]os.FileMode{dir: 0o700, name: 0o600} {
		info, err := os.Stat(path)
		noError(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s = %o, want %o", path, got, want)
		}
	}
	raw, err := os.ReadFile(name)
	noError(t, err)
	if diff := cmp.Diff("/w\n/s/a.jsonl\n", string(raw)); diff != "" {
		t.Errorf("breadcrumb (-want +got):\n%s", diff)
	}
	s.opened("/w", "/s/b.jsonl")
	if got, _ := s.readBreadcrumb(); got.path != "/s/b.jsonl" {
		t.Errorf("after a second one readBreadcrumb() = %v", got)
	}
	entries, err := os.ReadDir(dir)
	noError(t, err)
	if len(entries) != 1 {
		t.Errorf("%s holds %v, want one file", dir, entries)
	}
}

func TestBreadcrumbThatCannotBeWrittenLeavesTheOldOne(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		s := terminalStore(t)
		noError(t, s.writeBreadcrumb("/w", "/s/old.jsonl"))
		fault := storagetest.NewFault(storage.Disk(storage.Policy{}), plan)
		err := NewStore(fault, s.opt).writeBreadcrumb("/w", "/s/new.jsonl")
		b, ok := s.readBreadcrumb()
		want := "/s/new.jsonl"
		if err != nil {
			want = "/s/old.jsonl"
		}
		if !ok || b.path != want {
			t.Errorf("breadcrumb = %v, %v after %v, want %s", b, ok, err, want)
		}
		entries, readErr := os.ReadDir(s.opt.Home.Breadcrumbs())
		noError(t, readErr)
		if len(entries) != 1 && !plan.Sticky {
			t.Errorf("left: %v", entries)
		}
		return fault
	})
}

func TestBreadcrumbOfTwoLinesOnly(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "one line": "/w\n", "one line and blanks": "/w\n  \n", "relative": "w\ns/a.jsonl\n",
		"too large": "/w\n/s/" + strings.Repeat("x", maxBreadcrumb) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := terminalStore(t)
			noError(t, os.MkdirAll(s.opt.Home.Breadcrumbs(), 0o700))
			noError(t, os.WriteFile(filepath.Join(s.opt.Home.Breadcrumbs(), "tmux-1"), []byte(text), 0o644))
			if got, ok := s.readBreadcrumb(); ok {
				t.Errorf("readBreadcrumb() = %v, true, want false", got)
			}
		})
	}
	s := terminalStore(t)
	s.opened("/w\n/evil", "/s/a.jsonl")
	if got, ok := s.readBreadcrumb(); ok {
		t.Errorf("a path with a line end was written: %v", got)
	}
}

func TestBreadcrumbInAWrongPlaceIsLeftAlone(t *testing.T) {
	tests := []struct {
		name  string
		place func(t *testing.T, dir, name string)
	}{
		{"FIFO", func(t *testing.T, _, name string) { noError(t, syscall.Mkfifo(name, 0o600)) }},
		{"directory", func(t *testing.T, _, name string) { noError(t, os.Mkdir(name, 0o700)) }},
		{"symbolic link", func(t *testing.T, dir, name string) {
			noError(t, os.WriteFile(dir+"/../target", []byte("/w\n/s/a.jsonl\n"), 0o600))
			noError(t, os.Symlink("../target", name))
		}},
		{"dangling link", func(t *testing.T, dir, name string) { noError(t, os.Symlink("../nothing", name)) }},
		{"link as directory", func(t *testing.T, dir, _ string) {
			noError(t, os.Remove(dir))
			noError(t, os.Mkdir(dir+"-elsewhere", 0o700))
			noError(t, os.Symlink(dir+"-elsewhere", dir))
		}},
		{"file as directory", func(t *testing.T, dir, _ string) {
			noError(t, os.Remove(dir))
			noError(t, os.WriteFile(dir, nil, 0o600))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := terminalStore(t)
			dir := s.opt.Home.Breadcrumbs()
			noError(t, os.MkdirAll(dir, 0o700))
			name := filepath.Join(dir, "tmux-1")
			tt.place(t, dir, name)
			before := lstatOf(t, dir, name)
			began := time.Now()
			if got, ok := s.readBreadcrumb(); ok {
				t.Errorf("readBreadcrumb() = %v, true, want false", got)
			}
			if err := s.writeBreadcrumb("/w", "/s/b.jsonl"); err == nil {
				t.Error("writeBreadcrumb() = nil, want a refusal")
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v, want under a second", took)
			}
			if diff := cmp.Diff(before, lstatOf(t, dir, name)); diff != "" {
				t.Errorf("what was there changed (-want +got):\n%s", diff)
			}
		})
	}
}

func lstatOf(t *testing.T, paths ...string) []string {
	t.Helper()
	var all []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			all = append(all, path+" missing")
			continue
		}
		all = append(all, path+" "+info.Mode().String())
	}
	return all
}

func TestWorktreesOfOneRepositoryArePeers(t *testing.T) {
	root, err := storage.RealPath(t.TempDir())
	noError(t, err)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("main/.git/HEAD", "ref: refs/heads/main\n")
	write("main/.git/worktrees/side/gitdir", root+"/side/.git\n")
	write("main/.git/worktrees/side/commondir", "../..\n")
	write("side/.git", "gitdir: "+root+"/main/.git/worktrees/side\n")
	write("other/.git/HEAD", "ref: refs/heads/main\n")
	for _, dir := range []string{"main/sub", "side/sub", "side/more", "plain"} {
		noError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	tests := []struct {
		a, b string
		want bool
	}{
		{"main", "side", true},
		{"side", "main", true},
		{"main/sub", "side/sub", true},
		{"main", "side/sub", false},
		{"side/sub", "side/more", false},
		{"main", "other", false},
		{"main", "plain", false},
		{"plain", "plain", false},
		{"main", "missing", false},
	}
	for _, tt := range tests {
		t.Run(tt.a+" "+tt.b, func(t *testing.T) {
			got := worktreePeers(storage.Disk(storage.Policy{}), filepath.Join(root, tt.a), filepath.Join(root, tt.b))
			if got != tt.want {
				t.Errorf("worktreePeers = %v, want %v", got, tt.want)
			}
		})
	}
}
