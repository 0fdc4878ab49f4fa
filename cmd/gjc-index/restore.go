package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) restoreCommand() *cobra.Command {
	var all bool
	var since string
	cmd := &cobra.Command{
		Use:   "restore [ID|--all]",
		Short: "Bring sessions back from the trash",
		Long: `Bring a session back from the trash to where it was, with all that belonged to
it. ID is its id, the beginning of it, or the name of its directory in the
trash. With --all bring back every one, or with --since those that came to the
trash from a time on, such as all of the last prune. Without either say what
lies in the trash, the latest first. Nothing is ever replaced: a session whose
name is taken stays in the trash (exit status 3).`,
		Example: `  gjc-index restore
  gjc-index restore 0195c2
  gjc-index restore --all --since 10m`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return oneArg("the id of a session in the trash")(cmd, args)
			case len(args) == 1 && all:
				return usagef("restore wants the id of a session or --all, not both; nothing was done")
			case cmd.Flags().Changed("since") && !all:
				return usagef("--since narrows --all: give both; nothing was done")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all:
				return a.restoreAll(cmd, since)
			case len(args) == 0:
				return a.listTrash(cmd)
			}
			return a.restore(cmd, args[0])
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every session of the trash")
	cmd.Flags().StringVar(&since, "since", "", "with --all: that came to the trash from `T` on: a day, a time, or an age such as 10m or 2d")
	return cmd
}

// restoredJSON is a session that came back, or did not; fields are only ever
// added.
type restoredJSON struct {
	ID     string  `json:"id"`
	Path   string  `json:"path"`
	Action string  `json:"action"` // restored or kept
	Reason *string `json:"reason"` // why it is kept
}

func (a *app) restoreAll(cmd *cobra.Command, since string) error {
	from, err := parseWhen(since, a.now())
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	back, kept := 0, 0
	err = st.RestoreAll(cmd.Context(), from, func(r session.Restored) error {
		action := "restored"
		if back++; r.Kept != "" {
			action = "kept"
			back, kept = back-1, kept+1
		}
		if a.json {
			return a.printJSON(restoredJSON{r.ID, r.Path, action, orNull(plain(r.Kept))})
		}
		why := ""
		if r.Kept != "" {
			why = "  (" + plain(r.Kept) + ")"
		}
		head := pad(action, 8) + "  " + pad(plain(beginning(r.ID, 12)), 8) + "  "
		room := a.screen.width - uniseg.StringWidth(head) - uniseg.StringWidth(why)
		a.printf("%s%s%s\n", head, preview(titleOr(r.Title, filepath.Base(r.Path)), max(room, minTitle)), why)
		return nil
	})
	if err != nil {
		return err
	}
	a.leftOut += kept
	switch {
	case back+kept == 0:
		a.note("nothing to bring back lies in the trash")
	case kept > 0:
		a.note("%s brought back, %s kept in the trash", count(back, "session"), comma(kept))
	default:
		a.note("%s brought back", count(back, "session"))
	}
	return nil
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
