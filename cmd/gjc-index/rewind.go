package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) rewindCommand() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "rewind ID PROMPT",
		Short: "Begin a session anew from before one of its prompts",
		Long: `Begin a session with everything that came before a prompt of another, archived
or not. PROMPT is its number, as --list tells it, or its entry's id. Prompts are
numbered over archives and over the sessions that one was rewound from. The
prompt itself is kept as a note; the other session is not touched.`,
		Example: `  gjc-index rewind 0195c2 --list
  gjc-index rewind 0195c2 7`,
		Args: func(cmd *cobra.Command, args []string) error {
			want := 2
			if list {
				want = 1
			}
			if len(args) != want {
				return usagef("rewind wants a session id and a prompt, or a session id and --list; %s --help says more", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return a.listPrompts(cmd.Context(), args[0])
			}
			return a.rewind(cmd.Context(), args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the prompts with their numbers")
	return cmd
}

// rewoundJSON is the session that a rewind began; fields are only ever added.
type rewoundJSON struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	From    string `json:"from"` // the path of the session that it came from
	Prompt  int    `json:"prompt"`
	Entries int    `json:"entries"` // copied
	Unsent  string `json:"unsent"`  // the prompt's text
}

func (a *app) rewind(ctx context.Context, ref, prompt string) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.store(writeFlags{migration: string(scope.CopyRetain)})
	if err != nil {
		return err
	}
	r, err := st.Rewind(ctx, t.Path, prompt)
	if errors.Is(err, session.ErrNoPrompt) {
		return fmt.Errorf("%s has no prompt %q; --list shows all%w", t.ID, prompt, silent{fs.ErrNotExist})
	}
	if err != nil {
		return openError(t.ID, err)
	}
	if a.json {
		return a.printJSON(rewoundJSON{r.ID, r.Path, t.Path, r.Prompt.Number, r.Entries, r.Prompt.Text})
	}
	a.printf("%s  %s\n", plain(r.ID), plain(r.Path))
	a.note("prompt %d was not sent: %s", r.Prompt.Number, preview(r.Prompt.Text, 60))
	return nil
}

// promptJSON is one prompt of a session; fields are only ever added.
type promptJSON struct {
	Prompt int    `json:"prompt"`
	Entry  string `json:"entry"`
	Text   string `json:"text"`
}

func (a *app) listPrompts(ctx context.Context, ref string) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.readingStore()
	if err != nil {
		return err
	}
	prompts, err := st.Prompts(ctx, t.Path)
	if err != nil {
		return err
	}
	width := 0 // ids have 8 digits or 16, see append
	for _, p := range prompts {
		id, _ := p.Entry.ID()
		width = max(width, len(plain(id)))
	}
	for _, p := range prompts {
		id, _ := p.Entry.ID()
		if a.json {
			if err := a.printJSON(promptJSON{p.Number, id, p.Text}); err != nil {
				return err
			}
			continue
		}
		a.printf("%4d  %s  %s\n", p.Number, pad(plain(id), width), preview(p.Text, 70))
	}
	return nil
}
