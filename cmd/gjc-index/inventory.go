package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

func (a *app) inventoryCommand() *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "inventory",
		Short: "List sessions for other programs, within fixed bounds",
		Long: `List the sessions of a home as JSON, one a line, the latest modified first:
path, id, cwd, title, modified, size, truncated (only the file's beginning and
end were read).

At most 256 directories and 4,096 files are looked at, 64 KiB a file, 64 MiB
in all, and for 2 seconds; if that cut it short, stderr says so (exit status
3). It only reads: not even an index is made.`,
		Example: `  gjc-index inventory
  gjc-index inventory --cwd ~/src/ledger`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.inventory(cmd.Context(), cwd) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "only those of the working directory `DIR`")
	return cmd
}

// inventoryJSON is one session of the inventory; fields are only ever added.
type inventoryJSON struct {
	Path      string  `json:"path"`
	ID        string  `json:"id"`
	Cwd       string  `json:"cwd"`
	Title     *string `json:"title"`
	Modified  *string `json:"modified"`
	Size      int64   `json:"size"`
	Truncated bool    `json:"truncated"`
}

func (a *app) inventory(ctx context.Context, cwd string) error {
	if err := a.homeOnly("an inventory is of a home; list reads any directory"); err != nil {
		return err
	}
	want := ""
	if cwd != "" {
		dir, err := a.absolute(cwd)
		if err != nil {
			return err
		}
		want = realPath(dir)
	}
	st, err := a.readingStore()
	if err != nil {
		return err
	}
	inv, err := st.Inventory(ctx)
	if err != nil {
		return err
	}
	places := map[string]string{} // by what a header says
	for _, row := range inv.Sessions {
		if want != "" {
			if _, ok := places[row.Cwd]; !ok {
				places[row.Cwd] = realPath(row.Cwd)
			}
			if places[row.Cwd] != want {
				continue
			}
		}
		if err := a.printJSON(inventoryRow(row)); err != nil {
			return err
		}
	}
	if inv.Cut != "" {
		a.leftOut++
		a.note("cut short: %s", inv.Cut)
	}
	a.sayPassed(inv.LeftOut)
	return nil
}

func inventoryRow(r session.InventoryRow) inventoryJSON {
	return inventoryJSON{r.Path, r.ID, r.Cwd, orNull(r.Title), jsonTime(r.Modified), r.Size, r.Truncated}
}
