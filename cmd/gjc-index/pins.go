package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type pinsFlags struct {
	project, since, tz string
	limit              int
}

func (a *app) pinsCommand() *cobra.Command {
	var f pinsFlags
	cmd := &cobra.Command{
		Use:   "pins",
		Short: "List the pinned sessions",
		Long: `List the sessions that are pinned, which prune never removes: the last pinned
first. pin and unpin change it.

With --json an object a session: id, path, title, cwd, project, pinned and
active (RFC 3339, UTC; null if not known), size (bytes).`,
		Example: `  gjc-index pins
  gjc-index pins --project . --json | jq -r .path`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.pins(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "only from the project of `DIR`, all its worktrees counted")
	fl.StringVar(&f.since, "since", "", "pinned from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.tz, "tz", "", "days and times in `ZONE`, such as Europe/Berlin or UTC (default: this machine's)")
	fl.IntVar(&f.limit, "limit", defaultShown, "at most `N`")
	return cmd
}

// pinnedJSON is a pinned session; fields are only ever added.
type pinnedJSON struct {
	ID      string  `json:"id"`
	Path    string  `json:"path"`
	Title   *string `json:"title"`
	Cwd     string  `json:"cwd"`
	Project string  `json:"project"`
	Pinned  *string `json:"pinned"`
	Active  *string `json:"active"`
	Size    int64   `json:"size"`
}

func (a *app) pins(cmd *cobra.Command, f pinsFlags) error {
	if err := checkLimits(cmd, f.limit, 0); err != nil {
		return err
	}
	zone, since, err := a.zoneAndSince(cmd, f.tz, f.since)
	if err != nil {
		return err
	}
	p, err := a.place(scopeFlags{project: f.project})
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	return a.withIndex(ctx, func(x *index.Index) error {
		list, total, err := x.Pins(ctx, index.PinFilter{Project: p.project, Since: since, Limit: f.limit})
		if err != nil {
			return err
		}
		if err := a.printPins(ctx, x, list, zone); err != nil {
			return err
		}
		switch {
		case total > len(list):
			a.note("%s of %s; --limit N shows more", comma(len(list)), count(total, "pinned session"))
		case total == 0 && !a.json:
			a.note("no session is pinned; gjc-index pin ID keeps one from being pruned")
		}
		return nil
	})
}

func (a *app) printPins(ctx context.Context, x *index.Index, list []index.Pinned, zone *time.Location) error {
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.Row.ID
	}
	short, err := shortIDs(ctx, x, ids)
	if err != nil {
		return err
	}
	for _, p := range list {
		if a.json {
			row := jsonRow(p.Row)
			err := a.printJSON(pinnedJSON{row.ID, row.Path, row.Title, row.Cwd, row.Project, jsonTime(p.At), row.Active, row.Size})
			if err != nil {
				return err
			}
			continue
		}
		where := []string{"pinned " + inZone(p.At, zone), plain(baseName(p.Row.Project)), shortOf(p.Row.ID, p.Row.Path, short)}
		a.printf("%s\n    %s\n", fit(titleOf(p.Row), a.screen.width), a.screen.paint(dim, fit(strings.Join(where, " · "), a.screen.width-4)))
	}
	return nil
}

// inZone is a time for people in the zone they asked for; ? of none.
func inZone(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "?"
	}
	return t.In(zone).Format("2006-01-02 15:04")
}
