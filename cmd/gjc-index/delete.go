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
		Long: `Move a session to the trash, with its artifacts and sidecars; restore brings it
back. --permanent deletes it for good, after asking: neither this program nor
the agent lists it again, nor the file that it was copied from. A session that
is pinned, being written, or read at length, is not deleted (exit status 5).`,
		Example: `  gjc-index delete 0195c2
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
	Trash     *string `json:"trash"`     // where it lies now
	Tombstone *string `json:"tombstone"` // of one that is gone for good, where one was needed
}

func (a *app) delete(ctx context.Context, ref string, f deleteFlags) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("move %s (%s) to the trash?", t.ID, nameOf(t))
	if f.permanent {
		if err := a.homeOnly("files in a directory of yours are yours to remove"); err != nil {
			return err
		}
		question = fmt.Sprintf("delete %s (%s) for good?", t.ID, nameOf(t))
	}
	if pinned, err := a.isPinned(t.Path); err != nil {
		return err
	} else if pinned {
		return deleteError(t, f, session.ErrPinned)
	}
	if !f.yes {
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
	}
	st, err := a.store(writeFlags{migration: string(scope.CopyRetain)})
	if err != nil {
		return err
	}
	gone := deletedJSON{ID: t.ID, Path: t.Path, Permanent: f.permanent}
	if gone.Trash, gone.Tombstone, err = removed(ctx, st, t.Path, f.permanent); err != nil {
		return deleteError(t, f, err)
	}
	switch {
	case a.json:
		return a.printJSON(gone)
	case gone.Trash != nil:
		a.printf("moved    %s\nto       %s\n", plain(t.Path), plain(*gone.Trash))
	default:
		a.printf("deleted  %s\n", plain(t.Path))
	}
	return nil
}

func (a *app) isPinned(path string) (bool, error) {
	st, err := a.readingStore()
	if err != nil {
		return false, err
	}
	return st.Pinned(path)
}

// removed takes a session away and says where it lies, or what marks it.
func removed(ctx context.Context, st *session.Store, path string, permanent bool) (trash, tombstone *string, err error) {
	if permanent {
		mark, err := st.Delete(ctx, path)
		return nil, orNull(mark), err
	}
	where, err := st.Discard(ctx, path)
	return orNull(where), nil, err
}

// deleteError says in words for people why a session was not deleted.
func deleteError(t session.Info, f deleteFlags, err error) error {
	switch {
	case errors.Is(err, session.ErrNotManaged) && f.permanent:
		return usagef("%s lies in a directory of yours: it is yours to remove; nothing was done", t.Path)
	case errors.Is(err, session.ErrNotManaged):
		return usagef("%s is of an older layout, from which nothing is moved: --permanent deletes it, migrate copies it first; nothing was done", t.Path)
	case errors.Is(err, session.ErrPinned):
		return fmt.Errorf("%s is pinned: gjc-index unpin %s first; nothing was deleted%w", t.ID, t.ID, silent{err})
	case errors.Is(err, session.ErrProtected):
		return fmt.Errorf("%s is being read or written: nothing was deleted%w", t.ID, silent{err})
	}
	return openError(t.ID, err)
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
func (a *app) confirm(ctx context.Context, question string) error {
	if !a.stdinTerminal() {
		return usagef("stdin is no terminal, so nobody can be asked: --yes says that it is meant")
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", plain(question))
	var answer string
	if err := await(ctx, func() { answer, _ = bufio.NewReader(a.stdin).ReadString('\n') }); err != nil { // no answer is a no
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}
