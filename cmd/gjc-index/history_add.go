package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/history"
)

func (a *app) historyAddCommand() *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "add [TEXT…|-]",
		Short: "Add one prompt to history.db",
		Long: `Add one prompt to history.db: the arguments with blanks between, or all of
standard input. White space around it is cut off, and a repeat of the last prompt
is not stored again.

When the command ends with status 0 the prompt is stored, whatever signal came.
Status 5 says that another process kept history.db locked, and the message
whether the prompt waits beside it, to be stored with the next one.`,
		Example: `  gjc-index history add "fix the retry test"
  git log -1 --format=%B | gjc-index history add - --cwd ~/src/app`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.historyAdd(cmd.Context(), cwd, args) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "typed in the directory `DIR` (default: here)")
	return cmd
}

func (a *app) historyAdd(ctx context.Context, cwd string, args []string) error {
	if _, err := a.historyHome(); err != nil {
		return err
	}
	text, err := a.promptText(ctx, args)
	if err != nil {
		return err
	}
	if err := mustBeText("the prompt", text); err != nil {
		return err
	}
	if history.Trim(text) == "" {
		return usagef("nothing to add: the prompt is empty")
	}
	if cwd == "" {
		cwd = "."
	}
	if cwd, err = a.absolute(cwd); err != nil {
		return err
	}
	err = a.writeHistory(ctx, func(h *history.Store) error { return h.Add(text, &cwd) })
	if err != nil || !a.json {
		return err
	}
	return a.printJSON(struct {
		Accepted bool   `json:"accepted"`
		Cwd      string `json:"cwd"`
	}{true, cwd})
}

// promptText is the prompt that the arguments give or name.
func (a *app) promptText(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 && (len(args) > 1 || args[0] != "-") {
		return strings.Join(args, " "), nil
	}
	data, err := io.ReadAll(&patientReader{ctx: ctx, r: io.LimitReader(a.stdin, maxPromptBytes+1)})
	if err != nil {
		return "", fmt.Errorf("read the prompt: %w", err)
	}
	if len(data) > maxPromptBytes {
		return "", fmt.Errorf("read the prompt: more than %d bytes", maxPromptBytes)
	}
	return string(data), nil
}

// maxPromptBytes is far above what anybody pastes, and below what SQLite takes.
const maxPromptBytes = 256 << 20

// patientReader reads what may never come, and gives up once ctx ends. For one
// goroutine.
type patientReader struct {
	ctx  context.Context
	r    io.Reader
	room []byte
}

// Read is r's.
func (p *patientReader) Read(buf []byte) (int, error) {
	if len(p.room) < len(buf) {
		p.room = make([]byte, len(buf))
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	room := p.room[:len(buf)]
	go func() {
		n, err := p.r.Read(room)
		done <- result{n, err}
	}()
	select {
	case <-p.ctx.Done():
		p.room = nil // the read that goes on keeps it
		return 0, p.ctx.Err()
	case r := <-done:
		return copy(buf, room[:r.n]), r.err
	}
}
