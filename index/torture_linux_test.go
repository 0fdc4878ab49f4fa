package index

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mount runs mount(8) until the end of the test; it needs root and is asked for.
func mount(t *testing.T, dir string, args ...string) {
	t.Helper()
	if os.Getenv("GJC_INDEX_TORTURE") == "" {
		t.Skip("GJC_INDEX_TORTURE is not set")
	}
	if out, err := exec.CommandContext(t.Context(), "mount", append(args, dir)...).CombinedOutput(); err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// fill leaves no room in a directory.
func fill(t *testing.T, dir string) (name string) {
	t.Helper()
	name = filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1 << 16, 1 << 12, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, n))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFullDiskIsNoDamage(t *testing.T) {
	for _, tt := range []struct {
		name string
		had  bool // an index
	}{{name: "first build"}, {"index", true}} {
		t.Run(tt.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			mount(t, home, "-t", "tmpfs", "-o", "size=2m", "tmpfs")
			if out, err := exec.Command("cp", "-r", filepath.Join(simpleHome(t, 5), "sessions"), home).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if tt.had {
				x := openAt(t, home, Options{})
				refresh(t, x)
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
			changeMuch(t, home)
			filler := fill(t, home)
			var got string
			for range 3 {
				x := openAt(t, home, Options{})
				if rep := refreshed(t, x); rep.Unwritten == nil {
					t.Errorf("Refresh = %+v, want not written", rep)
				}
				got = answers(t, x)
				if notes := x.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "no space left") {
					t.Errorf("Notes = %q, want one on space", notes)
				}
				if _, err := x.Rebuild(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "(") {
					t.Errorf("Rebuild = %v, want no space", err)
				}
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if aside, _ := filepath.Glob(filepath.Join(home, "*.damaged*")); len(aside) > 0 {
				t.Errorf("set aside: %q", aside)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			x := openAt(t, home, Options{})
			refresh(t, x)
			if diff := cmp.Diff(inOrder(answers(t, x)), inOrder(got)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			checkEqual(t, x)
		})
	}
}

func TestReadOnlyHomeIsAnsweredAsItIs(t *testing.T) {
	home := simpleHome(t, 5)
	x := openAt(t, home, Options{})
	refresh(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	changeMuch(t, home)
	readOnly := filepath.Join(t.TempDir(), "ro")
	if err := os.Mkdir(readOnly, 0o700); err != nil {
		t.Fatal(err)
	}
	mount(t, readOnly, "--bind", home)
	if out, err := exec.Command("mount", "-o", "remount,ro,bind", readOnly).CombinedOutput(); err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	x = openAt(t, readOnly, Options{})
	rep := refreshed(t, x)
	if rep.Unwritten == nil {
		t.Errorf("Refresh = %+v, want not written", rep)
	}
	got := strings.ReplaceAll(answers(t, x), readOnly, home)
	if notes := x.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "read-only") {
		t.Errorf("Notes = %q", notes)
	}
	if _, err := x.Rebuild(t.Context()); err == nil {
		t.Error("Rebuild of a read-only home succeeds")
	} else {
		t.Log(err)
	}
	y := openAt(t, home, Options{})
	refresh(t, y)
	if diff := cmp.Diff(inOrder(answers(t, y)), inOrder(got)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
