package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

func (a *app) pinCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pin ID",
		Short: "Keep a session from being pruned",
		Long: `Keep a session from being pruned, whatever the limits say, until unpin. The pin
is a file beside the session and goes where the session goes.`,
		Example: "  gjc-index pin 0195c2",
		Args:    oneArg("a session id"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.pin(cmd.Context(), args[0], true) },
	}
}

func (a *app) unpinCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unpin ID", Short: "Take a session's pin away",
		Example: "  gjc-index unpin 0195c2",
		Args:    oneArg("a session id"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.pin(cmd.Context(), args[0], false) },
	}
}

// pinJSON is what pin and unpin say; fields are only ever added.
type pinJSON struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Pinned bool   `json:"pinned"`
}

func (a *app) pin(ctx context.Context, ref string, set bool) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	change, words, already := st.Pin, "pinned", "is pinned already"
	if !set {
		change, words, already = st.Unpin, "unpinned", "is not pinned"
	}
	changed, err := change(ctx, t.Path)
	if errors.Is(err, session.ErrNotManaged) {
		return usagef("%s is of an older layout, which is never pruned: it needs no pin", t.Path)
	}
	if err != nil {
		return err
	}
	if !changed {
		a.note("%s %s", t.ID, already)
	}
	if a.json {
		return a.printJSON(pinJSON{t.ID, t.Path, set})
	}
	if changed {
		a.printf("%s  %s\n", words, plain(t.ID))
	}
	return nil
}
