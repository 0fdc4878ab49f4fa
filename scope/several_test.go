package scope

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const envSeveral = "GJC_SCOPE_SEVERAL_DIR"

func TestSeveralProcessesMigrateOneSession(t *testing.T) {
	if dir := os.Getenv(envSeveral); dir != "" {
		migrateOnGo(dir)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(dir, 0o700))
	world(t, dir)
	type child struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *strings.Builder
	}
	var children []child
	for range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSeveralProcessesMigrateOneSession$", "-test.v=false")
		cmd.Env = append(os.Environ(), envSeveral+"="+dir)
		out := &strings.Builder{}
		cmd.Stdout, cmd.Stderr = out, out
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		children = append(children, child{cmd, in, out})
	}
	for _, c := range children {
		must(t, c.in.Close()) // go
	}
	home, w := worldAt(dir)
	s, err := Lookup(disk(), home, w)
	must(t, err)
	want := filepath.Join(s.Dir, "a.jsonl")
	for _, c := range children {
		if err := c.cmd.Wait(); err != nil || c.out.String() != want {
			t.Errorf("child: %v, says %q, want %q", err, c.out, want)
		}
	}
	if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidates(t, dir)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	receipts, err := os.ReadDir(s.Receipts())
	must(t, err)
	if len(receipts) != 1 {
		t.Errorf("%d receipts, want 1", len(receipts))
	}
	for path := range filesUnder(t, s.Dir) {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
	}
}

// migrateOnGo is a child: it waits until its input ends, migrates and says
// which session it got.
func migrateOnGo(dir string) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	c, err := openLegacy(disk(), dir, ThisProcess())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print(c.Path)
	os.Exit(0)
}
