package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

// hooked tells which session files were opened, and which names were made,
// changed or removed.
type hooked struct {
	storage.FS
	mu      sync.Mutex
	opened  []string
	changed []string
}

func (h *hooked) change(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed = append(h.changed, name)
}

func (h *hooked) Open(name string) (storage.File, error) {
	if strings.HasSuffix(name, ".jsonl") {
		h.mu.Lock()
		h.opened = append(h.opened, name)
		h.mu.Unlock()
	}
	return h.FS.Open(name)
}

func (h *hooked) Create(name string) (storage.File, error) { h.change(name); return h.FS.Create(name) }
func (h *hooked) Edit(name string) (storage.File, error)   { h.change(name); return h.FS.Edit(name) }
func (h *hooked) Append(name string) (storage.File, error) { h.change(name); return h.FS.Append(name) }
func (h *hooked) Mkdir(name string) error                  { h.change(name); return h.FS.Mkdir(name) }
func (h *hooked) Remove(name string) error                 { h.change(name); return h.FS.Remove(name) }

func (h *hooked) Rename(o, n string) error {
	h.change(o)
	h.change(n)
	return h.FS.Rename(o, n)
}

func (h *hooked) RenameNoReplace(o, n string) error {
	h.change(o)
	h.change(n)
	return h.FS.RenameNoReplace(o, n)
}
func (h *hooked) Link(o, n string) error { h.change(n); return h.FS.Link(o, n) }
func (h *hooked) Chmod(name string, mode fs.FileMode) error {
	h.change(name)
	return h.FS.Chmod(name, mode)
}
func (h *hooked) Chtimes(name string, modTime int64) error {
	h.change(name)
	return h.FS.Chtimes(name, modTime)
}
func (h *hooked) Lock(ctx context.Context, name string, mode storage.LockMode) (storage.Lock, error) {
	h.change(name)
	return h.FS.Lock(ctx, name, mode)
}

func (h *hooked) TryLock(name string, mode storage.LockMode) (storage.Lock, error) {
	h.change(name)
	return h.FS.TryLock(name, mode)
}

// runHooked runs the command and gives the session files it opened and the
// names it made, changed or removed through storage.
func runHooked(t *testing.T, args ...string) (opened, changed []string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &errs)
	h := &hooked{FS: a.fsys}
	a.fsys = h
	if status := a.run(context.Background(), args); status != exitDone && status != exitPart {
		t.Fatalf("%q: status %d, stderr %q", args, status, errs.String())
	}
	return h.opened, h.changed
}

// everything is all names under dir with what a look at them tells.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if rel == "." || strings.HasPrefix(rel, "index.db") {
			return err
		}
		all[rel] = info.Mode().String() + " " + info.ModTime().String()
		if !d.IsDir() {
			all[rel] += " " + strconv.FormatInt(info.Size(), 10)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReadingMakesNothingButTheIndex(t *testing.T) {
	home := makeHome(t, map[string]string{
		"p/a.jsonl":        small("a", "/p", "one", 1),
		"p/a/child.jsonl":  small("child", "/p", "two", 2),
		"p/bad.jsonl":      "{\n",
		"p/b.jsonl.x.bak":  small("b", "/p", "three", 3), // an orphan backup is not promoted
		"-legacy/c.jsonl":  small("c", "/p", "four", 4),
		"event-id-garbage": "x",
	})
	before := everything(t, home)
	for _, args := range [][]string{
		{"list"}, {"list", "--damaged"}, {"list", "--json"}, {"search", "one"}, {"search", "--role", "any", "one"}, {"show", "a"},
		{"tree", "a"}, {"context", "a"}, {"status"}, {"verify"}, {"reindex"}, {"reindex", "--full"}, {"verify", "a"}, {"list", "--no-refresh"},
	} {
		_, changed := runHooked(t, append(args, "--home", home)...)
		for _, name := range changed {
			base := strings.TrimPrefix(filepath.Base(name), ".") // a database is made under another name
			if filepath.Dir(name) != home || !strings.HasPrefix(base, "index.db") {
				t.Errorf("%q touched %s", args, name)
			}
		}
		if left, err := filepath.Glob(filepath.Join(home, ".*")); err != nil || len(left) > 0 {
			t.Errorf("%q left %v, %v", args, left, err)
		}
		if diff := cmp.Diff(before, everything(t, home)); diff != "" {
			t.Fatalf("%q (-before +after):\n%s", args, diff)
		}
	}
	dir := filepath.Join(home, "sessions", "p")
	for _, args := range [][]string{{"list"}, {"search", "one"}, {"show", "a"}, {"status"}} {
		if _, changed := runHooked(t, append(args, "--session-dir", dir)...); len(changed) > 0 {
			t.Errorf("%q --session-dir touched %v", args, changed)
		}
		if diff := cmp.Diff(before, everything(t, home)); diff != "" {
			t.Fatalf("%q --session-dir (-before +after):\n%s", args, diff)
		}
	}
}

// closedPipe is a reader that has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestOutputThatEnds(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"show", "a"}, {"tree", "a"}, {"context", "a"}, {"search"}, {"help"}} {
		var errs bytes.Buffer
		args := append(args, "--home", home)
		if status := run(context.Background(), args, strings.NewReader(""), closedPipe{}, &errs); status != exitDone || errs.Len() > 0 {
			t.Errorf("%q into a closed pipe: status %d, stderr %q", args, status, errs.String())
		}
		errs.Reset()
		if status := run(context.Background(), args, strings.NewReader(""), fullDisk{}, &errs); status != exitError || errs.Len() == 0 {
			t.Errorf("%q onto a full disk: status %d, stderr %q", args, status, errs.String())
		}
	}
}

func TestInterruptedIs130(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	status := run(ctx, []string{"list", "--home", home}, strings.NewReader(""), &out, &errs)
	if status != exitInterrupted || errs.String() != "gjc-index: interrupted\n" {
		t.Errorf("list, interrupted: status %d, want %d; stderr %q", status, exitInterrupted, errs.String())
	}
}

// TestStartIsQuick: no package does much before main. What it allocates is
// counted, not how long it takes: that depends on what else the machine does.
func TestStartIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "version")
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1", "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("version: %v: %s", err, trace)
	}
	const maxBytes, maxAllocs = 512 << 10, 4000 // a millisecond's work
	packages := 0
	for line := range strings.Lines(string(trace)) {
		f := strings.Fields(line) // init encoding/json @0.5 ms, 0.012 ms clock, 1234 bytes, 5 allocs
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		bytes, err := strconv.Atoi(f[7])
		allocs, aerr := strconv.Atoi(f[9])
		if err = errors.Join(err, aerr); err != nil {
			t.Fatalf("trace %q: %v", line, err)
		}
		packages++
		if (bytes > maxBytes || allocs > maxAllocs) && !strings.Contains(f[1], "testing") && !strings.Contains(f[1], "testscript") {
			t.Errorf("package %s allocates %d bytes in %d pieces before main", f[1], bytes, allocs)
		}
	}
	if packages == 0 {
		t.Fatalf("no trace: %s", trace)
	}
}
