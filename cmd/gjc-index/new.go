package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) newCommand() *cobra.Command {
	var cwd, title string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Begin a session and print its id and path as JSON",
		Long: `Begin a session in the working directory, or in --cwd, and print {"id","path"}.

The directory's scope is made if there is none, and the session's file is
there at once, with its header: append adds to it. --session-dir puts it into
a directory of yours instead.`,
		Example: `  gjc-index new
  gjc-index new --cwd ~/src/ledger --title "Reconcile March"
  id=$(gjc-index new | jq -r .id)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.begin(cmd.Context(), cwd, title) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "for the working directory `DIR` (default: the one you are in)")
	cmd.Flags().StringVar(&title, "title", "", "the session's title `T`")
	return cmd
}

func (a *app) begin(ctx context.Context, cwd, title string) error {
	if err := mustBeText("--title", title); err != nil {
		return err
	}
	if title != "" && session.CleanTitle(title) == "" {
		return usagef("--title holds nothing that could be a title")
	}
	cwd, err := a.directory(cwd)
	if err != nil {
		return err
	}
	dir, err := a.explicitDir()
	if err != nil {
		return err
	}
	st, err := a.store(writeFlags{migration: string(scope.CopyRetain)})
	if err != nil {
		return err
	}
	s, err := st.Create(ctx, cwd, session.CreateOptions{Dir: dir, Title: title})
	if err != nil {
		return err
	}
	err = s.EnsureOnDisk(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	return a.printJSON(placeJSON{ID: s.ID(), Path: s.Path()})
}
