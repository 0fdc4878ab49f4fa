package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// command is the command as another process: this test binary, see TestMain.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
	return cmd
}

// TestFaultQueriesInHistory asks each case's queries of what history import
// brought in, and wants the texts back byte for byte.
func TestFaultQueriesInHistory(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(faultsDir(), "*", "queries.json"))
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases in ", faultsDir(), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			home := t.TempDir()
			prompts := filepath.Join(dir, "prompts.jsonl")
			if out, errs, status := answer(t, "history", "import", prompts, "--home", home, "--json"); status != exitDone {
				t.Fatalf("history import: status %d, %s%s", status, out, errs)
			}
			texts := textsOf(t, prompts)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var queries []struct {
				Query  string `json:"query"`
				Expect []int  `json:"expect_ids"`
			}
			if err := json.Unmarshal(data, &queries); err != nil {
				t.Fatal(err)
			}
			for _, q := range queries {
				want := ""
				for _, id := range q.Expect {
					want += texts[id] + "\x00"
				}
				got, errs, status := answer(t, "history", "search", "--home", home, "--print0", "--", q.Query)
				if status != exitDone || errs != "" {
					t.Errorf("history search %q: status %d, stderr %q", q.Query, status, errs)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("history search %q (-want +got):\n%s", q.Query, diff)
				}
				shown, _, _ := answer(t, "history", "search", "--home", home, "--", q.Query)
				if n := strings.Count(shown, "\n"); n != len(q.Expect) {
					t.Errorf("history search %q: %d lines, want %d", q.Query, n, len(q.Expect))
				}
			}
		})
	}
}

// textsOf gives the prompts of a case by their number.
func textsOf(t *testing.T, path string) map[int]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]string{}
	for _, o := range objects(t, string(data)) {
		texts[int(o["id"].(float64))] = o["prompt"].(string)
	}
	return texts
}

func TestExportedPromptsComeBackAsTheyWere(t *testing.T) {
	home, copied := t.TempDir(), t.TempDir()
	var lines bytes.Buffer
	odd := []string{"  spaces kept  ", "nul\x00inside", "line\r\nends\n\n", strings.Repeat("long ", 40_000) + "end", "🌱 \u2028 설정", `back\slash "quote"`}
	for i, text := range odd {
		line, err := json.Marshal(map[string]any{"prompt": text, "created_at": 1_700_000_000 + i*100})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	file := filepath.Join(home, "in.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t, "history", "import", file, "--home", home)
	first, _, _ := answer(t, "history", "export", "--home", home)
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t, "history", "import", file, "--home", copied)
	second, _, _ := answer(t, "history", "export", "--home", copied)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("export after import (-want +got):\n%s", diff)
	}
	var got []string
	for _, o := range objects(t, second) {
		got = append(got, o["prompt"].(string))
	}
	if diff := cmp.Diff(odd, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestSixteenProcessesAddAndNothingIsLost(t *testing.T) {
	const processes, each = 16, 4
	home := t.TempDir()
	var group sync.WaitGroup
	errs := make([]error, processes)
	for p := range processes {
		adds := make([]*exec.Cmd, each)
		for i := range adds {
			adds[i] = command(t, "history", "add", fmt.Sprintf("prompt %d of %d", i, p), "--home", home)
		}
		group.Go(func() {
			for _, c := range adds {
				if out, err := c.CombinedOutput(); err != nil {
					errs[p] = fmt.Errorf("%w: %s", err, out)
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	out, _, _ := answer(t, "history", "export", "--home", home)
	var got, want []string
	for _, o := range objects(t, out) {
		got = append(got, o["prompt"].(string))
	}
	for p := range processes {
		for i := range each {
			want = append(want, fmt.Sprintf("prompt %d of %d", i, p))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestSignalsLoseNothingAccepted(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			home := t.TempDir()
			add := command(t, "history", "add", "--home", home)
			stdin, err := add.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			add.Stderr = &stderr
			if err := add.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(stdin, "half a "); err != nil {
				t.Fatal(err)
			}
			// Whenever the signal comes, before the end of the text or while it
			// is being stored: status 0 and stored, or 130 and not.
			go func() { _ = add.Process.Signal(sig) }()
			_, _ = io.WriteString(stdin, "prompt") // the process may be gone
			_ = stdin.Close()
			err = add.Wait()
			out, _, _ := answer(t, "history", "export", "--home", home)
			stored := strings.Contains(out, `"prompt":"half a prompt"`)
			status := add.ProcessState.ExitCode()
			if stored != (err == nil) || err != nil && status != exitInterrupted && status != -1 {
				t.Errorf("status %d (%v), stderr %q, stored: %v", status, err, &stderr, stored)
			}
		})
	}
}

func TestAddThatWaitsForItsTextEndsAtASignal(t *testing.T) {
	home := t.TempDir()
	add := command(t, "history", "add", "--home", home)
	stdin, err := add.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stderr, err := add.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := add.Start(); err != nil {
		t.Fatal(err)
	}
	// Signals are sent until it has its handler and ends by it.
	done := make(chan error, 1)
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(stderr)
		said <- string(text)
		done <- add.Wait()
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			if text := <-said; add.ProcessState.ExitCode() == exitInterrupted && text != "gjc-index: interrupted\n" {
				t.Errorf("stderr %q", text)
			}
			if _, err := os.Stat(filepath.Join(home, "history.db")); err == nil {
				t.Error("history.db was made though nothing was added")
			}
			return
		case <-tick.C:
			_ = add.Process.Signal(os.Interrupt) // it may be gone
		}
	}
}

func TestHistoryThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	answer(t, "history", "add", "x", "--home", home)
	db := filepath.Join(home, "history.db")
	if err := os.WriteFile(db, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{db + "-wal", db + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"add", "y"}, {"delete", "1"}, {"delete", "--text", "x"}, {"export"}} {
		_, errs, status := answer(t, append([]string{"history", "--home", home}, args...)...)
		if status != exitError || !strings.Contains(errs, "history is damaged") {
			t.Errorf("history %q: status %d, stderr %q", args, status, errs)
		}
	}
	_, errs, status := answer(t, "history", "recent", "--home", home)
	if status != exitDone && status != exitPart || !strings.Contains(errs, "damaged") {
		t.Errorf("history recent: status %d, stderr %q", status, errs)
	}
	if data, err := os.ReadFile(db); err != nil || string(data) != "no database at all" {
		t.Errorf("history.db was changed: %q, %v", data, err)
	}
}
