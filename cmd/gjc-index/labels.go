package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

// mostTextBytes is how much of an entry's text a list gives with --json.
const mostTextBytes = 1000

// defaultShown is how many lines a list over all sessions gives by itself.
const defaultShown = 100

type labelsFlags struct {
	label, session, project, since, tz string
	limit                              int
}

func (a *app) labelsCommand() *cobra.Command {
	var f labelsFlags
	cmd := &cobra.Command{
		Use:   "labels",
		Short: "List the labels of all sessions",
		Long: `List the labels in force of all sessions, the last given first: the label, what
the entry says, when the label was given, the session and the entry. label sets
and clears them; show ID --entry ENTRY shows the whole entry.

With --json an object a label: label, sessionId, path, title, cwd, project,
entryId, time (RFC 3339, UTC; null if the file has none), type, role and text
(of the entry; at most 1,000 bytes, and truncated is true if it has more).`,
		Example: `  gjc-index labels
  gjc-index labels --project . --since 30d
  gjc-index labels --label checkpoint --json | jq -r '.sessionId + " " + .entryId'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.labels(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.label, "label", "", "only the label `TEXT`, whole")
	fl.StringVar(&f.session, "session", "", "only of the session `ID`")
	fl.StringVar(&f.project, "project", "", "only from the project of `DIR`, all its worktrees counted")
	fl.StringVar(&f.since, "since", "", "given from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.tz, "tz", "", "days and times in `ZONE`, such as Europe/Berlin or UTC (default: this machine's)")
	fl.IntVar(&f.limit, "limit", defaultShown, "at most `N`")
	return cmd
}

// zoneAndSince reads --tz and --since.
func (a *app) zoneAndSince(cmd *cobra.Command, tz, since string) (*time.Location, time.Time, error) {
	zone := a.now().Location()
	if cmd.Flags().Changed("tz") {
		var err error
		if zone, err = time.LoadLocation(tz); err != nil || tz == "" {
			return nil, time.Time{}, usagef("--tz %q is no time zone: give a name such as Europe/Berlin, or UTC", tz)
		}
	}
	at, err := parseWhen(since, a.now().In(zone))
	return zone, at, err
}

// labelledJSON is a label of a session; fields are only ever added.
type labelledJSON struct {
	Label     string  `json:"label"`
	SessionID string  `json:"sessionId"`
	Path      string  `json:"path"`
	Title     *string `json:"title"`
	Cwd       string  `json:"cwd"`
	Project   string  `json:"project"`
	EntryID   string  `json:"entryId"`
	Time      *string `json:"time"`
	Type      string  `json:"type"`
	Role      *string `json:"role"`
	Text      string  `json:"text"`
	Truncated bool    `json:"truncated"`
}

func (a *app) labels(cmd *cobra.Command, f labelsFlags) error {
	if cmd.Flags().Changed("label") && f.label == "" {
		return usagef("--label is empty: give it a value or leave it out")
	}
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
		filter := index.LabelFilter{Label: f.label, Project: p.project, Since: since, Limit: f.limit}
		if f.session != "" {
			row, err := a.row(ctx, x, f.session)
			if err != nil {
				return err
			}
			if row.ID == "" {
				return usagef("labels looks into the sessions of the home; gjc-index label list %s lists those of a file", f.session)
			}
			filter.Path = row.Path
		}
		list, total, err := x.AllLabels(ctx, filter)
		if err != nil {
			return err
		}
		if err := a.printLabels(ctx, x, list, zone); err != nil {
			return err
		}
		switch {
		case total > len(list):
			a.note("%s of %s; --limit N shows more", comma(len(list)), count(total, "label"))
		case total == 0 && !a.json:
			a.note("no label; gjc-index label set ID ENTRY LABEL puts one on an entry")
		}
		return a.sayBad(ctx, x)
	})
}

// sayBad says which files the index could not read.
func (a *app) sayBad(ctx context.Context, x *index.Index) error {
	bad, err := a.badFiles(ctx, x)
	if err == nil {
		a.sayLeftOut(bad)
	}
	return err
}

func (a *app) printLabels(ctx context.Context, x *index.Index, list []index.Labelled, zone *time.Location) error {
	ids := make([]string, len(list))
	for i, l := range list {
		ids[i] = l.Row.ID
	}
	short, err := shortIDs(ctx, x, ids)
	if err != nil {
		return err
	}
	for _, l := range list {
		e, err := x.LabelledEntry(ctx, l)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went while we looked
		}
		if err != nil {
			return err
		}
		if a.json {
			err = a.printJSON(labelledOf(l, e))
		} else {
			a.printLabelled(l, e, short, zone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func labelledOf(l index.Labelled, e *jsonl.Entry) labelledJSON {
	out := labelledJSON{Label: l.Label, SessionID: l.Row.ID, Path: l.Row.Path, Cwd: l.Row.Cwd, Project: l.Row.Project,
		EntryID: l.Entry, Time: jsonTime(l.Given), Type: e.Type(), Role: orNull(e.Role())}
	if l.Row.HasTitle {
		out.Title = &l.Row.Title
	}
	out.Text, out.Truncated = cutText(labelText(e), mostTextBytes)
	return out
}

// printLabelled prints a label and what bears it on one line, and where that
// stands on another.
func (a *app) printLabelled(l index.Labelled, e *jsonl.Entry, short map[string]string, zone *time.Location) {
	label := preview(l.Label, a.screen.width/2)
	text := preview(labelText(e), max(1, a.screen.width-uniseg.StringWidth(label)-columnGap))
	where := []string{inZone(l.Given, zone), plain(baseName(l.Row.Project)), shortOf(l.Row.ID, l.Row.Path, short), plain(l.Entry), titleOf(l.Row)}
	a.printf("%s  %s\n    %s\n", a.screen.paint(bold, label), text, a.screen.paint(dim, fit(strings.Join(where, " · "), a.screen.width-4)))
}

// labelText is what an entry that bears a label says: its text, or the tools
// that it calls.
func labelText(e *jsonl.Entry) string {
	d := describe(e)
	if d.text == "" {
		return strings.Join(d.calls, "\n")
	}
	return d.text
}
