package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

func (a *app) titleCommand() *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use:   "title ID TITLE",
		Short: "Give a session a title",
		Long: `Give a session a title. It is kept on one line, and an automatic title never
replaces it.`,
		Example: `  gjc-index title 0195c2 "Reconcile March"`,
		Args:    manyArgs(2, "a session id and a title"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.title(cmd.Context(), args[0], args[1], f)
		},
	}
	f.add(cmd)
	return cmd
}

// titledJSON is a session that got a title; fields are only ever added.
type titledJSON struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Title string `json:"title"`
}

func (a *app) title(ctx context.Context, ref, title string, f writeFlags) error {
	if err := mustBeText("the title", title); err != nil {
		return err
	}
	if session.CleanTitle(title) == "" {
		return usagef("%q holds nothing that could be a title", title)
	}
	var said titledJSON
	err := a.withSession(ctx, ref, f, session.OpenOptions{AppendOnly: true}, func(s *session.Session) error {
		_, err := s.SetTitle(ctx, title, session.TitleByUser)
		now, _ := s.Title()
		said = titledJSON{s.ID(), s.Path(), now}
		return err
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(said)
	}
	a.printf("%s  %s\n", plain(said.ID), plain(said.Title))
	return nil
}
