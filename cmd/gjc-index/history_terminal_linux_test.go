package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a shell that believes in front of it sits a person.
type terminal struct {
	t     *testing.T
	ours  *os.File
	bytes chan []byte
	seen  []byte // and not awaited yet
}

func startInTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close() // the shell has it
	term := &terminal{t: t, ours: ours, bytes: make(chan []byte)}
	quit := make(chan struct{})
	go func() {
		defer close(term.bytes)
		for {
			buf := make([]byte, 4096)
			n, err := ours.Read(buf)
			if err != nil {
				return
			}
			select {
			case term.bytes <- buf[:n]:
			case <-quit:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(quit)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		_ = ours.Close()
	})
	return term
}

// typeIn types keys.
func (term *terminal) typeIn(keys string) {
	term.t.Helper()
	if _, err := term.ours.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// await reads until text is on the screen.
func (term *terminal) await(text string) {
	term.t.Helper()
	late := time.After(time.Minute)
	for {
		if _, rest, ok := bytes.Cut(term.seen, []byte(text)); ok {
			term.seen = rest
			return
		}
		select {
		case b, ok := <-term.bytes:
			if !ok {
				term.t.Fatalf("the shell ended without %q; seen: %q", text, term.seen)
			}
			term.seen = append(term.seen, b...)
		case <-late:
			term.t.Fatalf("no %q; seen: %q", text, term.seen)
		}
	}
}

// TestCtrlRInARealShell presses the key in interactive shells without fzf: the
// menu comes, and the prompt chosen stands on the command line.
func TestCtrlRInARealShell(t *testing.T) {
	home := t.TempDir()
	lines := `{"prompt":"plain","created_at":"2026-03-01T10:00:00Z"}` + "\n" +
		`{"prompt":"one\n\ttwo $HOME","created_at":"2026-03-01T10:01:00Z"}` + "\n"
	file := filepath.Join(home, "in.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := answer(t, "history", "import", file, "--home", home); status != exitDone {
		t.Fatal(errs)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for shell, start := range map[string]struct {
		args []string
		load string
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, `eval "$(gjc-index history shell bash)"`},
		"zsh":  {[]string{"-f", "-i"}, `eval "$(gjc-index history shell zsh)"`},
		"fish": {[]string{"--no-config", "-i"}, `function fish_prompt; printf 'ready> '; end; gjc-index history shell fish | source`},
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell, " is not installed")
			}
			bin := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\nGJC_INDEX_MAIN=1 exec '%s' \"$@\"\n", exe)
			if err := os.WriteFile(filepath.Join(bin, "gjc-index"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"bash", "stty", "seq", "cat"} { // and no fzf
				if from, err := exec.LookPath(tool); err == nil {
					_ = os.Symlink(from, filepath.Join(bin, tool)) // a missing one shows below
				}
			}
			cmd := exec.CommandContext(t.Context(), path, start.args...)
			cmd.Env = []string{"PATH=" + bin, "HOME=" + t.TempDir(), "TERM=dumb", "PS1=ready> ", "GJC_CODING_AGENT_DIR=" + home, "LC_ALL=C.UTF-8"}
			term := startInTerminal(t, cmd)
			term.typeIn(start.load + "; printf 'loa%s\\n' ded\r")
			term.await("loaded")
			term.await("ready> ") // before its prompt a shell doesn't read keys one by one
			term.typeIn("printf '<%s>' \x12")
			term.await("prompt number: ")
			term.typeIn("1\r")
			term.await("two")
			term.typeIn("\r")
			term.await("<one\r\n")
			term.await("two $HOME>")
		})
	}
}
