package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// said runs the command with stdin over fsys; nil is the disk.
func said(t *testing.T, fsys storage.FS, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(stdin), &out, &errs)
	if fsys != nil {
		a.fsys = fsys
	}
	status = a.run(context.Background(), args)
	return out.String(), errs.String(), status
}

// begun is a home with one new session for the directory work inside of it.
func begun(t *testing.T) (home, work, id, path string) {
	t.Helper()
	home = t.TempDir()
	work = filepath.Join(home, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	made := printed(t, "", "new", "--home", home, "--cwd", work)
	return home, work, made["id"].(string), made["path"].(string)
}

// printed is the last object that a command prints, which must succeed.
func printed(t *testing.T, stdin string, args ...string) map[string]any {
	t.Helper()
	out, errs, status := said(t, nil, stdin, args...)
	all := objects(t, out)
	if status != exitDone || len(all) == 0 {
		t.Fatalf("%q: status %d, %q, stderr %q", args, status, out, errs)
	}
	return all[len(all)-1]
}

func user(text string) string { return spokenBy("user", text) }

func spokenBy(role, text string) string {
	content, _ := json.Marshal(text) // a string always has JSON
	return fmt.Sprintf(`{"type":"message","message":{"role":%q,"content":%s}}`+"\n", role, content)
}

// outcomes are the outcomes that append prints.
func outcomes(t *testing.T, out string) []string {
	t.Helper()
	var all []string
	for _, o := range objects(t, out) {
		all = append(all, o["outcome"].(string))
	}
	return all
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// another runs the command as another process.
func another(t *testing.T, stdin string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	return cmd, &out, &errs
}

func TestWritersRefuseIDsThatArePaths(t *testing.T) {
	var ids []string
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(faultsDir(), "B111", "ids.json"))), &ids); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"append", "ID"}, {"fork", "ID"}, {"branch", "ID", "e"}, {"label", "set", "ID", "e", "l"}, {"label", "clear", "ID", "e"},
		{"label", "list", "ID"}, {"title", "ID", "t"}, {"resolve", "ID"}, {"rebind", "--to", ".", "--from", "/p", "ID"},
		{"delete", "--permanent", "--yes", "ID"},
	}
	outer := t.TempDir()
	home := filepath.Join(outer, "home")
	for _, id := range ids {
		for _, command := range commands {
			args := []string{"--home", home}
			for i, arg := range command {
				if arg == "ID" {
					args = append(append(args, command[:i]...), "--", id)
					args = append(args, command[i+1:]...)
				}
			}
			out, errs, status := said(t, nil, user("x"), args...)
			if status != exitUsage || out != "" {
				t.Errorf("%q: status %d, want %d; %q, stderr %q", args, status, exitUsage, out, errs)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(outer, "*", "[^i]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("made %q, %v", left, err)
	}
}

// A header's id that is a path leads nowhere.
func TestWritersOfASessionWhoseIDIsAPath(t *testing.T) {
	outer := t.TempDir()
	home, work := filepath.Join(outer, "home"), filepath.Join(outer, "work")
	for _, dir := range []string{home, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	evil := filepath.Join(work, "evil.jsonl")
	copyFile(t, filepath.Join(faultsDir(), "B111", "evil.jsonl"), evil)
	printed(t, user("more"), "append", evil, "--home", home)
	forked := printed(t, "", "fork", evil, "--home", home)["path"].(string)
	if filepath.Dir(forked) != work || strings.Contains(filepath.Base(forked), "escape") {
		t.Errorf("fork: %s", forked)
	}
	printed(t, "", "fork", evil, "--home", home, "--cwd", work)
	entries, err := os.ReadDir(outer)
	if err != nil || len(entries) != 2 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}

func TestBusySessionNamesItsHolder(t *testing.T) {
	home, _, id, path := begun(t)
	held, err := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: scope.HomeAt(home)}).Open(t.Context(), path, session.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"append", id}, {"append", id, "--wait", "50ms"}, {"title", id, "x"}, {"fork", id}, {"delete", id, "--permanent", "--yes"}} {
		cmd, out, errs := another(t, user("x"), append(args, "--home", home)...)
		_ = cmd.Run() // its status is looked at
		if got := cmd.ProcessState.ExitCode(); got != exitBusy || out.Len() > 0 {
			t.Errorf("%q: status %d, want %d; %q", args, got, exitBusy, out)
		}
		if want := fmt.Sprintf("is being written by process %d on ", os.Getpid()); !strings.Contains(errs.String(), want) {
			t.Errorf("%q: stderr %q, want %q in it", args, errs, want)
		}
	}
	// Readers are not held up.
	for _, args := range [][]string{{"show", id}, {"resolve", id}, {"fork", id, "--cwd", home}, {"continue", "--cwd", home}} {
		if out, errs, status := said(t, nil, "", append(args, "--home", home)...); status != exitDone {
			t.Errorf("%q: status %d, %q, stderr %q", args, status, out, errs)
		}
	}
	cmd, out, errs := another(t, user("x"), "append", id, "--home", home, "--wait", "30s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("append that waits: %v, stderr %q", err, errs)
	}
	if diff := cmp.Diff([]string{"committed"}, outcomes(t, out.String())); diff != "" {
		t.Errorf("append that waits (-want +got):\n%s", diff)
	}
}

func TestB050ManyProcessesAppendToOneSession(t *testing.T) {
	home, _, id, path := begun(t)
	const processes, each = 6, 25
	batch := strings.Repeat(spokenBy("assistant", strings.Repeat("x", 8<<10)), each)
	cmds := make([]*exec.Cmd, processes)
	for i := range cmds {
		cmds[i], _, _ = another(t, batch, "append", id, "--home", home, "--each", "--wait", "60s")
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("append: %v, stderr %q", err, cmd.Stderr)
		}
	}
	ids, events, parent := map[any]bool{}, map[any]bool{}, any(nil)
	lines := objects(t, readFile(t, path))[1:]
	for i, o := range lines {
		if o["parentId"] != parent {
			t.Errorf("entry %d follows %v, want %v", i, o["parentId"], parent)
		}
		parent = o["id"]
		ids[o["id"]], events[o["event_id"]] = true, true
	}
	if want := processes * each; len(lines) != want || len(ids) != want || len(events) != want {
		t.Errorf("%d entries, %d ids, %d event ids, want %d of each", len(lines), len(ids), len(events), want)
	}
}

func TestB051WhatALeaseFileSaysHoldsNobodyUp(t *testing.T) {
	for name, text := range map[string]string{
		"a live process": fmt.Sprintf(`{"pid":%d,"host":"here","since":"2026-03-01T00:00:00.000Z"}`, os.Getppid()),
		"this process":   fmt.Sprintf(`{"pid":%d}`, os.Getpid()),
		"nothing":        "",
		"garbage":        "\x00\xff{",
	} {
		t.Run(name, func(t *testing.T) {
			home, _, id, path := begun(t)
			lease := filepath.Join(filepath.Dir(path), "."+strings.TrimSuffix(filepath.Base(path), ".jsonl")+".lease")
			writeFile(t, lease, text)
			printed(t, user("x"), "append", id, "--home", home)
		})
	}
}

func TestB103DeleteTakesOneSessionsOwnFiles(t *testing.T) {
	home, work, _, path := begun(t)
	dir := filepath.Dir(path)
	for _, id := range []string{"abcd1234-one", "abcd1234-two"} {
		writeFile(t, filepath.Join(dir, id+".jsonl"), small(id, work, id, 1))
		printed(t, "", "title", id, id, "--home", home, "--json")
		if err := os.MkdirAll(filepath.Join(dir, id, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, id, "deep", "out.txt"), id)
		writeFile(t, filepath.Join(dir, id+".psm.ndjson"), "")
	}
	if _, errs, status := said(t, nil, "", "delete", "abcd1234", "--home", home, "--permanent", "--yes"); status != exitMissing {
		t.Errorf("delete of what could be either: status %d, stderr %q", status, errs)
	}
	printed(t, "", "delete", "abcd1234-one", "--home", home, "--permanent", "--yes", "--json")
	left, err := filepath.Glob(filepath.Join(dir, "*abcd1234*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range left {
		names = append(names, strings.TrimPrefix(filepath.Base(name), "abcd1234-"))
	}
	if diff := cmp.Diff([]string{".abcd1234-two.lease", "two", "two.jsonl", "two.meta.json", "two.psm.ndjson"}, names); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	for _, id := range listed(t, "--home", home) {
		if id == "abcd1234-one" {
			t.Errorf("list still shows %s", id)
		}
	}
}

func TestB140PromptsWithoutAnswersAreKept(t *testing.T) {
	for _, tt := range []struct {
		name, stdin string
		messages    string
	}{
		{"a question only", user("only a question"), "1"},
		{"settings only", `{"type":"thinking_level_change","thinkingLevel":"high"}`, "0"},
		{"an error for an answer", user("q") + `{"type":"message","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}}`, "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, work, id, _ := begun(t)
			printed(t, tt.stdin, "append", id, "--home", home)
			out, errs, status := answer(t, "list", "--home", home, "--json")
			if rows := objects(t, out); status != exitDone || len(rows) != 1 || rows[0]["id"] != id || fmt.Sprint(rows[0]["messages"]) != tt.messages {
				t.Errorf("list: status %d, %q, stderr %q", status, out, errs)
			}
			if got := printed(t, "", "continue", "--cwd", work, "--home", home, "--json")["id"]; got != id {
				t.Errorf("continue: %v, want %v", got, id)
			}
		})
	}
}

// The session that a terminal had last is the one to go on with there, though
// another one is newer.
func TestContinueKnowsItsTerminal(t *testing.T) {
	home, work, id, _ := begun(t)
	printed(t, user("x"), "append", id, "--home", home)
	continued := func(flags ...string) any {
		return printed(t, "", append([]string{"continue", "--cwd", work, "--home", home, "--json"}, flags...)...)["id"]
	}
	t.Setenv("TMUX", "server")
	t.Setenv("TMUX_PANE", "%7")
	if got := continued("--new"); got != id {
		t.Fatalf("continue --new: %v, want %v", got, id)
	}
	newer := printed(t, "", "new", "--cwd", work, "--home", home)["id"].(string)
	printed(t, user("x"), "append", newer, "--home", home)
	if got := continued(); got != id {
		t.Errorf("continue in the terminal that had %v: %v", id, got)
	}
	t.Setenv("TMUX_PANE", "%8")
	if got := continued(); got != newer {
		t.Errorf("continue in another terminal: %v, want the newest, %v", got, newer)
	}
}

// What chooses a session and what is made for other programs change nothing,
// not even an index.
func TestChoosingMakesNothing(t *testing.T) {
	home, work, id, path := begun(t)
	printed(t, user("x"), "append", path, "--home", home)
	if err := os.Rename(path, path+".1.bak"); err != nil { // an orphaned backup
		t.Fatal(err)
	}
	printed(t, "", "new", "--cwd", work, "--home", home)
	before := everything(t, home)
	for _, args := range [][]string{
		{"inventory"}, {"inventory", "--cwd", work}, {"scope", work}, {"scope", home}, {"continue", "--cwd", work},
		{"resolve", "0", "--cwd", work}, {"migrate", "--dry-run", "--cwd", work}, {"migrate", "--dry-run", "--all"},
		{"rebind", "--all", "--from", work, "--to", home, "--dry-run"},
	} {
		_, changed := runHooked(t, append(args, "--home", home)...)
		if len(changed) > 0 {
			t.Errorf("%q changed %q", args, changed)
		}
	}
	if diff := cmp.Diff(before, everything(t, home)); diff != "" {
		t.Errorf("the home (-before +after):\n%s", diff)
	}
	if out, errs, status := said(t, nil, "", "resolve", id, "--home", home); status != exitMissing {
		t.Errorf("resolve of what is a backup only: status %d, %q, stderr %q", status, out, errs)
	}
}

func TestTextsThatAreCutAreTold(t *testing.T) {
	home, _, id, path := begun(t)
	long := strings.Repeat("q", jsonl.MaxText+1)
	answer := spokenBy("assistant", "yes")
	for _, tt := range []struct {
		name, in, want string
	}{
		{"as long as may be", user(long[1:]), ""},
		{"one", user(long), "1 text was cut: a session file holds no text of more than 500,000 characters, and the rest is not stored"},
		{"two in one batch", user(long) + user("short") + user(long) + answer, "2 texts were cut: a session file holds no text of more than 500,000 characters, and the rest is not stored"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs, status := said(t, nil, tt.in, "append", "--home", home, id)
			if want := "gjc-index: " + tt.want + "\n"; status != exitDone || errs != want && tt.want != "" || errs != "" && tt.want == "" {
				t.Errorf("append: status %d, stderr %q, want %q", status, errs, want)
			}
		})
	}
	_, errs, _ := said(t, nil, user(long)+user(long), "append", "--home", home, path, "--each", "--json")
	if notes := objects(t, errs); len(notes) != 1 || !strings.HasPrefix(notes[0]["note"].(string), "2 texts were cut") {
		t.Errorf("append --each --json: stderr %q", errs)
	}
}

func TestACopyOfDamagedLinesIsTold(t *testing.T) {
	home, _, id, path := begun(t)
	old := strings.Replace(readFile(t, path), `"version":5`, `"version":2`, 1) + `{"type":"mess` + "\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, status := said(t, nil, user("more"), "append", "--home", home, id)
	if status != exitDone || !strings.Contains(errs, "it was kept as it was ("+path+".") || !strings.Contains(errs, ".damaged)") {
		t.Errorf("append: status %d, stderr %q", status, errs)
	}
}

func TestTextMustBeUTF8(t *testing.T) {
	home, _, id, path := begun(t)
	was := readFile(t, path)
	for _, args := range [][]string{
		{"history", "add", "caf\xe9"},
		{"history", "add", "-"},
		{"title", id, "caf\xe9"},
		{"label", "set", id, "00000001", "caf\xe9"},
		{"new", "--cwd", home, "--title", "caf\xe9"},
	} {
		_, errs, status := said(t, nil, "\xff\xfe", append(args, "--home", home)...)
		if status != exitUsage || !strings.Contains(errs, "is not UTF-8; nothing was done") {
			t.Errorf("%q: status %d, want %d; stderr %q", args, status, exitUsage, errs)
		}
	}
	if readFile(t, path) != was {
		t.Error("the session was changed")
	}
}
