package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A hostile home: what no program writes, and what a bad day, a bad disk or a
// bad neighbour leaves. Commands take bounded memory and time, and everything
// that is whole is still listed.
//
// GJC_HOSTILE=all makes it big: a million empty files, 100,000 scopes.
type hostile struct {
	t     *testing.T
	home  string
	whole []string // ids of the sessions that are whole
}

func hostileSizes() (empty, scopes, twins int) {
	if os.Getenv("GJC_HOSTILE") == "all" {
		return 1_000_000, 100_000, 10_000
	}
	return 3000, 300, 1000
}

func (h *hostile) dir(name string) string {
	h.t.Helper()
	dir := filepath.Join(h.home, "sessions", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// put writes a transcript; id "" is one that is not whole.
func (h *hostile) put(path, id, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if id != "" {
		h.whole = append(h.whole, id)
	}
}

// names puts sessions under names that are hard to handle.
func (h *hostile) names() {
	for i, dir := range []string{"--a\nb--", "--\xff\xfe--", "--\u202e\u0000"[:len("--\u202e")] + "--", "-- --", "--" + strings.Repeat("d", 240) + "--", "--'\"$(x)`--"} {
		id := fmt.Sprintf("named%03d", i)
		h.put(filepath.Join(h.dir(dir), "a\nb\xff \u202e'\".jsonl"), id, small(id, "/p", "prompt of a name", i))
	}
	h.put(filepath.Join(h.dir("--long--"), strings.Repeat("n", 249)+".jsonl"), "longname", small("longname", "/p", "prompt of a long name", 1))
}

// shapes puts files whose content is hard to read.
func (h *hostile) shapes() {
	dir := h.dir("--shapes--")
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	head := func(id string) string { return small(id, "/p", "prompt of a shape", 2) }
	entry := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"user","content":%s}}`+"\n", id, parent, rest)
	}
	h.put(filepath.Join(dir, "deep.jsonl"), "deep0001", head("deep0001")+`{"type":"custom","customType":"x","data":`+deep+`,"id":"d","parentId":"m1","timestamp":"2026-03-01T00:00:00.000Z"}`+"\n")
	h.put(filepath.Join(dir, "unclosed.jsonl"), "unclosed", head("unclosed")+strings.Repeat(`{"a":`, 200_000)+"\n")
	h.longLine(filepath.Join(dir, "line.jsonl"), head("longline")+entry("l", "m1", `"`))
	h.put(filepath.Join(dir, "cycle.jsonl"), "cycle001", head("cycle001")+entry("x", "y", `"x"`)+entry("y", "z", `"y"`)+entry("z", "x", `"z"`))
	h.put(filepath.Join(dir, "self.jsonl"), "self0001", head("self0001")+entry("s", "s", `"s"`))
	h.put(filepath.Join(dir, "nul.jsonl"), "nul00001", head("nul00001")+strings.Repeat("\x00", 1<<20)+"\n")
	var twins strings.Builder
	_, _, n := hostileSizes()
	for i := range n {
		twins.WriteString(entry("twin", "twin", fmt.Sprintf(`"twin %d"`, i)))
	}
	h.put(filepath.Join(dir, "twins.jsonl"), "twins001", head("twins001")+twins.String())
	for _, text := range []string{"\x00", "{", "[]\n", "null\n", "\xff\xfe{\x00", `{"type":"session"}` + "\n", `{"type":"session","version":99,"id":"v99","cwd":"/p","timestamp":"x"}` + "\n"} {
		h.put(filepath.Join(dir, fmt.Sprintf("bad%x.jsonl", text[:1])), "", text)
	}
}

// longLine ends the last string of a session after 70 MB. It is written in
// pieces: a child's memory is counted from that of its parent on.
func (h *hostile) longLine(path, text string) {
	h.t.Helper()
	begin, end := strings.TrimSuffix(text, "}}\n"), "\"}}\n"
	h.put(path, "longline", begin)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	piece := strings.Repeat("y", 1<<20)
	for range 70 {
		_, err = f.WriteString(piece)
		if err != nil {
			h.t.Fatal(err)
		}
	}
	_, err = f.WriteString(end)
	if cerr := f.Close(); err != nil || cerr != nil {
		h.t.Fatal(err, cerr)
	}
}

// things puts what is no file: links in circles, pipes, sockets, devices.
func (h *hostile) things() {
	dir := h.dir("--things--")
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	must(os.Symlink("loop.jsonl", filepath.Join(dir, "loop.jsonl")))
	must(os.Symlink("b.jsonl", filepath.Join(dir, "a.jsonl")))
	must(os.Symlink("a.jsonl", filepath.Join(dir, "b.jsonl")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero.jsonl")))
	must(os.Symlink("..", filepath.Join(dir, "up")))
	must(os.Symlink(filepath.Join(h.home, "sessions"), filepath.Join(h.home, "sessions", "--again--")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe.jsonl"), 0o600))
	must(os.Mkdir(filepath.Join(dir, "directory.jsonl"), 0o700))
	if l, err := net.Listen("unix", filepath.Join(dir, "s.jsonl")); err == nil { // a long path can't be a socket
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		must(l.Close())
	}
	if os.Geteuid() == 0 {
		_ = syscall.Mknod(filepath.Join(dir, "device.jsonl"), syscall.S_IFCHR|0o600, 1<<8|5) // /dev/zero; a container may not
	}
	for _, name := range []string{"index.db-journal", "history.db-wal"} {
		must(os.WriteFile(filepath.Join(h.home, name), []byte("not of SQLite"), 0o600))
	}
}

// many puts more than anyone has.
func (h *hostile) many() {
	empty, scopes, _ := hostileSizes()
	dir := h.dir("--empty--")
	for i := range empty {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("e%d.jsonl", i)))
		if err != nil {
			h.t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			h.t.Fatal(err)
		}
	}
	for i := range scopes {
		h.dir(fmt.Sprintf("--scope%d--", i))
	}
}

// TestHostileHome runs the reading commands over it.
func TestHostileHome(t *testing.T) {
	h := &hostile{t: t, home: filepath.Join(t.TempDir(), "home")}
	h.names()
	h.shapes()
	h.things()
	h.many()
	limit, memory := 60*time.Second, int64(900<<10) // KiB; a line of 70 MB is held, parsed, folded, stored and compared
	if os.Getenv("GJC_HOSTILE") == "all" {
		limit, memory = 10*time.Minute, 1800<<10 // what is known of a million files, compared once more by verify
	}
	for _, args := range [][]string{
		{"list", "--json", "--limit", "100"}, {"list"}, {"reindex", "--full"}, {"search", "prompt", "--json"}, {"search", "twin", "--role", "any", "--json"},
		{"show", "named001"}, {"context", "cycle001", "--json"}, {"tree", "twins001"}, {"tree", "self0001"}, {"context", "deep0001", "--json"},
		{"show", "longline"}, {"usage"}, {"inventory"}, {"status"}, {"verify"}, {"prune", "--older-than", "1h"}, {"gc"},
		{"export", "deep0001", "--out", "-", "--format", "html"}, {"chat", "twins001"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) { h.run(t, args, limit, memory) })
	}
}

func (h *hostile) run(t *testing.T, args []string, limit time.Duration, memoryKiB int64) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "--home", h.home)...)
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if args[0] == "show" {
		cmd.Stdout = io.Discard
	}
	debug.FreeOSMemory()
	begin := time.Now()
	_ = cmd.Run() // the status is looked at
	took, status := time.Since(begin), cmd.ProcessState.ExitCode()
	if status != exitDone && status != exitPart || strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("%v: status %d: %.2000s", args, status, errs.String())
	}
	if took > limit {
		t.Errorf("%v took %v, at most %v", args, took, limit)
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && used.Maxrss > max(memoryKiB, ownPeak(t)) && !raceDetector {
		t.Errorf("%v took %d KiB, at most %d", args, used.Maxrss, memoryKiB)
	} else if ok {
		t.Logf("%v, %d MB", took.Round(time.Millisecond), used.Maxrss>>10)
	}
	if args[0] == "list" && len(args) > 1 {
		got := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			var o struct{ ID string }
			if json.Unmarshal([]byte(line), &o) == nil {
				got[o.ID] = true
			}
		}
		for _, id := range h.whole {
			if !got[id] {
				t.Errorf("%s is not listed", id)
			}
		}
	}
}

// ownPeak is the most memory that this process had, in KiB. A process that it
// starts is charged as much at least.
func ownPeak(t *testing.T) int64 {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return used.Maxrss
}
