package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) forkCommand() *cobra.Command {
	var f writeFlags
	var cwd string
	cmd := &cobra.Command{
		Use:   "fork ID",
		Short: "Copy a session to a new one and print its id and path as JSON",
		Long: `Copy a session, with all its branches, labels and artifacts, to a new one of
the same workspace, and print {"id","path","from"}. The original stays as it is.

With --cwd the copy is begun in another workspace, whatever became of the
original's; artifacts stay behind, and a session that is being written can be
copied too. branch --new copies one path only.`,
		Example: `  gjc-index fork 0195c2
  gjc-index fork 0195c2 --cwd ~/src/ledger-2`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cwd != "" {
				return a.forkInto(cmd.Context(), args[0], cwd, f)
			}
			return a.fork(cmd.Context(), args[0], f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&cwd, "cwd", "", "begin the copy in the working directory `DIR`")
	return cmd
}

func (a *app) fork(ctx context.Context, ref string, f writeFlags) error {
	var made placeJSON
	err := a.withSession(ctx, ref, f, session.OpenOptions{}, func(s *session.Session) error {
		from, to, err := s.Fork(ctx)
		made = placeJSON{ID: s.ID(), Path: to, From: from}
		return err
	})
	var refused *scope.Error
	if errors.As(err, &refused) && refused.Code == scope.CwdMissing {
		return fmt.Errorf("%w; or gjc-index fork %s --cwd DIR begins the copy there", err, ref)
	}
	if err != nil {
		return err
	}
	return a.printJSON(made)
}

// forkInto begins the copy in another workspace.
func (a *app) forkInto(ctx context.Context, ref, cwd string, f writeFlags) error {
	st, err := a.store(f)
	if err != nil {
		return err
	}
	if cwd, err = a.directory(cwd); err != nil {
		return err
	}
	dir, err := a.explicitDir()
	if err != nil {
		return err
	}
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	s, err := st.ForkFrom(ctx, t.Path, cwd, dir)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return a.printJSON(placeJSON{ID: s.ID(), Path: s.Path(), From: t.Path})
}
