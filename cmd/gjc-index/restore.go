package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore [ID]",
		Short: "Bring a session back from the trash",
		Long: `Bring a session back from the trash to where it was, with all that belonged to
it. ID is its id, the beginning of it, or the name of its directory in the
trash. Without an ID say what lies in the trash, the latest first. Nothing is
ever replaced.`,
		Example: `  gjc-index restore
  gjc-index restore 0195c2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return oneArg("the id of a session in the trash")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listTrash(cmd)
			}
			return a.restore(cmd, args[0])
		},
	}
}

// trashJSON is a session in the trash; fields are only ever added.
type trashJSON struct {
	ID     string  `json:"id"`
	Path   string  `json:"path"` // where it was
	Title  string  `json:"title"`
	Trash  string  `json:"trash"` // where it lies
	Time   *string `json:"time"`  // when it came there
	Bytes  int64   `json:"bytes"`
	Reason string  `json:"reason"`
}

func (a *app) listTrash(cmd *cobra.Command) error {
	st, err := a.readingStore()
	if err != nil {
		return err
	}
	all, err := st.Trash(cmd.Context())
	if err != nil {
		return err
	}
	for _, t := range all {
		if a.json {
			if err := a.printJSON(trashJSON{t.ID, t.Path, t.Title, t.Dir, jsonTime(t.Time), t.Bytes, t.Reason}); err != nil {
				return err
			}
			continue
		}
		a.printf("%s  %s  %s  %s\n", day(t.Time), pad(plain(t.ID), 8), padLeft(humanize.Bytes(uint64(max(0, t.Bytes))), 7), preview(titleOr(t.Title, t.Path), 60))
	}
	if len(all) == 0 {
		a.note("the trash is empty")
	}
	return nil
}

func (a *app) restore(cmd *cobra.Command, ref string) error {
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	path, err := st.Restore(cmd.Context(), ref)
	var several *session.AmbiguousTrashError
	switch {
	case errors.As(err, &several):
		return fmt.Errorf("%w: give the name of one%w", err, silent{fs.ErrNotExist})
	case errors.Is(err, scope.ErrConflict):
		return fmt.Errorf("%s: something has its name now; nothing was changed%w", ref, silent{err})
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no session %q in the trash; gjc-index restore shows all%w", ref, silent{err})
	case err != nil:
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Path string `json:"path"`
		}{path})
	}
	a.printf("restored  %s\n", plain(path))
	return nil
}
