package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// childEnv makes the test binary another process that works on a history:
// "<what> <number> <directory>".
const childEnv = "GJC_INDEX_TEST_HISTORY"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := runChild(context.Background(), job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runChild(ctx context.Context, job string) error {
	parts := strings.SplitN(job, " ", 3)
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	s, err := Open(ctx, realDisk(), filepath.Join(parts[2], "history.db"), Options{Journal: true})
	if err != nil {
		return err
	}
	switch parts[0] {
	case "add":
		for i := range n {
			if err := s.Add(fmt.Sprintf("prompt %d of %d", i, os.Getpid()), nil); err != nil {
				return err
			}
		}
	case "search":
		for range n {
			if _, err := s.Search(ctx, Query{Text: "prompt 7", Limit: 50}); err != nil {
				return err
			}
			if _, err := s.Recent(ctx, Query{Limit: 50}); err != nil {
				return err
			}
		}
	case "note": // say each prompt once it is in the journal, until killed
		for i := range n {
			if err := s.Add(fmt.Sprint("noted ", i), nil); err != nil {
				return err
			}
			s.journal.append(&s.queue)
			if err := s.journal.failure(); err != nil {
				return err
			}
			fmt.Println(i)
		}
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	return s.Close()
}

func child(t *testing.T, job string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	return cmd
}

func TestManyProcessesAddWhileOthersSearch(t *testing.T) {
	adders, each := 16, 40
	if n, err := strconv.Atoi(os.Getenv("GJC_INDEX_TEST_PROMPTS")); err == nil {
		each = n // 1000 is the full measure
	}
	dir := t.TempDir()
	results := make(chan error)
	run := func(job string) {
		out, err := child(t, job).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", job, err, out)
		}
		results <- err
	}
	for range adders {
		go run(fmt.Sprintf("add %d %s", each, dir))
	}
	for range 4 {
		go run(fmt.Sprintf("search 10 %s", dir))
	}
	for range adders + 4 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	s := open(t, dir, Options{})
	seen, last := map[string]int{}, map[string]int{}
	for _, text := range texts(t, s) {
		var i int
		var pid string
		if _, err := fmt.Sscanf(text, "prompt %d of %s", &i, &pid); err != nil {
			t.Fatal(err)
		}
		if seen[text]++; seen[text] > 1 || i < last[pid] {
			t.Errorf("%q: %d times, after %d", text, seen[text], last[pid])
		}
		last[pid] = i
	}
	if len(seen) != adders*each {
		t.Errorf("%d prompts, want %d", len(seen), adders*each)
	}
	inStep(t, s)
	if left := journals(t, dir); len(left) != 0 {
		t.Errorf("journals left: %q", left)
	}
}

func journals(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+pendingSuffix))
	must(t, err)
	return names
}

// killNoting kills a child that notes prompts after it has said the n-th, and
// gives the prompts that it said.
func killNoting(t *testing.T, dir string, n int) []string {
	t.Helper()
	cmd := child(t, "note 1000 "+dir)
	in, err := cmd.StdinPipe() // stays open: the child waits
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, "noted "+lines.Text())
		if len(said) == n {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child was not killed")
	}
	return said
}

func TestNotedPromptsSurviveKill(t *testing.T) {
	for _, locked := range []bool{true, false} {
		t.Run(fmt.Sprint("database locked ", locked), func(t *testing.T) {
			for _, n := range []int{1, 50, 900} {
				dir := t.TempDir()
				db := rawDB(t, dir)
				must(t, layOut(t.Context(), db))
				var said []string
				kill := func() { said = killNoting(t, dir, n) }
				if locked {
					must(t, db.Write(t.Context(), func(*sqlx.Tx) error { kill(); return nil }))
				} else {
					kill()
				}
				for range 2 { // opening again changes nothing
					s := open(t, dir, Options{Journal: true})
					got := texts(t, s)
					if diff := cmp.Diff(said, got[:min(len(said), len(got))]); diff != "" {
						t.Fatalf("after %d (-want +got):\n%s", n, diff)
					}
					for i, text := range got {
						if text != fmt.Sprint("noted ", i) {
							t.Fatalf("row %d is %q", i, text)
						}
					}
					inStep(t, s)
					must(t, s.Close())
				}
				if left := journals(t, dir); len(left) != 0 {
					t.Errorf("journals left: %q", left)
				}
			}
		})
	}
}

func TestReplayStoresNothingTwice(t *testing.T) {
	prompts := []string{"a", "b", "a", "c", "a"}
	for stored := range len(prompts) + 1 {
		dir := t.TempDir()
		s := open(t, dir, Options{Journal: true})
		must(t, s.Add("a", nil))
		must(t, s.Flush(t.Context()))
		must(t, s.Close())
		// What a process leaves that dies with so many of its batch stored.
		s = open(t, dir, Options{Journal: true, BatchFor: time.Hour})
		for i, text := range prompts {
			if i == 0 {
				text = "A"
			}
			must(t, s.Add(text, new("/w")))
		}
		s.journal.append(&s.queue)
		left, err := os.ReadFile(s.journal.file.Name())
		must(t, err)
		must(t, s.Close())
		_, err = rawDB(t, dir).Exec(`DELETE FROM history WHERE id > ?`, 1+stored)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, "history.db.0123456789abcdef.pending"), append(left, `{"v":1,"after":1,"at":7,"pro`...), 0o600))
		want := []string{"a", "A", "b", "a", "c", "a"}
		for range 2 {
			s = open(t, dir, Options{Journal: true})
			if diff := cmp.Diff(want, texts(t, s)); diff != "" {
				t.Errorf("%d stored (-want +got):\n%s", stored, diff)
			}
			must(t, s.Close())
		}
	}
}

func TestALivingProcessKeepsItsJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Journal: true, BatchFor: time.Hour})
	must(t, s.Add("mine", nil))
	s.journal.append(&s.queue)
	other := open(t, dir, Options{Journal: true})
	if got := texts(t, other); len(got) != 0 || len(journals(t, dir)) != 1 {
		t.Errorf("the other stored %q, journals %q", got, journals(t, dir))
	}
	info, err := os.Lstat(journals(t, dir)[0])
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o, want 600", info.Mode().Perm())
	}
	must(t, s.Close())
	if diff := cmp.Diff([]string{"mine"}, texts(t, other)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// noCreate is a file system with no room for a new file.
type noCreate struct{ storage.FS }

func (noCreate) Create(string) (storage.File, error) { return nil, errors.New("no room") }

func TestJournalThatFailsLosesNothingStored(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{Journal: true})
	s.journal.fsys = noCreate{realDisk()}
	must(t, s.Add("a", nil))
	must(t, s.Flush(t.Context()))
	must(t, s.Close())
	if diff := cmp.Diff([]string{"a"}, texts(t, open(t, dir, Options{}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
