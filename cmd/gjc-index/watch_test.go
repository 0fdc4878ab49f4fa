package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// watcherProcess is a watch that runs as a process of its own.
type watcherProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan string // of stdout
	ended  chan error
	stderr *bytes.Buffer
}

// startWatch starts the command and waits until it says that it watches.
func startWatch(t *testing.T, home string, flags ...string) *watcherProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &watcherProcess{t: t, cmd: exec.Command(self, append([]string{"watch", "--home", home}, flags...)...),
		lines: make(chan string, 100), ended: make(chan error, 1), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1", "TZ=UTC")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	first, err := bufio.NewReader(io.TeeReader(errs, p.stderr)).ReadString('\n')
	if err != nil || !strings.Contains(first, "watching ") {
		t.Fatalf("watch says %q, %v", first, err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
		_, _ = io.Copy(p.stderr, errs)
		p.ended <- p.cmd.Wait()
	}()
	return p
}

func (p *watcherProcess) line() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatalf("watch has ended: %v, %s", <-p.ended, p.stderr)
		}
		return line
	case <-time.After(30 * time.Second):
		p.t.Fatal("watch prints nothing")
	}
	return ""
}

func TestWatchAsAProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	path := filepath.Join(home, "sessions", "p", "a.jsonl")
	p := startWatch(t, home, "--json")

	// A second one is told who holds it.
	_, stderr, status := answer(t, "watch", "--home", home)
	if pid := strconv.Itoa(p.cmd.Process.Pid); status != exitBusy || !strings.Contains(stderr, "process "+pid+" on ") {
		t.Errorf("a second watch: status %d, %q; want one that names process %s", status, stderr, pid)
	}

	out, _, status := answer(t, "status", "--home", home)
	if want := "watcher   process " + strconv.Itoa(p.cmd.Process.Pid) + " on "; status != exitDone || !strings.Contains(out, want) {
		t.Errorf("status beside a watcher: status %d, %q; want %q", status, out, want)
	}
	out, _, _ = answer(t, "status", "--home", home, "--json")
	if want := `"watcher":{"pid":` + strconv.Itoa(p.cmd.Process.Pid) + `,"host":"`; !strings.Contains(out, want) {
		t.Errorf("status --json beside a watcher: %q; want %q", out, want)
	}

	grow := func(id, text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		line := `{"type":"message","id":"` + id + `","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
		if _, err = f.WriteString(line); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	grow("x1", "seen by the watcher")
	var session, prompt watchJSON
	for _, into := range []*watchJSON{&session, &prompt} {
		line := p.line()
		if err := json.Unmarshal([]byte(line), into); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if session.Kind != "session" || session.Action != "changed" || session.ID == nil || *session.ID != "a" || session.Path != path {
		t.Errorf("the session's event is %+v", session)
	}
	if prompt.Kind != "prompt" || prompt.Text == nil || *prompt.Text != "seen by the watcher" || prompt.Entry != "x1" || *prompt.Time != "2026-03-01T09:00:01.000Z" {
		t.Errorf("the prompt's event is %+v", prompt)
	}

	// Other commands are never behind, whether it answers, has stopped or is killed.
	found := func(text string) {
		t.Helper()
		out, stderr, status := answer(t, "search", text, "--home", home)
		if status != exitDone || !strings.Contains(out, text) {
			t.Errorf("search %q: status %d, %q, %q", text, status, out, stderr)
		}
	}
	grow("x2", "while it watches")
	found("while it watches")
	if err := p.cmd.Process.Signal(stopSignal); err == nil {
		grow("x3", "while it stands still")
		found("while it stands still")
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range p.lines {
	}
	<-p.ended
	grow("x4", "after it was killed")
	found("after it was killed")

	q := startWatch(t, home)
	grow("x5", "watched again")
	if line := q.line(); !strings.Contains(line, "changed") {
		t.Errorf("for people: %q", line)
	}
	if line := q.line(); !strings.Contains(line, "prompt   a") || !strings.Contains(line, "watched again") {
		t.Errorf("for people: %q", line)
	}
	if err := q.cmd.Process.Signal(os.Interrupt); err == nil {
		for range q.lines {
		}
		if err := <-q.ended; err != nil {
			t.Errorf("interrupted: %v, %s", err, q.stderr)
		}
	}
	if left, err := filepath.Glob(filepath.Join(home, "index.db.watch.*")); err != nil || len(left) > 0 {
		t.Errorf("watch leaves %v, %v", left, err)
	}
}

func TestWatchEndsWithItsReader(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	ready := make(chan string, 10)
	a := newApp(strings.NewReader(""), closedPipe{}, toldOn(ready))
	ended := make(chan int, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { ended <- a.run(ctx, []string{"watch", "--home", home, "--json"}) }()
	if first := <-ready; !strings.Contains(first, "watching") {
		t.Fatalf("watch says %q", first)
	}
	writeFile(t, filepath.Join(home, "sessions", "p", "b.jsonl"), small("b", "/p", "two", 2))
	if status := <-ended; status != exitDone || ctx.Err() != nil {
		t.Errorf("watch without a reader: status %d", status)
	}
}

// toldOn hands over what is written to it.
type toldOn chan string

func (c toldOn) Write(b []byte) (int, error) {
	c <- string(b)
	return len(b), nil
}
