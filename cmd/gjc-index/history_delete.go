package main

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/history"
)

func (a *app) historyDeleteCommand() *cobra.Command {
	var text string
	cmd := &cobra.Command{
		Use:   "delete ID… | --text TEXT",
		Short: "Delete prompts from history.db for good",
		Long: `Delete rows of history.db: those with the given ids, or all whose text is exactly
TEXT (white space around it apart; not those that merely contain it).

The text is remembered as deleted, by its hash: no import brings it back, and
list and search of prompts do not show it, even where a transcript still holds
it, unless it was typed again later. Transcripts are not changed; search --role
any reads them and still finds it there.`,
		Example: `  gjc-index history delete 1714
  gjc-index history delete --text "my password is hunter2"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			byText := cmd.Flags().Changed("text")
			switch {
			case byText && len(args) > 0:
				return usagef("give ids or --text, not both")
			case byText && history.Trim(text) == "":
				return usagef("--text is empty: there is no such prompt")
			case byText:
				return a.deleteText(cmd.Context(), text)
			case len(args) == 0:
				return usagef("delete wants the id of a row of history.db, or --text; history recent --source history shows ids")
			}
			return a.deleteIDs(cmd.Context(), args)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "all rows whose text is exactly `TEXT`")
	return cmd
}

func (a *app) deleteText(ctx context.Context, text string) error {
	home, err := a.historyHome()
	if err != nil {
		return err
	}
	if _, err := a.fsys.Lstat(home.Dir()); err != nil {
		return fmt.Errorf("delete from history: %w", err)
	}
	var n int
	err = a.writeHistory(ctx, func(h *history.Store) (err error) {
		n, err = h.DeleteText(ctx, text)
		return err
	})
	if err != nil {
		return err
	}
	if n == 0 {
		a.note("no row of history.db has this text; it is remembered as deleted all the same")
	}
	return a.sayDeleted(n, nil)
}

func (a *app) deleteIDs(ctx context.Context, args []string) error {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id <= 0 {
			return usagef("%q is no id of a row of history.db: a number from 1 on", arg)
		}
		ids[i] = id
	}
	home, err := a.historyHome()
	if err != nil {
		return err
	}
	if _, err := a.fsys.Lstat(home.HistoryDB()); err != nil {
		return fmt.Errorf("delete from history: %w", err)
	}
	n, missing := 0, []string{}
	err = a.writeHistory(ctx, func(h *history.Store) error {
		for i, id := range ids {
			was, err := h.Delete(ctx, id)
			if err != nil {
				return err
			}
			if was {
				n++
			} else {
				missing = append(missing, args[i])
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case n == 0:
		return fmt.Errorf("%wno row of history.db has the id %s", silent{fs.ErrNotExist}, strings.Join(missing, ", "))
	}
	a.leftOut += len(missing)
	if len(missing) > 0 {
		a.note("no row of history.db has the id %s", strings.Join(missing, ", "))
	}
	return a.sayDeleted(n, missing)
}

func (a *app) sayDeleted(n int, missing []string) error {
	if !a.json {
		a.printf("%s deleted\n", count(n, "prompt"))
		return nil
	}
	if missing == nil {
		missing = []string{}
	}
	return a.printJSON(struct {
		Deleted int      `json:"deleted"`
		Missing []string `json:"missing"`
	}{n, missing})
}
