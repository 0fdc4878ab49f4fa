package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say what the index holds and how fresh it is",
		Example: "  gjc-index status\n  gjc-index status --no-refresh --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.status(cmd) },
	}
}

type statusJSON struct {
	Home      string       `json:"home"`
	Index     *string      `json:"index"`
	Journal   string       `json:"journal"`
	ReadOnly  bool         `json:"readOnly"`
	Schema    int64        `json:"schema"`
	Extract   int          `json:"extract"`
	Built     *string      `json:"built"`
	Size      int64        `json:"size"`
	Files     int          `json:"files"`
	Sessions  int          `json:"sessions"`
	Children  int          `json:"children"`
	Damaged   int          `json:"damaged"`
	Entries   int64        `json:"entries"`
	Prompts   int64        `json:"prompts"`
	Labels    int64        `json:"labels"`
	Usage     int64        `json:"usage"`
	FileBytes int64        `json:"fileBytes"`
	Partly    int          `json:"damagedLines"` // sessions that have some
	Notes     []string     `json:"notes"`
	Watcher   *watcherJSON `json:"watcher"` // null: none
}

// watcherJSON is the process that watches the home.
type watcherJSON struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"`
}

func (a *app) status(cmd *cobra.Command) error {
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		st, err := x.Status(cmd.Context())
		if err != nil {
			return err
		}
		where := a.sessionDir
		if where == "" {
			home, err := a.homeDir()
			if err != nil {
				return err
			}
			where = home.Dir()
		}
		lines, err := withDamagedLines(cmd.Context(), x)
		if err != nil {
			return err
		}
		if dir, err := a.sessionsDir(); err == nil {
			a.sayNotThere(dir)
		}
		if a.json {
			notes := append([]string{}, st.Notes...)
			var watcher *watcherJSON
			if w := st.Watcher; w != nil {
				watcher = &watcherJSON{w.PID, w.Host, w.Since}
			}
			return a.printJSON(statusJSON{where, orNull(st.Path), st.Journal, st.ReadOnly, st.Schema, st.Extract, jsonTime(st.Built), st.Size,
				st.Files, st.Sessions, st.Children, st.Damaged, st.Entries, st.Prompts, st.Labels, st.Usage, st.FileBytes, lines, notes, watcher})
		}
		a.printf("home      %s\n", plain(where))
		partly := ""
		if lines > 0 {
			partly = "; " + comma(lines) + " with damaged lines"
		}
		a.printf("sessions  %s, and %s of subagents; %s damaged or refused%s\n", comma(st.Sessions), comma(st.Children), comma(st.Damaged), partly)
		a.printf("holding   %s, %s, %s\n", count(st.Entries, "entry"), count(st.Prompts, "prompt"), count(st.Labels, "label"))
		if st.Path == "" {
			a.printf("index     none: answers come from the files\n")
			return nil
		}
		built := "never built"
		if !st.Built.IsZero() {
			built = "built " + ago(a.now(), st.Built)
		}
		a.printf("index     %s of %s of files, %s\n", humanize.Bytes(uint64(st.Size)), humanize.Bytes(uint64(st.FileBytes)), built)
		a.printf("          %s\n", plain(st.Path))
		a.printf("watcher   %s\n", a.watcherLine(st.Watcher))
		return nil
	})
}

// watcherLine says who watches the home.
func (a *app) watcherLine(w *index.WatchedError) string {
	switch {
	case w == nil:
		return "none; gjc-index watch keeps the index fresh"
	case w.PID == 0:
		return "another process"
	}
	line := fmt.Sprintf("process %d on %s", w.PID, w.Host)
	if since, err := time.Parse(time.RFC3339, w.Since); err == nil {
		line += ", begun " + ago(a.now(), since)
	}
	return plain(line)
}

// withDamagedLines counts the sessions that are listed though not all of their
// lines can be read.
func withDamagedLines(ctx context.Context, x *index.Index) (n int, err error) {
	rows, _, err := x.Sessions(ctx, index.Filter{Damaged: index.DamagedOnly, Children: true})
	if err != nil {
		return 0, err
	}
	for row, err := range rows {
		if err != nil {
			return n, err
		}
		if row.State == index.StateOK {
			n++
		}
	}
	return n, nil
}
