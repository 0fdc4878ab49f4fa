package main

import (
	"context"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// stdinTerminal reports whether a person types what is read.
func (a *app) stdinTerminal() bool {
	f, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalID names the terminal that the command runs in, whose last session
// continue takes first; "" if there is none.
func (a *app) terminalID() string {
	tty := ""
	if a.stdinTerminal() {
		if path, err := storage.RealPath("/dev/fd/0"); err == nil && strings.HasPrefix(path, "/dev/") {
			tty = path
		}
	}
	return session.TerminalID(a.env, tty)
}

// await runs fn, which waits for stdin, and stops waiting for it when ctx ends:
// a read can't be interrupted. What fn set may be looked at if err is nil.
func await(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
