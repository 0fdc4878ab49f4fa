package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

type rebindFlags struct {
	writeFlags
	from, to    string
	all, dryRun bool
}

func (a *app) rebindCommand() *cobra.Command {
	var f rebindFlags
	cmd := &cobra.Command{
		Use:   "rebind ID|--all --from OLD --to NEW",
		Short: "Give sessions of a directory that was moved to the new one",
		Long: `Move a session, or with --all every session of the working directory OLD, into
the scope of NEW, with all that belongs to it. OLD need not exist any more; with
an ID it may be left out. A session of an older layout is copied, and its file
stays. One that can't be moved says why and stops no other (exit status 3).`,
		Example: `  gjc-index rebind --all --from ~/src/ledger --to ~/code/ledger --dry-run
  gjc-index rebind 0195c2 --to ~/code/ledger`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return a.rebind(cmd.Context(), id, f)
		},
	}
	f.addMigration(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "the working directory `OLD` that the sessions name")
	fl.StringVar(&f.to, "to", "", "the working directory `NEW` that they belong to now")
	fl.BoolVar(&f.all, "all", false, "every session of OLD")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be done and change nothing")
	return cmd
}

func (f *rebindFlags) check(args []string) error {
	switch {
	case len(args) > 1, f.all == (len(args) == 1):
		return usagef("rebind wants a session id, or --all")
	case f.to == "":
		return usagef("rebind wants --to, the working directory that the sessions belong to now")
	case f.all && f.from == "":
		return usagef("rebind --all wants --from, the working directory that the sessions name")
	}
	return nil
}

// reboundJSON is one session that was moved, or would be; fields are only ever
// added.
type reboundJSON struct {
	ID     string  `json:"id"`
	Path   string  `json:"path"`
	To     string  `json:"to"`
	Action string  `json:"action"` // moved, copied, would_move, would_copy or kept
	Reason *string `json:"reason"`
}

func (a *app) rebind(ctx context.Context, ref string, f rebindFlags) error {
	if err := a.homeOnly("workspaces have their sessions in a home"); err != nil {
		return err
	}
	st, err := a.store(f.writeFlags)
	if err != nil {
		return err
	}
	opt := session.RebindOptions{DryRun: f.dryRun}
	if opt.To, err = a.absolute(f.to); err != nil {
		return err
	}
	if !f.all {
		t, err := a.target(ctx, ref)
		if err != nil {
			return err
		}
		opt.ID = t.ID
		if f.from == "" {
			f.from = t.Cwd
		}
	}
	if opt.From, err = a.absolute(f.from); err != nil {
		return err
	}
	rows, left, err := st.Rebind(ctx, opt)
	if perr := a.printRebounds(rows, f.dryRun); perr != nil {
		return perr
	}
	a.sayPassed(left)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("no session of %s; gjc-index list --cwd shows those of a directory%w", opt.From, silent{fs.ErrNotExist})
	}
	return nil
}

func (a *app) printRebounds(rows []session.RebindRow, dry bool) error {
	gone := map[string]bool{} // where to, by those before
	for _, row := range rows {
		source := row.Copied && gone[row.To]
		if source {
			row.Moved, row.Reason = false, "it was copied before, and the copy goes"
		}
		if err := a.printRebound(row, source, dry); err != nil {
			return err
		}
		gone[row.To] = row.Reason == "" || gone[row.To]
	}
	return nil
}

// printRebound prints one row. source says that it is what another row was
// copied from: that it stays is no loss.
func (a *app) printRebound(row session.RebindRow, source, dry bool) error {
	action := "moved"
	switch {
	case source:
		action = "kept"
	case row.Reason != "":
		action = "kept"
		a.leftOut++
	case dry && row.Copied:
		action = "would_copy"
	case dry:
		action = "would_move"
	case row.Copied:
		action = "copied"
	}
	if a.json {
		return a.printJSON(reboundJSON{row.Session.ID, row.Session.Path, row.To, action, orNull(plain(row.Reason))})
	}
	words := map[string]string{"would_copy": "would copy", "would_move": "would move"}
	word, ok := words[action]
	if !ok {
		word = action
	}
	a.printf("%-11s%s\n", word, plain(row.Session.Path))
	if row.Reason != "" {
		a.printf("%-11s%s\n", "", plain(row.Reason))
	} else {
		a.printf("%-11sto %s\n", "", plain(row.To))
	}
	return nil
}
