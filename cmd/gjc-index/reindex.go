package main

import (
	"fmt"
	"runtime/debug"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) reindexCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "Bring the index up to date; with --full make it anew",
		Example: `  gjc-index reindex
  gjc-index reindex --full --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reindex(cmd, full) },
	}
	cmd.Flags().BoolVar(&full, "full", false, "read every file again")
	return cmd
}

// errIndexBusy is a reindex that could not begin.
var errIndexBusy = fmt.Errorf("another process is writing the index; try again in a moment%w", silent{session.ErrBusy})

type reindexJSON struct {
	Added   int             `json:"added"`
	Changed int             `json:"changed"`
	Removed int             `json:"removed"`
	Same    int             `json:"same"`
	Failed  []index.Failure `json:"failed"`
	Files   int             `json:"files"`
	Bytes   int64           `json:"bytes"`
	Seconds float64         `json:"seconds"`
}

func (a *app) reindex(cmd *cobra.Command, full bool) error {
	if a.sessionDir != "" {
		return usagef("--session-dir is answered from the files: there is no index to make")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(hugeGC)) // until it is known how big the files are
	bar := a.progressBar()
	x, err := a.open(cmd.Context(), a.options(bar))
	if err != nil {
		return err
	}
	defer x.Close()
	work := x.Refresh
	if full {
		work = x.Rebuild
	}
	rep, err := work(cmd.Context())
	bar.done()
	if err != nil {
		return err
	}
	for _, note := range x.Notes() {
		a.note("%s", note)
	}
	switch {
	case rep.Busy:
		return errIndexBusy
	case rep.Unwritten != nil:
		return fmt.Errorf("write index: %w", rep.Unwritten)
	}
	a.failed = rep.Failed
	bad, err := a.badFiles(cmd.Context(), x)
	if err != nil {
		return err
	}
	a.leftOut = len(bad)
	if a.json {
		if rep.Failed == nil {
			rep.Failed = []index.Failure{}
		}
		return a.printJSON(reindexJSON{rep.Added, rep.Changed, rep.Removed, rep.Same, rep.Failed, rep.Files, rep.Bytes, rep.Elapsed.Seconds()})
	}
	a.printf("%s: %d added, %d changed, %d removed, %d as they were; read %s in %.2f s\n",
		count(rep.Files, "file"), rep.Added, rep.Changed, rep.Removed, rep.Same, humanize.Bytes(uint64(rep.Bytes)), rep.Elapsed.Seconds())
	for _, f := range rep.Failed[:min(mostNamed, len(rep.Failed))] {
		a.printf("left out: %s: %s\n", plain(f.Path), plain(f.Reason))
	}
	if more := len(rep.Failed) - mostNamed; more > 0 {
		a.printf("left out: %s more; gjc-index list --damaged names them\n", comma(more))
	}
	return nil
}

// mostNamed is how many files that were left out are named one by one.
const mostNamed = 20
