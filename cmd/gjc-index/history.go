package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/scope"
)

func (a *app) historyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Keep and find what was typed",
		Long: `Keep and find what was typed: the prompts of all transcripts and the rows of
history.db, which the agent writes and these commands write too.

recent, search and export only read, and create nothing but the index.`,
		Example: `  gjc-index history recent --limit 20
  gjc-index history search retry timeout --project .
  gjc-index history import --transcripts
  eval "$(gjc-index history shell bash)"`,
		Args: rootArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.historyAddCommand(), a.historyRecentCommand(), a.historySearchCommand(), a.historyImportCommand(),
		a.historyDeleteCommand(), a.historyExportCommand(), a.historyShellCommand())
	return cmd
}

// historyHome is the home whose history.db is meant.
func (a *app) historyHome() (scope.Home, error) {
	if a.sessionDir != "" {
		return scope.Home{}, usagef("history.db lies in a home: give --home, not --session-dir")
	}
	return a.homeDir()
}

// writeHistory opens history.db for fn, making what is missing. What fn added
// is stored before it returns, also when a signal has come.
func (a *app) writeHistory(ctx context.Context, fn func(h *history.Store) error) error {
	home, err := a.historyHome()
	if err != nil {
		return err
	}
	if err := home.Prepare(a.fsys); err != nil {
		return err
	}
	h, err := history.Open(ctx, a.fsys, home.HistoryDB(),
		history.Options{Now: a.now, Journal: true, BusyTimeout: a.patience, CloseFor: 3 * a.patience})
	if err != nil {
		return err
	}
	if err := h.ReadOnly(); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", home.HistoryDB(), err), h.Close())
	}
	err = fn(h)
	cerr := h.Close()
	switch {
	case err != nil:
		return err
	case errors.Is(cerr, history.ErrBusy):
		return fmt.Errorf("history is locked by another process; the prompt is kept beside it and stored with the next one%w", silent{cerr})
	}
	return cerr
}

// readHistory opens history.db for fn without changing it. Where there is none
// fn is not called.
func (a *app) readHistory(ctx context.Context, fn func(h *history.Store) error) error {
	home, err := a.historyHome()
	if err != nil {
		return err
	}
	h, err := history.Open(ctx, a.fsys, home.HistoryDB(), history.Options{ReadOnly: true, BusyTimeout: a.patience})
	if errors.Is(err, fs.ErrNotExist) {
		a.note("there is no prompt history: %s is not there", home.HistoryDB())
		return nil
	}
	if err != nil {
		return err
	}
	err = fn(h)
	if cerr := h.Close(); err == nil {
		err = cerr
	}
	return err
}
