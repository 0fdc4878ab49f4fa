package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gajae-code/gjc-index/index"
)

type pickFlags struct {
	project, query, print string
}

// pickPrints are what --print can print of the session that is chosen.
var pickPrints = []string{"id", "path", "cwd", "command", "json"}

func (a *app) pickCommand() *cobra.Command {
	var f pickFlags
	cmd := &cobra.Command{
		Use:   "pick",
		Short: "Choose a session on the screen, and resume it",
		Long: `Choose a session on the screen: type to search prompts, titles, directories and
ids; enter resumes the session by running gjc --resume ID in its directory; tab
shows what else can be done to it; ? shows all keys. It is what gjc-index does
on a terminal without arguments.

With --print or --json the session chosen is printed (as JSON as list prints it)
and nothing is run, for shells; nothing chosen is exit status 130. The screen is drawn on stderr where
stdout is no terminal.`,
		Example: `  gjc-index pick --project .
  gjc-index pick --query 'retry timeout'
  cd "$(gjc-index pick --print cwd)"
  gjc-index pick --json | jq -r .path`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.pick(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "at first only from the project of `DIR`")
	fl.StringVar(&f.query, "query", "", "at first search for `TEXT`")
	fl.StringVar(&f.print, "print", "", "print `WHAT` of the session chosen: id, path, cwd, command or json")
	complete(cmd, "print", pickPrints...)
	return cmd
}

// bare is the command without arguments: the picker where a person sits, help
// elsewhere.
func (a *app) bare(cmd *cobra.Command, _ []string) error {
	if a.openPicker() {
		return a.pick(cmd.Context(), pickFlags{})
	}
	return cmd.Help()
}

// openPicker reports whether there is a person to open the picker for.
func (a *app) openPicker() bool {
	return a.screen.terminal && a.stdinTerminal() && a.env("TERM") != "dumb" && !a.json
}

// drawsOn is the terminal that the picker is drawn on.
func (a *app) drawsOn() (*os.File, error) {
	for _, w := range []any{a.stdout, a.stderr} {
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && a.stdinTerminal() && a.env("TERM") != "dumb" {
			return f, nil
		}
	}
	return nil, usagef("pick needs a terminal to draw on and to read keys from; gjc-index list and search are for programs")
}

func (a *app) pick(ctx context.Context, f pickFlags) error {
	if f.print != "" && !slices.Contains(pickPrints, f.print) {
		return usagef("can't print %q: id, path, cwd, command or json", f.print)
	}
	if a.json && f.print != "" && f.print != "json" {
		return usagef("--json prints the session as JSON: leave out --print %s", f.print)
	}
	if a.json {
		f.print = "json"
	}
	p, err := a.place(scopeFlags{project: f.project})
	if err != nil {
		return err
	}
	screen, err := a.drawsOn()
	if err != nil {
		return err
	}
	chosen, err := a.runPicker(ctx, screen, f, p.project)
	switch {
	case err != nil:
		return err
	case chosen.end == endCommand || f.print == "command" && chosen.end == endChosen:
		line, err := a.commandLine(chosen.item.Row)
		if err == nil {
			a.printf("%s\n", line)
		}
		return err
	case chosen.end == endChosen && f.print == "":
		return a.resume(chosen.item.Row)
	case chosen.end == endChosen:
		return a.printPicked(chosen.item.Row, f.print)
	case f.print != "":
		return context.Canceled
	}
	return nil
}

func (a *app) printPicked(row index.Row, what string) error {
	switch what {
	case "json":
		return a.printJSON(jsonRow(row))
	case "id":
		a.printf("%s\n", plain(row.ID))
		return nil
	}
	text := row.Path
	if what == "cwd" {
		text = row.Cwd
	}
	if a.screen.terminal {
		text = plain(text)
	}
	a.printf("%s\n", text)
	return nil
}

// runPicker shows the picker until something is chosen.
func (a *app) runPicker(ctx context.Context, on *os.File, f pickFlags, project string) (pickResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	store := &pickIndex{app: a, printing: f.print != ""}
	if project != "" {
		store.project.Store(&project)
	}
	m := newPicker(ctx, store, a.now)
	m.printing = store.printing
	m.style.colour = a.screen.colour || !a.screen.terminal && a.env("NO_COLOR") == "" // stderr has it
	m.user, _ = os.UserHomeDir()                                                      // without one no directory is shortened
	m.ask.project = project
	m.query.set(f.query)
	m.ask.text = m.query.text
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(a.stdin), tea.WithOutput(on), tea.WithoutSignalHandler()).Run()
	cancel()
	err = cmp.Or(err, store.close())
	if errors.Is(err, context.Canceled) {
		err = context.Canceled
	}
	return m.result, err
}
