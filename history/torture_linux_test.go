package history

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

func TestFullDiskLosesNothing(t *testing.T) {
	dir := t.TempDir()
	mount(t, dir, "-t", "tmpfs", "-o", "size=600k", "tmpfs")
	s := open(t, dir, Options{Journal: true})
	var want []string
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		want = append(want, fmt.Sprint(i, strings.Repeat(" some words of a prompt", 200)))
		must(t, s.Add(want[i], nil))
		err = s.Flush(t.Context())
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("Flush() on a full disk = %v, want ErrFull", err)
	}
	t.Log(err)
	if got := texts(t, s); len(got) != len(want)-1 {
		t.Errorf("%d prompts are readable, want %d", len(got), len(want)-1)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=20m", dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
	must(t, s.Flush(t.Context()))
	if diff := cmp.Diff(want, texts(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inStep(t, s)
	must(t, s.Close())
}

func TestReadOnlyDirectoryIsReadable(t *testing.T) {
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprint("a writer has it open ", live), func(t *testing.T) {
			dir, view := t.TempDir(), t.TempDir()
			s := open(t, dir, Options{})
			must(t, s.Add("basil", nil))
			must(t, s.Flush(t.Context()))
			if !live {
				must(t, s.Close())
			}
			mount(t, view, "--bind", "-o", "ro", dir)
			if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,ro,bind", view).CombinedOutput(); err != nil {
				t.Skipf("remount: %v: %s", err, out)
			}
			if err := os.WriteFile(filepath.Join(view, "x"), nil, 0o600); err == nil {
				t.Fatal("the view can be written")
			}
			ro := open(t, view, Options{Journal: true})
			if !errors.Is(ro.ReadOnly(), ErrReadOnly) {
				t.Errorf("ReadOnly() = %v", ro.ReadOnly())
			}
			t.Log(ro.Add("mint", nil))
			if diff := cmp.Diff([]string{"basil"}, found(t, ro, "bas")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			must(t, ro.Close())
			must(t, s.Close()) // SQLite keeps descriptors of a file that it has locked
		})
	}
}
