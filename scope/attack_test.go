//go:build unix

package scope

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// TestAttacks puts something else in the place of each thing a scope relies
// on. Each is refused, in words that name the path and the reason.
func TestAttacks(t *testing.T) {
	elsewhere := func(t *testing.T, s *Scope) string {
		dir := filepath.Join(filepath.Dir(s.Canonical), "elsewhere")
		must(t, os.MkdirAll(dir, 0o700))
		return dir
	}
	swap := func(t *testing.T, at, target string) {
		must(t, os.RemoveAll(at))
		must(t, os.Symlink(target, at))
	}
	for _, tt := range []struct {
		name   string
		attack func(t *testing.T, s *Scope)
		code   Code
		is     error
		says   string
	}{
		{"sessions directory is a symbolic link", func(t *testing.T, s *Scope) {
			swap(t, s.Root, elsewhere(t, s))
		}, RootUnavailable, storage.ErrUnsafe, "sessions directory is a symbolic link"},
		{"sessions directory is a file", func(t *testing.T, s *Scope) {
			must(t, os.RemoveAll(s.Root))
			must(t, os.WriteFile(s.Root, nil, 0o600))
		}, RootUnavailable, storage.ErrUnsafe, "sessions directory is not a directory"},
		{"scope is a symbolic link", func(t *testing.T, s *Scope) {
			swap(t, s.Dir, elsewhere(t, s))
		}, BindingInvalid, storage.ErrUnsafe, "scope is a symbolic link"},
		{"scope is a FIFO", func(t *testing.T, s *Scope) {
			must(t, os.RemoveAll(s.Dir))
			must(t, syscall.Mkfifo(s.Dir, 0o700))
		}, BindingInvalid, storage.ErrUnsafe, "scope is not a directory"},
		{"scope is readable by the group", func(t *testing.T, s *Scope) {
			must(t, os.Chmod(s.Dir, 0o750))
		}, BindingInvalid, storage.ErrUnsafe, "mode is 0750, want 0700"},
		{"scope belongs to another user", func(t *testing.T, s *Scope) {
			giveAway(t, s.Dir)
		}, BindingInvalid, storage.ErrUnsafe, "belongs to user 4711"},
		{"binding is a symbolic link", func(t *testing.T, s *Scope) {
			real := filepath.Join(elsewhere(t, s), "b.json")
			must(t, os.WriteFile(real, bindingBytes(s.Identity), 0o600))
			swap(t, filepath.Join(s.Dir, bindingName), real)
		}, BindingInvalid, ErrBinding, "is a symbolic link"},
		{"binding has two links", func(t *testing.T, s *Scope) {
			must(t, os.Link(filepath.Join(s.Dir, bindingName), filepath.Join(s.Dir, "other")))
		}, BindingInvalid, storage.ErrUnsafe, "more than one hard link"},
		{"binding is a FIFO", func(t *testing.T, s *Scope) {
			must(t, os.Remove(filepath.Join(s.Dir, bindingName)))
			must(t, syscall.Mkfifo(filepath.Join(s.Dir, bindingName), 0o600))
		}, BindingInvalid, storage.ErrUnsafe, "is not a regular file"},
		{"binding is a directory", func(t *testing.T, s *Scope) {
			must(t, os.Remove(filepath.Join(s.Dir, bindingName)))
			must(t, os.Mkdir(filepath.Join(s.Dir, bindingName), 0o700))
		}, BindingInvalid, storage.ErrUnsafe, "is not a regular file"},
		{"binding belongs to another user", func(t *testing.T, s *Scope) {
			giveAway(t, filepath.Join(s.Dir, bindingName))
		}, BindingInvalid, storage.ErrUnsafe, "belongs to another user"},
		{"binding names another workspace", func(t *testing.T, s *Scope) {
			other := Identity{Platform: Posix, Canonical: "/other", Digest: Digest(Posix, "/other")}
			must(t, os.WriteFile(filepath.Join(s.Dir, bindingName), bindingBytes(other), 0o600))
		}, BindingConflict, ErrBinding, "binding names another workspace"},
		{"binding is huge", func(t *testing.T, s *Scope) {
			must(t, os.WriteFile(filepath.Join(s.Dir, bindingName), make([]byte, maxBinding+1), 0o600))
		}, BindingInvalid, storage.ErrTooLarge, "too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, w := newHome(t)
			s, err := Ensure(context.Background(), disk(), home, w)
			must(t, err)
			tt.attack(t, s)
			for _, how := range []struct {
				name string
				call func() error
			}{
				{"Lookup", func() error { _, err := Lookup(disk(), home, w); return err }},
				{"Ensure", func() error { _, err := Ensure(context.Background(), disk(), home, w); return err }},
			} {
				err := how.call()
				var e *Error
				if !errors.As(err, &e) || e.Code != tt.code || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s = %v, want code %s, errors.Is %v, text %q", how.name, err, tt.code, tt.is, tt.says)
				} else if e.Mend() == "" {
					t.Errorf("%s = %v says nothing of how to mend it", how.name, err)
				}
			}
		})
	}
}

func giveAway(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	must(t, os.Chown(path, 4711, 4711))
}

func TestEnsureRefusesRootOthersCanWrite(t *testing.T) {
	for _, tt := range []struct {
		name   string
		attack func(t *testing.T, root string)
		says   string
	}{
		{"the group may write", func(t *testing.T, root string) { must(t, os.Chmod(root, 0o770)) }, "others can write"},
		{"another owner", giveAway, "belongs to user 4711"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, w := newHome(t)
			must(t, home.Prepare(disk()))
			tt.attack(t, home.Sessions())
			_, err := Ensure(context.Background(), disk(), home, w)
			if !errors.Is(err, storage.ErrUnsafe) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Ensure = %v, want ErrUnsafe and %q", err, tt.says)
			}
		})
	}
}

func TestCandidatesLeaveOutWhatIsNoPlainFile(t *testing.T) {
	home, w := newHome(t)
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	good := filepath.Join(s.Dir, "good.jsonl")
	must(t, os.WriteFile(good, []byte(transcript("G1", w)), 0o600))
	must(t, os.Symlink(good, filepath.Join(s.Dir, "symlink.jsonl")))
	must(t, os.WriteFile(filepath.Join(s.Dir, "hard.jsonl"), []byte(transcript("G2", w)), 0o600))
	must(t, os.Link(filepath.Join(s.Dir, "hard.jsonl"), filepath.Join(s.Dir, "hard.link")))
	must(t, syscall.Mkfifo(filepath.Join(s.Dir, "fifo.jsonl"), 0o600))
	must(t, os.Mkdir(filepath.Join(s.Dir, "dir.jsonl"), 0o700))
	list, err := s.Candidates(context.Background(), disk())
	must(t, err)
	if len(list.Owned) != 1 || list.Owned[0].Path != good || len(list.Invalid) != 4 {
		t.Errorf("Candidates = %+v, want one owned and four invalid", list)
	}
	for _, i := range list.Invalid {
		if i.Code != unreadableFile {
			t.Errorf("%s: code %s, want %s", i.Path, i.Code, unreadableFile)
		}
	}
}

func TestMigrateRefusesUnsafeArtifacts(t *testing.T) {
	for _, tt := range []struct {
		name string
		lay  func(t *testing.T, artifacts string)
	}{
		{"symbolic link", func(t *testing.T, a string) { must(t, os.Symlink("/etc/passwd", filepath.Join(a, "x"))) }},
		{"link out of the tree", func(t *testing.T, a string) { must(t, os.Symlink("/", filepath.Join(a, "x"))) }},
		{"hard link", func(t *testing.T, a string) {
			must(t, os.Link(filepath.Join(a, "out.txt"), filepath.Join(a, "..", "secret")))
		}},
		{"FIFO", func(t *testing.T, a string) { must(t, syscall.Mkfifo(filepath.Join(a, "x"), 0o600)) }},
		{"too deep", func(t *testing.T, a string) {
			must(t, os.MkdirAll(filepath.Join(a, strings.Repeat("d/", MaxArtifactDepth)), 0o700))
		}},
		{"artifacts are a symbolic link", func(t *testing.T, a string) {
			must(t, os.Rename(a, a+".real"))
			must(t, os.Symlink(a+".real", a))
		}},
		{"too many bytes", func(t *testing.T, a string) {
			must(t, os.Truncate(filepath.Join(a, "out.txt"), MaxArtifactBytes+1))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			must(t, os.Chmod(dir, 0o700))
			home, _ := world(t, dir)
			tt.lay(t, artifactsOf(legacyPath(home)))
			_, err = openLegacy(disk(), dir, ThisProcess())
			var e *Error
			if !errors.As(err, &e) || e.Code != UnsafeArtifacts || !errors.Is(err, storage.ErrUnsafe) {
				t.Fatalf("Open = %v, want %s", err, UnsafeArtifacts)
			}
			if got := candidates(t, dir); len(got) != 1 || !strings.HasSuffix(got[0], string(LegacyUnmigrated)) {
				t.Errorf("candidates = %v, want the legacy one alone", got)
			}
		})
	}
}

// swapping replaces a directory right before an operation on it.
type swapping struct {
	storage.FS
	before string // the operation's path
	swap   func()
	done   bool
}

func (s *swapping) Lstat(name string) (storage.Info, error) {
	if name == s.before && !s.done {
		s.done = true
		s.swap()
	}
	return s.FS.Lstat(name)
}

func TestEnsureRefusesScopeSwappedBetweenCheckAndUse(t *testing.T) {
	home, w := newHome(t)
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	fsys := &swapping{FS: disk(), before: filepath.Join(s.Dir, projectName), swap: func() {
		must(t, os.Rename(s.Dir, s.Dir+".moved"))
		must(t, os.Mkdir(s.Dir, 0o700))
	}}
	_, err = Ensure(context.Background(), fsys, home, w)
	if !fsys.done || !errors.Is(err, ErrBinding) {
		t.Errorf("Ensure = %v (swapped: %t), want ErrBinding", err, fsys.done)
	}
}

func TestMigrateRefusesSourceThatChanges(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(dir, 0o700))
	home, w := world(t, dir)
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	c, err := s.Candidate(context.Background(), disk(), legacyPath(home))
	must(t, err)
	fsys := &swapping{FS: disk(), before: filepath.Join(s.Dir, "a.jsonl"), swap: func() {
		f, err := os.OpenFile(legacyPath(home), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString("{}\n")
		must(t, err)
		must(t, f.Close())
	}}
	_, err = s.Open(context.Background(), fsys, ThisProcess(), c, CopyRetain)
	if !fsys.done || !errors.Is(err, ErrChanged) {
		t.Errorf("Open = %v (changed: %t), want ErrChanged", err, fsys.done)
	}
	if got := candidates(t, dir); len(got) != 1 || !strings.HasSuffix(got[0], string(LegacyUnmigrated)) {
		t.Errorf("candidates = %v, want the legacy one alone", got)
	}
}
