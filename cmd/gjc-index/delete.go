package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

type deleteFlags struct{ permanent, yes bool }

func (a *app) deleteCommand() *cobra.Command {
	var f deleteFlags
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a session, with all that belongs to it",
		Long: `Delete a session, with its artifacts and sidecars, after asking. --permanent
deletes it for good: neither this program nor the agent lists it again, nor the
file that it was copied from. A session that is being written, or read at
length, is not deleted (exit status 5).`,
		Example: `  gjc-index delete 0195c2 --permanent
  gjc-index delete 0195c2 --permanent --yes`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.delete(cmd.Context(), args[0], f) },
	}
	cmd.Flags().BoolVar(&f.permanent, "permanent", false, "for good, without a way back")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "don't ask")
	return cmd
}

// deletedJSON is a session that was deleted; fields are only ever added.
type deletedJSON struct {
	ID        string  `json:"id"`
	Path      string  `json:"path"`
	Permanent bool    `json:"permanent"`
	Tombstone *string `json:"tombstone"` // null: none was needed
}

func (a *app) delete(ctx context.Context, ref string, f deleteFlags) error {
	if err := a.homeOnly("sessions in a directory of yours are yours to remove"); err != nil {
		return err
	}
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	if !f.permanent {
		return usagef("there is no trash yet: --permanent deletes %s for good; nothing was done", t.ID)
	}
	if !f.yes {
		if err := a.confirm(fmt.Sprintf("delete %s (%s) for good?", t.ID, nameOf(t))); err != nil {
			return err
		}
	}
	st, err := a.store(writeFlags{migration: string(scope.CopyRetain)})
	if err != nil {
		return err
	}
	tombstone, err := st.Delete(ctx, t.Path)
	switch {
	case errors.Is(err, session.ErrNotManaged):
		return usagef("%s lies in a directory of yours: it is yours to remove", t.Path)
	case errors.Is(err, session.ErrProtected):
		return fmt.Errorf("%s is being read or written: nothing was deleted%w", t.ID, silent{err})
	case err != nil:
		return openError(t.ID, err)
	}
	if a.json {
		return a.printJSON(deletedJSON{t.ID, t.Path, true, orNull(tombstone)})
	}
	a.printf("deleted  %s\n", plain(t.Path))
	return nil
}

// nameOf is a session's title, or what it began with.
func nameOf(in session.Info) string {
	name := in.FirstMessage
	if in.HasTitle && in.Title != "" {
		name = in.Title
	}
	return preview(name, 60)
}

var errNotConfirmed = errors.New("nothing was done")

// confirm asks on the terminal. Where nobody can answer it is an error of
// usage.
func (a *app) confirm(question string) error {
	if !a.stdinTerminal() {
		return usagef("stdin is no terminal, so nobody can be asked: --yes says that it is meant")
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", plain(question))
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // no answer is a no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}
