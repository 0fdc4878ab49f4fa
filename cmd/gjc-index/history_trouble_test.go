package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// answerSoon is answer for a command that waits for no lock.
func answerSoon(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &errs)
	a.patience = 50 * time.Millisecond
	status = a.run(context.Background(), args)
	return out.String(), errs.String(), status
}

// remembered are the prompts of history.db, the oldest first.
func remembered(t *testing.T, home string) []string {
	t.Helper()
	out, errs, status := answer(t, "history", "recent", "--home", home, "--print0", "--limit", "1000")
	if status != exitDone {
		t.Fatalf("history recent: status %d, stderr %q", status, errs)
	}
	list := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// lockHistory keeps the write lock of history.db until the function it gives is
// called.
func lockHistory(t *testing.T, home string) (unlock func()) {
	t.Helper()
	db, err := migrations.Open(t.Context(), storage.Disk(storage.Policy{}), filepath.Join(home, "history.db"), migrations.History, migrations.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held, release, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- db.Write(context.Background(), func(*sqlx.Tx) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	return func() {
		close(release)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// plainWords wants a message for people: no codes of SQLite, no chain of steps.
func plainWords(t *testing.T, what, errs string, words ...string) {
	t.Helper()
	for _, bad := range []string{"SQLITE", "(5)", "(8)", "(13)", "database is", "open history:"} {
		if strings.Contains(errs, bad) {
			t.Errorf("%s: stderr %q has %q", what, errs, bad)
		}
	}
	for _, word := range words {
		if !strings.Contains(errs, word) {
			t.Errorf("%s: stderr %q, want %q in it", what, errs, word)
		}
	}
}

// TestHistoryLockedByAnother writes and reads while another program has the write
// lock: what was accepted is stored by the next command, and reading goes on.
func TestHistoryLockedByAnother(t *testing.T) {
	home := t.TempDir()
	answer(t, "history", "add", "first", "--home", home)
	unlock := lockHistory(t, home)
	for i, args := range [][]string{{"add", "second"}, {"add", "third"}} {
		_, errs, status := answerSoon(t, append([]string{"history", "--home", home}, args...)...)
		if status != exitBusy {
			t.Errorf("%q: status %d, want %d", args, status, exitBusy)
		}
		plainWords(t, fmt.Sprint(args), errs, "another process", "kept beside it")
		if got := remembered(t, home); len(got) != 1 || i > 1 {
			t.Errorf("while it is locked history recent gives %q", got)
		}
	}
	file := filepath.Join(t.TempDir(), "prompts.jsonl")
	writeFile(t, file, `{"prompt":"fourth"}`+"\n")
	for _, args := range [][]string{{"delete", "1"}, {"delete", "--text", "first"}, {"import", file}} {
		_, errs, status := answerSoon(t, append([]string{"history", "--home", home}, args...)...)
		if status != exitBusy {
			t.Errorf("%q: status %d, want %d; stderr %q", args, status, exitBusy, errs)
		}
		plainWords(t, fmt.Sprint(args), errs, "another process")
	}
	for _, args := range [][]string{{"history", "export"}, {"history", "search", "first"}, {"search", "first"}} {
		out, errs, status := answerSoon(t, append(args, "--home", home)...)
		if status != exitDone || !strings.Contains(out, "first") {
			t.Errorf("%q: status %d, %q, stderr %q", args, status, out, errs)
		}
	}
	unlock()
	answer(t, "history", "add", "fifth", "--home", home)
	if diff := cmp.Diff([]string{"first", "second", "third", "fifth"}, remembered(t, home)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "*.pending")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestHistoryOfWhichNothingCanBeRead has another program hold the whole file, as
// one without a write-ahead log does while it writes.
func TestHistoryOfWhichNothingCanBeRead(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1)})
	answer(t, "history", "add", "one more", "--home", home)
	answer(t, "search", "one", "--home", home)
	db, err := sqlx.Open("sqlite", filepath.Join(home, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{`PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, status := answerSoon(t, "search", "one", "--home", home)
	if status != exitPart || !strings.Contains(out, "one") || strings.Contains(out, "one more") {
		t.Errorf("search: status %d, %q", status, out)
	}
	plainWords(t, "search", errs, "history can't be read (another process is using it)")
	for _, args := range [][]string{{"add", "x"}, {"export"}, {"delete", "1"}} {
		_, errs, status := answerSoon(t, append([]string{"history", "--home", home}, args...)...)
		if status != exitBusy {
			t.Errorf("history %q: status %d, want %d", args, status, exitBusy)
		}
		plainWords(t, fmt.Sprint(args), errs, "another process", "try again")
	}
	if _, err := conn.ExecContext(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	out, errs, status = answerSoon(t, "search", "one", "--home", home)
	if status != exitDone || strings.Count(out, "one") < 2 || errs != "" {
		t.Errorf("search afterwards: status %d, %q, stderr %q", status, out, errs)
	}
}

// TestHistoryInADirectoryThatCannotBeWritten asks a home on a read-only mount.
func TestHistoryInADirectoryThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	answer(t, "history", "add", "first words", "--home", home)
	view := filepath.Join(t.TempDir(), "ro")
	if err := os.Mkdir(view, 0o700); err != nil {
		t.Fatal(err)
	}
	mountReadOnly(t, home, view)
	for _, args := range [][]string{{"add", "x"}, {"delete", "1"}, {"delete", "--text", "first words"}} {
		_, errs, status := answerSoon(t, append([]string{"history", "--home", view}, args...)...)
		if status == exitDone {
			t.Errorf("history %q: status %d", args, status)
		}
		plainWords(t, fmt.Sprint(args), errs, "history can't be written here")
	}
	for _, args := range [][]string{{"history", "export"}, {"history", "search", "words"}, {"history", "recent"}, {"search", "words"}} {
		out, errs, status := answerSoon(t, append(args, "--home", view)...)
		if status != exitDone || !strings.Contains(out, "first words") {
			t.Errorf("%q: status %d, %q, stderr %q", args, status, out, errs)
		}
	}
	if diff := cmp.Diff([]string{"first words"}, remembered(t, home)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

// TestHistoryOnAFullDisk adds until there is no room, and goes on once there is.
func TestHistoryOnAFullDisk(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	remount := mountSmall(t, home, "700k")
	var want []string
	full := false
	for i := 0; i < 60 && !full; i++ {
		text := fmt.Sprint("prompt ", i, strings.Repeat(" with some words", 1000))
		_, errs, status := answerSoon(t, "history", "add", "--home", home, text)
		if full = status != exitDone; full {
			plainWords(t, "history add", errs, "no room left on the disk")
			break
		}
		want = append(want, text)
	}
	if !full || len(want) == 0 {
		t.Fatalf("the disk took %d prompts, full %v", len(want), full)
	}
	out, _, status := answerSoon(t, "history", "export", "--home", home)
	if n := strings.Count(out, "\n"); status != exitDone && status != exitPart || n != len(want) {
		t.Errorf("history export on a full disk: status %d, %d prompts, want %d", status, n, len(want))
	}
	remount("20m")
	answer(t, "history", "add", "--home", home, "there is room again")
	got := remembered(t, home)
	if len(got) == len(want)+2 { // the one that was refused may have been kept in its journal
		got = append(got[:len(want)], got[len(want)+1:]...)
	}
	if diff := cmp.Diff(append(want, "there is room again"), got); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}
