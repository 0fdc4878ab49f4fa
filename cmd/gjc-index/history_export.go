package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/history"
)

func (a *app) historyExportCommand() *cobra.Command {
	var f scopeFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the rows of history.db as JSON lines",
		Long: `Print the rows of history.db as JSON lines, in the order in which they were
stored: prompt, created_at, cwd. history import takes them back.`,
		Example: `  gjc-index history export > prompts.jsonl
  gjc-index history export --project . --since 30d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.historyExport(cmd.Context(), f) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) historyExport(ctx context.Context, f scopeFlags) error {
	p, err := a.place(f)
	if err != nil {
		return err
	}
	return a.readHistory(ctx, func(h *history.Store) error {
		for row, err := range h.Rows(ctx, 0) {
			if err != nil {
				return err
			}
			if !a.isFrom(p, &row) {
				continue
			}
			line := exportedPrompt{Prompt: row.Text, CreatedAt: row.Time.UTC().Format(time.RFC3339), Cwd: row.Cwd}
			if err := a.printJSON(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// isFrom reports whether a row was typed there and then.
func (a *app) isFrom(p place, row *history.Prompt) bool {
	cwd := ""
	if row.Cwd != nil {
		cwd = *row.Cwd
	}
	switch {
	case p.cwd != "" && cwd != p.cwd && cwd != realPath(p.cwd),
		p.project != "" && (cwd == "" || a.projectOf(cwd) != p.project),
		!p.since.IsZero() && row.Time.Before(p.since),
		!p.until.IsZero() && !row.Time.Before(p.until):
		return false
	}
	return true
}
