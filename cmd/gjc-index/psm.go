package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/psm"
	"github.com/gajae-code/gjc-index/session/redact"
)

func (a *app) psmCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "psm",
		Short: "Progressive summaries: what a session came to, answer by answer",
		Long: `Progressive summaries stand in a file of their own beside the session, which is
made by psm run, and by append where the setting psm.enabled is on. The session
itself is only read.`,
		Example: "  gjc-index psm run 0195c2\n  gjc-index psm show 0195c2",
		Args:    rootArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.psmRunCommand(), a.psmShowCommand(), a.psmStatusCommand())
	return cmd
}

func (a *app) psmRunCommand() *cobra.Command {
	var command string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "run ID",
		Short: "Sum up what is new in a session",
		Long: `Sum up what is new in a session. Without --exec the sentences are picked that
carry what was asked, decided and found; nothing leaves the machine.

With --exec the command is started by the shell for each batch. It reads one
JSON object a line, {"n":1,"inputs":[{"role":"user","text":"…"},…]}, and prints
one for each, {"n":1,"summary":"…"}. Secrets are taken out of what it reads. A
batch that fails is tried again a few times; what was summed up stays.`,
		Example: "  gjc-index psm run 0195c2\n  gjc-index psm run 0195c2 --exec './summarize.py --short'",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("exec") && strings.TrimSpace(command) == "" {
				return usagef("--exec wants a command")
			}
			if limit <= 0 {
				return usagef("--timeout %v: it is a time above 0", limit)
			}
			if !cmd.Flags().Changed("exec") {
				set, err := a.settings()
				if err != nil {
					return err
				}
				command = set.PSMExec
			}
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.psmRun(cmd.Context(), x, args[0], command, limit) })
		},
	}
	cmd.Flags().StringVar(&command, "exec", "", "ask the command `CMD` for the summaries (default: the setting psm.exec)")
	cmd.Flags().DurationVar(&limit, "timeout", psm.CommandLimit, "how long the command may take over a batch, as in `30s`")
	return cmd
}

// psmRunJSON is what a run did; fields are only ever added.
type psmRunJSON struct {
	Session   string `json:"session"`
	Path      string `json:"path"`
	Inputs    int    `json:"inputs"`
	Summaries int    `json:"summaries"`
	Pending   int    `json:"pending"`
}

func (a *app) psmRun(ctx context.Context, x *index.Index, ref, command string, limit time.Duration) error {
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return err
	}
	if err := a.ownPlace(row.Path); err != nil {
		return err
	}
	rep, err := psm.Run(ctx, a.fsys, row.Path, a.psmOptions(command, limit))
	if err == nil || rep.Inputs > 0 {
		if a.json {
			if jerr := a.printJSON(psmRunJSON{row.ID, psm.LogPath(row.Path), rep.Inputs, rep.Summaries, rep.Pending}); err == nil {
				err = jerr
			}
		} else {
			a.printf("%s summed up from %s\n", count(rep.Summaries, "answer"), count(rep.Inputs, "record"))
		}
	}
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, psm.ErrBusy):
		return fmt.Errorf("%s is summed up by another process at the moment%w", ref, silent{session.ErrBusy})
	case errors.Is(err, jsonl.ErrNotTranscript), errors.Is(err, jsonl.ErrTooNew), errors.Is(err, fs.ErrNotExist):
		return loadError(row.Path, err)
	}
	if rep.Pending > 0 {
		a.note("%s left to be done: run it again", count(rep.Pending, "answer"))
	}
	return fmt.Errorf("sum up %s: %s%w", ref, redact.Text(sentence(err)), silent{err})
}

// psmOptions say how sessions are summed up, by a command or without one.
func (a *app) psmOptions(command string, limit time.Duration) psm.Options {
	opt := psm.Options{Redact: redact.Text, Now: a.now, Log: a.logger()}
	if command != "" {
		opt.Summarizer = psm.Command{Shell: command, Limit: limit}
	}
	return opt
}

// sumUp sums up what was appended to the session at path, if the settings ask
// for it. The records are in the file whatever becomes of this: what fails is
// told and left to the next time.
func (a *app) sumUp(ctx context.Context, path string) error {
	set, err := a.settings()
	if err != nil || !set.PSMEnabled {
		return err
	}
	if err := a.ownPlace(path); err != nil {
		return nil // nothing is made there
	}
	if err := a.out.Flush(); err != nil { // the receipt is not kept waiting
		return err
	}
	opt := a.psmOptions(set.PSMExec, psm.CommandLimit)
	opt.Attempts = 1
	if _, err := psm.Run(ctx, a.fsys, path, opt); err != nil && ctx.Err() == nil && !errors.Is(err, psm.ErrBusy) {
		a.note("the entries are in; they could not be summed up: %s", redact.Text(sentence(err)))
	}
	return nil
}

// ownPlace refuses a session of an older layout: nothing of ours is made there.
func (a *app) ownPlace(path string) error {
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(home.Sessions(), path)
	if err != nil || a.sessionDir != "" || strings.HasPrefix(rel, "..") {
		return nil
	}
	dir, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	if _, ours := scope.DigestOf(dir); !ours {
		return fmt.Errorf("%s lies in a directory of an older layout, where nothing is made: migrate or continue it first%w", path, silent{session.ErrNotManaged})
	}
	return nil
}

func (a *app) psmShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show the summaries of a session, oldest first",
		Example: "  gjc-index psm show 0195c2\n  gjc-index psm show 0195c2 --json | jq -r .text",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.psmShow(cmd.Context(), x, args[0]) })
		},
	}
}

// summaryJSON is one summary; fields are only ever added.
type summaryJSON struct {
	Response *string  `json:"response"` // entry id of the answer
	Inputs   []string `json:"inputs"`   // entry ids
	At       string   `json:"at"`
	By       string   `json:"by"`
	Text     string   `json:"text"`
}

func (a *app) psmShow(ctx context.Context, x *index.Index, ref string) error {
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return err
	}
	shown := 0
	for b, err := range psm.Batches(ctx, a.fsys, row.Path) {
		if err != nil {
			return loadError(psm.LogPath(row.Path), err)
		}
		for _, s := range b.Summaries {
			shown++
			if a.json {
				if err := a.printJSON(summaryJSON{orNull(jsonl.Display(s.Response)), s.Inputs, b.At, b.By, s.Text}); err != nil {
					return err
				}
				continue
			}
			head := "#" + itoa(shown)
			if s.Response == "" {
				head += " without an answer"
			} else {
				head += " up to " + plain(s.Response)
			}
			a.printf("%s\n%s\n\n", a.screen.paint(cyan, head), safeText(s.Text))
		}
	}
	if shown == 0 {
		a.note("there are no summaries; gjc-index psm run %s makes them", ref)
	}
	return nil
}

func (a *app) psmStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status ID", Short: "Show how far the summaries of a session are, and the last errors",
		Example: "  gjc-index psm status 0195c2",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.psmStatus(cmd.Context(), x, args[0]) })
		},
	}
}

// psmStatusJSON is a status; fields are only ever added.
type psmStatusJSON struct {
	Session    string         `json:"session"`
	State      string         `json:"state"` // off, idle or failed
	At         *string        `json:"at"`
	Summarizer *string        `json:"summarizer"`
	Inputs     int            `json:"inputs"`
	Summaries  int            `json:"summaries"`
	Pending    int            `json:"pending"`
	Errors     []psmErrorJSON `json:"errors"`
}

type psmErrorJSON struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

func (a *app) psmStatus(ctx context.Context, x *index.Index, ref string) error {
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return err
	}
	st, err := psm.ReadStatus(a.fsys, row.Path)
	if errors.Is(err, fs.ErrNotExist) {
		st, err = psm.Status{State: "off"}, nil
	}
	if err != nil {
		return loadError(psm.StatusPath(row.Path), err)
	}
	if a.json {
		out := psmStatusJSON{row.ID, st.State, orNull(st.At), orNull(st.Summarizer), st.Inputs, st.Summaries, st.Pending, []psmErrorJSON{}}
		for _, e := range st.Errors {
			out.Errors = append(out.Errors, psmErrorJSON{e.At, e.Text})
		}
		return a.printJSON(out)
	}
	if st.State == "off" {
		a.printf("off: gjc-index psm run %s begins\n", ref)
		return nil
	}
	a.printf("%s since %s: %s summed up from %s, %d to do\n", plain(st.State), plain(st.At), count(st.Summaries, "answer"), count(st.Inputs, "record"), st.Pending)
	for _, e := range st.Errors {
		a.printf("%s  %s\n", plain(e.At), plain(e.Text))
	}
	return nil
}
