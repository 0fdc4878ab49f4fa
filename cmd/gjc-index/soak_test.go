package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soak is one home that many processes use at once: writers, readers,
// refreshers, a rebuild, removals, and programs that know nothing of us.
type soak struct {
	t          *testing.T
	home, work string
	until      time.Time

	mu     sync.Mutex
	tokens map[string]bool // what was told to be committed
	runs   map[string]int
	n      int
}

// GJC_SOAK is how long, such as 10m (make soak); without it a few seconds.
func soakFor(t *testing.T) time.Duration {
	text := os.Getenv("GJC_SOAK")
	if text == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// token is a word that stands nowhere else.
func (s *soak) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return fmt.Sprintf("token%06dx", s.n)
}

func (s *soak) committed(tokens ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tok := range tokens {
		s.tokens[tok] = true
	}
}

// process runs the command as a process and answers its output. Any exit
// status but 0 and those in may is a fault.
func (s *soak) process(stdin string, may []int, args ...string) (stdout string, status int) {
	cmd := exec.Command(os.Args[0], append(args, "--home", s.home)...)
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
	cmd.Dir = s.work
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	status = cmd.ProcessState.ExitCode()
	s.mu.Lock()
	s.runs[args[0]]++
	s.mu.Unlock()
	if err != nil && status < 0 || status != exitDone && !slices.Contains(may, status) {
		s.t.Errorf("%v: status %d, %v: %s", args, status, err, errs.String())
	}
	return out.String(), status
}

// actor runs fn again and again until the time is over.
func (s *soak) actor(wg *sync.WaitGroup, fn func(n int)) {
	wg.Go(func() {
		for n := 0; time.Now().Before(s.until) && !s.t.Failed(); n++ {
			fn(n)
		}
	})
}

// write appends messages to a session and notes those that were committed.
func (s *soak) write(id string, more ...string) {
	tokens := []string{s.token(), s.token(), s.token()}
	var in strings.Builder
	for i, tok := range tokens {
		in.WriteString(spokenBy([]string{"user", "assistant", "user"}[i], "say "+tok))
	}
	out, _ := s.process(in.String(), []int{exitBusy}, append([]string{"append", id, "--each", "--json"}, more...)...)
	for i, o := range objectLines(s.t, out) {
		if o["outcome"] == "committed" {
			s.committed(tokens[i])
		}
	}
}

func objectLines(t *testing.T, text string) (all []map[string]any) {
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		all = append(all, o)
	}
	return all
}

func (s *soak) begin(args ...string) (id, path string) {
	out, _ := s.process("", nil, append([]string{"new", "--json"}, args...)...)
	for _, o := range objectLines(s.t, out) {
		id, _ = o["id"].(string)
		path, _ = o["path"].(string)
	}
	if path == "" {
		s.t.Fatalf("new printed %q", out)
	}
	return id, path
}

// foreignEvery is how often a foreign program writes.
const foreignEvery = 10 * time.Millisecond

// foreign appends to a file as a program does that opens it by its path for
// each line.
func (s *soak) foreign(path string, n int) {
	<-time.After(foreignEvery)
	tok := s.token()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	_, err = fmt.Fprintf(f, `{"type":"message","id":"f%d%s","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"user","content":"foreign %s"}}`+"\n", n, tok, tok)
	if cerr := f.Close(); err != nil || cerr != nil {
		s.t.Error(err, cerr)
		return
	}
	s.committed(tok)
}

// aged makes an old session for prune, in the directory of path.
func (s *soak) aged(path string, n int) {
	tok := s.token()
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf("aged%d.jsonl", n))
	writeFile(s.t, name, small(fmt.Sprintf("aged%04d", n), s.work, "old "+tok, n%60))
	old := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(name, old, old); err != nil {
		s.t.Error(err)
	}
	s.committed(tok)
}

// act starts everyone, and waits for them.
func (s *soak) act() {
	shared, sharedPath := s.begin("--title", "shared")
	long, longPath := s.begin("--title", "long")
	s.process(spokenBy("user", "first")+spokenBy("assistant", "yes")+spokenBy("user", "second"), nil, "append", long)
	var wg sync.WaitGroup
	for range 4 {
		own, _ := s.begin()
		s.actor(&wg, func(int) { s.write(own) })
	}
	for range 4 {
		s.actor(&wg, func(int) { s.write(shared, "--wait", "20s") })
	}
	s.actor(&wg, func(n int) { s.foreign(sharedPath, n) })
	s.actor(&wg, func(n int) { s.foreign(longPath, n) })
	s.actor(&wg, func(n int) { s.aged(sharedPath, n); s.process("", nil, "prune", "--older-than", "30d", "--yes", "-q") })
	s.actor(&wg, func(int) { s.process("", nil, "list", "--json", "-q") })
	s.actor(&wg, func(int) { s.process("", nil, "search", "say token", "--json") })
	s.actor(&wg, func(int) { s.process("", nil, "context", shared, "--json", "-q") })
	s.actor(&wg, func(int) { s.process("", nil, "usage", "--by", "day", "--json", "-q") })
	s.actor(&wg, func(int) { s.process("", []int{exitBusy}, "reindex", "-q") })
	s.actor(&wg, func(int) { s.process("", []int{exitBusy}, "reindex", "--full", "-q") })
	s.actor(&wg, func(int) { s.process("", nil, "gc", "--grace", "1h", "--yes", "-q") })
	s.actor(&wg, func(int) { s.process("", []int{exitBusy}, "fork", long, "-q") })
	s.actor(&wg, func(n int) { s.process("", []int{exitBusy}, "title", long, fmt.Sprint("long ", n), "-q") })
	s.actor(&wg, func(n int) { s.process("", nil, "history", "add", s.typed(), "-q") })
	wg.Wait()
}

// typed is a prompt for the history.
func (s *soak) typed() string {
	tok := s.token()
	s.committed(tok)
	return "typed " + tok
}

// TestSoak: no error that a person would see, no lost entry, no id given
// twice, and at the end an index that equals the files.
func TestSoak(t *testing.T) {
	base := t.TempDir()
	s := &soak{t: t, home: filepath.Join(base, "home"), work: filepath.Join(base, "work"), tokens: map[string]bool{}, runs: map[string]int{}}
	if err := os.Mkdir(s.work, 0o700); err != nil {
		t.Fatal(err)
	}
	goroutines, files := runtime.NumGoroutine(), openFiles("self")
	s.begin()
	watching := s.watch()
	s.until = time.Now().Add(soakFor(t))
	s.act()
	watching()
	if t.Failed() {
		return
	}
	s.wantTokens()
	s.wantOwnEventIDs()
	for _, args := range [][]string{{"reindex", "-q"}, {"verify", "-q"}} {
		s.process("", nil, args...)
	}
	if now := openFiles("self"); now > files {
		t.Errorf("%d files are open, %d were before", now, files)
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	t.Logf("%d entries committed; runs: %v", len(s.tokens), s.runs)
}

// wantTokens fails if what was committed is in no file.
func (s *soak) wantTokens() {
	found := map[string]bool{}
	re := regexp.MustCompile(`token[0-9]{6}x`)
	for _, sub := range []string{"sessions", "trash"} {
		err := filepath.WalkDir(filepath.Join(s.home, sub), func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".ndjson") {
				return nil // a directory that is not there holds nothing
			}
			for _, tok := range re.FindAllString(readFile(s.t, path), -1) {
				found[tok] = true
			}
			return nil
		})
		if err != nil {
			s.t.Error(err)
		}
	}
	for _, text := range rowsOf(s.t, filepath.Join(s.home, "history.db")) {
		for _, tok := range re.FindAllString(text, -1) {
			found[tok] = true
		}
	}
	for tok := range s.tokens {
		if !found[tok] {
			s.t.Errorf("%s was committed and is in no file", tok)
		}
	}
}

// wantOwnEventIDs fails if two entries of the home have one event id.
func (s *soak) wantOwnEventIDs() {
	re := regexp.MustCompile(`"event_id":"([0-9a-f]{16})"`)
	paths, err := filepath.Glob(filepath.Join(s.home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		s.t.Fatal(paths, err)
	}
	where := map[string]string{}
	for _, path := range paths {
		for _, m := range re.FindAllStringSubmatch(readFile(s.t, path), -1) {
			if before, ok := where[m[1]]; ok {
				s.t.Errorf("event id %s is in %s and in %s", m[1], before, path)
			}
			where[m[1]] = path
		}
	}
}

// watch starts a watcher, which sees it all; stop ends it and wants it to have
// grown by nothing that a longer run would make worse.
func (s *soak) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], "watch", "--json", "--home", s.home)
	cmd.Env, cmd.Dir = append(os.Environ(), "GJC_INDEX_MAIN=1"), s.work
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	return func() {
		files := openFiles(pid)
		cancel()
		_ = cmd.Wait() // interrupted: the status says so
		if status := cmd.ProcessState.ExitCode(); status != exitDone && status != exitInterrupted {
			s.t.Errorf("watch: status %d: %s", status, errs.String())
		}
		const mostFiles = 100 // databases, sockets, one of each worker
		if files > mostFiles {
			s.t.Errorf("watch has %d files open, at most %d", files, mostFiles)
		}
		s.t.Logf("watch: %d files open", files)
	}
}

// openFiles is how many files a process has open, 0 where it can't be told.
func openFiles(pid string) int {
	names, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		return 0
	}
	return len(names)
}
