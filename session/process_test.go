package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// The environment of a child process of these tests.
const (
	envChildDir   = "GJC_SESSION_CHILD_DIR"   // where it works
	envChildFile  = "GJC_SESSION_CHILD_FILE"  // the session it opens; "" for a new one
	envChildCount = "GJC_SESSION_CHILD_COUNT" // how many entries it appends
	envLong       = "GJC_LONG_TESTS"          // run the long form of tests
)

// TestChildProcess is what a child does: it opens a session, says so, appends
// when told and says how that went.
func TestChildProcess(t *testing.T) {
	dir := os.Getenv(envChildDir)
	if dir == "" {
		t.Skip("started by other tests only")
	}
	st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
	s, err := openChild(t.Context(), st, dir)
	if err != nil {
		fmt.Println("refused", errors.Is(err, ErrBusy), err)
		return
	}
	fmt.Println("open", s.Path())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until told to go on
	count, _ := strconv.Atoi(os.Getenv(envChildCount))
	for i := range count {
		if _, err := s.AppendMessage(t.Context(), message("assistant", fmt.Sprintf("%d from %d", i, os.Getpid()))); err != nil {
			t.Fatal(err)
		}
	}
	noErr(t, s.Close())
	fmt.Println("closed")
}

func openChild(ctx context.Context, st *Store, dir string) (*Session, error) {
	if path := os.Getenv(envChildFile); path != "" {
		return st.Open(ctx, path, OpenOptions{})
	}
	return st.Create(ctx, dir, CreateOptions{Dir: filepath.Join(dir, "s")})
}

// child is a process that runs TestChildProcess.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	in    io.WriteCloser
	errs  bytes.Buffer
}

func startChild(t *testing.T, dir, file string, count int) *child {
	t.Helper()
	c := &child{cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildProcess$", "-test.count=1")}
	c.cmd.Env = append(os.Environ(), envChildDir+"="+dir, envChildFile+"="+file, envChildCount+"="+strconv.Itoa(count))
	c.cmd.Stderr = &c.errs
	out, err := c.cmd.StdoutPipe()
	noErr(t, err)
	c.in, err = c.cmd.StdinPipe()
	noErr(t, err)
	c.lines = bufio.NewScanner(out)
	noErr(t, c.cmd.Start())
	return c
}

// says is the next line of the child.
func (c *child) says(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("child ended early: %v\n%s", c.lines.Err(), c.errs.String())
	}
	return c.lines.Text()
}

func (c *child) goOn(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(c.in, "\n")
	noErr(t, err)
}

func (c *child) wait(t *testing.T) {
	t.Helper()
	for c.lines.Scan() { // to the end
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("child: %v\n%s", err, c.errs.String())
	}
}

func TestEightProcessesOnEightSessionsShareNoEventID(t *testing.T) {
	dir, count := t.TempDir(), 1000
	var children []*child
	for range 8 {
		children = append(children, startChild(t, dir, "", count))
	}
	for _, c := range children {
		if said := c.says(t); !strings.HasPrefix(said, "open ") {
			t.Fatalf("child says %q, want that it has opened its session", said)
		}
	}
	for _, c := range children {
		c.goOn(t)
	}
	for _, c := range children {
		c.wait(t)
	}
	f := look(t, storage.Disk(storage.Policy{}), filepath.Join(dir, "s"))
	if len(f.files) != 8 || len(f.events) != 8*count || len(f.texts) != 8*count {
		t.Errorf("found %d files, %d event ids, %d texts; want 8, %d, %d", len(f.files), len(f.events), len(f.texts), 8*count, 8*count)
	}
}

func TestOnlyOneOfEightProcessesWritesASession(t *testing.T) {
	dir := t.TempDir()
	path := writeSession(t, dir, "one.jsonl")
	var children []*child
	for range 8 {
		children = append(children, startChild(t, dir, path, 10))
	}
	writers := 0
	for _, c := range children {
		said := c.says(t)
		switch {
		case strings.HasPrefix(said, "open "):
			writers++
		case strings.HasPrefix(said, "refused true"):
		default:
			t.Errorf("child says %q, want that it is busy", said)
		}
	}
	for _, c := range children {
		_, _ = io.WriteString(c.in, "\n") // some have ended
	}
	for _, c := range children {
		c.wait(t)
	}
	if writers != 1 {
		t.Errorf("%d processes opened the session for writing, want 1", writers)
	}
	if f := look(t, storage.Disk(storage.Policy{}), filepath.Join(dir, "s")); len(f.texts) != 12 {
		t.Errorf("the file has %d texts, want the 2 it had and 10 of one process", len(f.texts))
	}
}

// writeSession puts a finished session into the directory s of dir.
func writeSession(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, "s", name)
	noErr(t, os.MkdirAll(filepath.Dir(path), 0o700))
	noErr(t, os.WriteFile(path, []byte(sessionText("one", dir)), 0o600))
	return path
}

func TestBusySessionNamesItsHolder(t *testing.T) {
	dir := t.TempDir()
	path := writeSession(t, dir, "one.jsonl")
	c := startChild(t, dir, path, 0)
	c.says(t)
	st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
	_, err := st.Open(t.Context(), path, OpenOptions{})
	var busy *BusyError
	if !errors.As(err, &busy) || busy.PID != c.cmd.Process.Pid || busy.Since == "" || busy.Host == "" {
		t.Errorf("Open() = %v, want a BusyError that names process %d", err, c.cmd.Process.Pid)
	}
	c.goOn(t)
	s, err := st.Open(t.Context(), path, OpenOptions{Wait: time.Minute})
	if err != nil {
		t.Fatalf("Open() with waiting = %v", err)
	}
	noErr(t, s.Close())
	c.wait(t)
}

func TestKilledHolderFreesItsSession(t *testing.T) {
	dir := t.TempDir()
	path := writeSession(t, dir, "one.jsonl")
	c := startChild(t, dir, path, 0)
	c.says(t)
	noErr(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
	s, err := st.Open(t.Context(), path, OpenOptions{})
	if err != nil {
		t.Fatalf("Open() after the holder was killed = %v", err)
	}
	noErr(t, s.Close())
}

func TestWhatALeaseFileSaysBlocksNobody(t *testing.T) {
	texts := map[string]string{
		"names this process":    fmt.Sprintf(`{"pid":%d,"host":"here","since":"2026-01-01T00:00:00.000Z"}`, os.Getpid()),
		"names another process": fmt.Sprintf(`{"pid":%d,"host":"here","since":"2020-01-01T00:00:00.000Z"}`, os.Getppid()),
		"empty":                 "",
		"garbage":               "\x00\xff{{{",
	}
	for _, name := range []string{"lease-deadpid.json", "lease-empty.json", "lease-garbage.json"} {
		if text, err := os.ReadFile(filepath.Join("..", "testdata", "faults", "B051", name)); err == nil {
			texts[name] = string(text)
		}
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := writeSession(t, dir, "one.jsonl")
			noErr(t, os.WriteFile(leasePath(path), []byte(text), 0o600))
			st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
			s, err := st.Open(t.Context(), path, OpenOptions{})
			if err != nil {
				t.Fatalf("Open() = %v", err)
			}
			noErr(t, s.Close())
		})
	}
}

// TestRewritingBesideAnotherProgramLosesNoLine rewrites a session over and
// over while another program appends a line each millisecond, by path.
func TestRewritingBesideAnotherProgramLosesNoLine(t *testing.T) {
	dir, rewrites := t.TempDir(), 40
	if os.Getenv(envLong) != "" {
		rewrites = 1000
	}
	path := writeSession(t, dir, "one.jsonl")
	opt := newWriter(nil, dir, Options{}).opt
	opt.settle = 0
	s, err := NewStore(storage.Disk(storage.Policy{}), opt).Open(t.Context(), path, OpenOptions{})
	noErr(t, err)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	written := 0
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err = fmt.Fprintf(f, `{"type":"custom","customType":"theirs","id":"t%d","parentId":"aa000002","timestamp":"2026-02-10T08:03:00.000Z"}`+"\n", written); err != nil {
				t.Error(err)
			}
			written++
			_ = f.Close()
		}
	})
	for i := range rewrites {
		noErr(t, s.RewriteEntries(t.Context(), nil))
		_, err := s.AppendMessage(t.Context(), message("user", fmt.Sprintf("ours %d", i)))
		noErr(t, err)
	}
	close(stop)
	wg.Wait()
	noErr(t, s.Close())
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noErr(t, err)
	seen := map[string]int{}
	for _, e := range tr.Entries() {
		id, _ := e.ID()
		seen[id]++
	}
	for i := range written {
		if id := fmt.Sprintf("t%d", i); seen[id] != 1 {
			t.Errorf("line %s of the other program stands %d times, want once", id, seen[id])
		}
	}
	if want := 2 + rewrites + written; len(tr.Entries()) != want || len(tr.Malformed) > 0 {
		t.Errorf("file has %d entries and %d damaged lines, want %d and none", len(tr.Entries()), len(tr.Malformed), want)
	}
}

func TestTwoRawAppendersInterleaveWholeLines(t *testing.T) {
	dir := t.TempDir()
	path := writeSession(t, dir, "one.jsonl")
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			a, err := jsonl.OpenAppender(storage.Disk(storage.Policy{}), path)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 500 {
				line := fmt.Sprintf(`{"type":"custom","customType":"x","id":"%d-%d","parentId":null,"timestamp":"2026-02-10T08:03:00.000Z","data":%q}`+"\n", w, i, strings.Repeat("y", 8<<10))
				if err := a.Append(t.Context(), []byte(line), false); err != nil {
					t.Error(err)
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noErr(t, err)
	ids := map[string]bool{}
	for _, e := range tr.Entries() {
		id, _ := e.ID()
		ids[id] = true
	}
	if len(ids) != 1002 || len(tr.Malformed) != 0 {
		t.Errorf("file has %d ids and %d damaged lines, want 1002 and none", len(ids), len(tr.Malformed))
	}
}
