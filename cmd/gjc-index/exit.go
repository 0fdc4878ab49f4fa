package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// The exit statuses. The README has the same table for people.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitPart        = 3 // done, but lines or files were left out
	exitMissing     = 4 // no such session, or several
	exitBusy        = 5
	exitUnsafe      = 6
	exitRolledBack  = 7
	exitUncertain   = 8
	exitInterrupted = 130
)

var errUsage = errors.New("usage")

// usageError marks an error as one of usage: nothing was done.
func usageError(err error) error { return fmt.Errorf("%w%w", silent{errUsage}, err) }

// silent adds what an error is without adding words to it.
type silent struct{ error }

func (s silent) Error() string { return "" }
func (s silent) Unwrap() error { return s.error }

func usagef(format string, args ...any) error { return usageError(fmt.Errorf(format, args...)) }

// exitOf says which exit status an error has: one table for all commands.
func exitOf(ctx context.Context, err error) int {
	var ambiguous *index.AmbiguousError
	var failed *jsonl.AppendError
	errors.As(err, &failed)
	switch {
	case err == nil:
		return exitDone
	case failed != nil && failed.Outcome == jsonl.Uncertain:
		return exitUncertain
	case ctx.Err() != nil, errors.Is(err, context.Canceled):
		return exitInterrupted
	case failed != nil:
		return exitRolledBack
	case errors.Is(err, errUsage), errors.Is(err, session.ErrBadID):
		return exitUsage
	case errors.As(err, &ambiguous), errors.Is(err, fs.ErrNotExist):
		return exitMissing
	case errors.Is(err, session.ErrBusy), errors.Is(err, storage.ErrLocked), errors.Is(err, session.ErrProtected), errors.Is(err, history.ErrBusy), migrations.Busy(err):
		return exitBusy
	case errors.Is(err, storage.ErrUnsafe), errors.Is(err, scope.ErrBinding), errors.Is(err, scope.ErrNetwork):
		return exitUnsafe
	case errors.Is(err, jsonl.ErrTooLarge):
		return exitPart
	}
	return exitError
}

// finish says what went wrong, if anything did, and gives the exit status.
func (a *app) finish(ctx context.Context, err error, wantsJSON bool) int {
	status := exitOf(ctx, err)
	if err == nil {
		a.sayBroken()
	}
	switch {
	case err == nil && a.leftOut > 0:
		return exitPart
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitDone
	}
	text := shortQuotes(plain(sentence(err)))
	if status == exitInterrupted {
		text = "interrupted"
	}
	var several *index.AmbiguousError
	errors.As(err, &several)
	if wantsJSON || a.json {
		a.printError(text, status, several)
		return status
	}
	fmt.Fprintf(a.stderr, "gjc-index: %s\n", text)
	if several != nil {
		a.listCandidates(several)
	}
	return status
}

// errorJSON is an error as the command prints it; fields are only ever added.
type errorJSON struct {
	Error      string          `json:"error"`
	Exit       int             `json:"exit"`
	Candidates []candidateJSON `json:"candidates,omitempty"` // of an ambiguous id
}

type candidateJSON struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

func (a *app) printError(text string, status int, several *index.AmbiguousError) {
	out := errorJSON{Error: text, Exit: status}
	if several != nil {
		for _, r := range several.Candidates {
			out.Candidates = append(out.Candidates, candidateJSON{r.ID, r.Path})
		}
	}
	a.sayJSON(out)
}

// asksForJSON looks for --json where flags could not be parsed.
func asksForJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || arg == "--json=true" {
			return true
		}
	}
	return false
}
