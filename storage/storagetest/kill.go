package storagetest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// The environment of a child of EachStep.
const (
	envKillTest = "GJC_KILL_TEST" // the test whose step the child runs
	envKillAt   = "GJC_KILL_AT"   // the operation it doesn't live to see
	envKillDir  = "GJC_KILL_DIR"  // the directory it works in
)

// What a child says on its standard output, a line each.
const (
	ackLine  = "gjc-kill-ack"
	doneLine = "gjc-kill-done"
)

// childFor bounds the life of a child that hangs.
const childFor = time.Minute

// Step is what a child of EachStep does in dir, through fsys alone. It calls
// ack whenever something is promised to last, and is killed before the n-th
// operation that can change the disk.
type Step func(fsys storage.FS, dir string, ack func()) error

// EachStep runs step in a child process that is killed before its first
// operation that can change the disk, in another one before its second, and so
// on until a child lives to the end; each in an owner-only directory of its own that
// setup (nil: nothing) has filled. After each, check gets the directory and how often
// the child had called ack.
//
// The child is this test binary, started again for the calling test alone, so
// EachStep must be called once in a test, before anything the child shouldn't
// do. It ends the child itself.
func EachStep(t *testing.T, setup func(t *testing.T, dir string), step Step, check func(t *testing.T, dir string, acked int)) {
	t.Helper()
	if os.Getenv(envKillTest) == t.Name() {
		os.Exit(runStep(step))
	}
	test := t.Name()
	for n := 1; ; n++ {
		done := false
		ok := t.Run(fmt.Sprintf("killed before operation %d", n), func(t *testing.T) {
			dir := filepath.Join(InRAM(t), "d")
			if err := storage.Disk(storage.Policy{}).Mkdir(dir); err != nil {
				t.Fatal(err)
			}
			if setup != nil {
				setup(t, dir)
			}
			var acked int
			acked, done = runChild(t, test, dir, n)
			check(t, dir, acked)
		})
		if !ok || done {
			return
		}
	}
}

// InRAM is a directory of the test where syncing costs nothing, if there is
// such a place, else a t.TempDir. A kill and a fault, unlike a power cut, leave
// what was not synced.
func InRAM(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gjc-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// runStep is the child's whole life.
func runStep(step Step) int {
	at, err := strconv.Atoi(os.Getenv(envKillAt))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var count atomic.Int64
	hook := &Hook{FS: storage.Disk(storage.Policy{}), Before: func(op Op, _ string) error {
		if op.Changes() && count.Add(1) == int64(at) {
			killSelf()
		}
		return nil
	}}
	ack := func() { fmt.Println(ackLine) }
	if err := step(hook, os.Getenv(envKillDir), ack); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(doneLine)
	return 0
}

// killSelf ends this process as kill -9 does and doesn't return.
func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	select {}
}

// runChild starts the child and answers how often it called ack and whether it
// lived to the end of its step.
func runChild(t *testing.T, test, dir string, at int) (acked int, done bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), childFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+onlyTest(test), "-test.count=1", "-test.v=false")
	cmd.Env = append(os.Environ(),
		envKillTest+"="+test, envKillAt+"="+strconv.Itoa(at), envKillDir+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		switch lines.Text() {
		case ackLine:
			acked++
		case doneLine:
			done = true
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("child killed before operation %d: did not end within %v", at, childFor)
	}
	if done && err != nil || !done && cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("child killed before operation %d: %v\n%s%s", at, err, out, stderr.String())
	}
	if !done && err == nil {
		t.Fatalf("child killed before operation %d: it never ran the step of %s\n%s", at, test, out)
	}
	return acked, done
}

// onlyTest is the pattern that runs one test or subtest.
func onlyTest(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
