package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

type pruneFlags struct {
	olderThan, keep, maxSize, project string
	dryRun, yes, permanent            bool
}

func (a *app) pruneCommand() *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Move old sessions to the trash",
		Long: `Say which sessions may go, and with --yes move them to the trash, from where
restore brings them back; --permanent removes them for good. Limits narrow each
other: a session goes only if each limit that is given lets it go. Without a
limit nothing goes.

A session is as old as the later of its last record's time and its file's time.
Sessions that are pinned, in use, damaged, of a newer version, or young and
without an answer stay, and so do those in directories of an older layout.
What was removed is written to prune.log in the home.`,
		Example: `  gjc-index prune --older-than 90d
  gjc-index prune --older-than 12w --keep 50 --yes
  gjc-index prune --max-size 2GB --project . --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.prune(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.olderThan, "older-than", "", "what was last active before `AGE`: a whole number and h, d or w")
	fl.StringVar(&f.keep, "keep", "", "what is not among the newest `N`")
	fl.StringVar(&f.maxSize, "max-size", "", "what lies beyond the newest `SIZE`, such as 500MB")
	fl.StringVar(&f.project, "project", "", "only from the project of `DIR`, all its worktrees counted, removed ones too")
	fl.BoolVar(&f.dryRun, "dry-run", false, "change nothing, which is so without --yes too")
	fl.BoolVar(&f.yes, "yes", false, "do it")
	fl.BoolVar(&f.permanent, "permanent", false, "with --yes: for good, without a way back")
	return cmd
}

// retention reads the limits. One that can't be read is an error of usage, and
// nothing is removed.
func (a *app) retention(cmd *cobra.Command, f pruneFlags) (r session.Retention, err error) {
	given := cmd.Flags().Changed
	if given("older-than") {
		if r.OlderThan, err = ageFlag("older-than", f.olderThan); err != nil {
			return r, err
		}
	}
	if given("keep") {
		n, ok := digits(f.keep)
		if !ok || n > 1<<31 {
			return r, usagef("--keep %q is no number of sessions: give a whole number above 0; nothing was done", f.keep)
		}
		r.Keep = int(n)
	}
	if given("max-size") {
		if r.MaxBytes, err = sizeFlag("max-size", f.maxSize); err != nil {
			return r, err
		}
	}
	if r.OlderThan == 0 && r.Keep == 0 && r.MaxBytes == 0 {
		return r, usagef("prune wants a limit: --older-than, --keep or --max-size; nothing was done")
	}
	if given("project") {
		if r.Project, err = a.absolute(f.project); err != nil {
			return r, err
		}
		r.Project = a.projectOf(realPath(r.Project))
	}
	r.Dir, err = a.explicitDir()
	return r, err
}

// pruneJSON is a session that goes, or would go; fields are only ever added.
type pruneJSON struct {
	ID         string  `json:"id"`
	Path       string  `json:"path"`
	Reason     string  `json:"reason"`
	Bytes      int64   `json:"bytes"`
	Action     string  `json:"action"` // would_trash, would_delete, trashed, deleted, kept
	Title      string  `json:"title"`
	LastActive *string `json:"lastActive"`
	Trash      string  `json:"trash,omitempty"` // where it lies now
}

func (a *app) prune(cmd *cobra.Command, f pruneFlags) error {
	r, err := a.retention(cmd, f)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	plan, err := st.PlanPrune(ctx, r)
	if err != nil {
		return err
	}
	a.sayKept(plan)
	if !f.yes || f.dryRun {
		return a.showPlan(plan, f.permanent)
	}
	if len(plan.Rows) == 0 {
		a.note("nothing may go")
		return st.FinishTrash(ctx)
	}
	a.note("removing %s: %s", count(len(plan.Rows), "session"), a.limits(r))
	return a.doPrune(ctx, st, plan, f.permanent)
}

// limits says what the limits mean now.
func (a *app) limits(r session.Retention) string {
	var all []string
	if r.OlderThan > 0 {
		all = append(all, "last active before "+a.now().Add(-r.OlderThan).UTC().Format(time.RFC3339))
	}
	if r.Keep > 0 {
		all = append(all, "not among the newest "+comma(r.Keep))
	}
	if r.MaxBytes > 0 {
		all = append(all, "beyond "+comma(r.MaxBytes)+" bytes")
	}
	return strings.Join(all, ", ")
}

// sayKept says what the limits would let go and something else keeps, and what
// could not be judged.
func (a *app) sayKept(plan *session.PrunePlan) {
	reasons := map[string]int{}
	var order []string
	for _, k := range plan.Kept {
		if reasons[k.Reason]++; reasons[k.Reason] == 1 {
			order = append(order, k.Reason)
		}
	}
	for _, reason := range order {
		n, each := reasons[reason], "which "
		if n > 1 {
			each = "each of which "
		}
		if first, _, _ := strings.Cut(reason, " "); first != "is" && first != "has" {
			each = "for this: "
		}
		a.note("kept: %s, %s%s", count(n, "session"), each, reason)
	}
	for _, l := range plan.LeftOut {
		a.note("%s: left out: %s", l.Path, l.Reason)
	}
	a.leftOut += len(plan.LeftOut)
}

func (a *app) showPlan(plan *session.PrunePlan, permanent bool) error {
	action := "would_trash"
	if permanent {
		action = "would_delete"
	}
	var sum int64
	short := shortIDsOf(plan)
	for _, row := range plan.Rows {
		sum += row.Bytes
		if err := a.printPruned(row, short, action, row.Reason, ""); err != nil {
			return err
		}
	}
	if len(plan.Rows) == 0 {
		a.note("nothing may go")
		return nil
	}
	a.note("%s, %s would go; nothing was changed: --yes does it", count(len(plan.Rows), "session"), humanize.Bytes(uint64(sum)))
	return nil
}

func (a *app) doPrune(ctx context.Context, st *session.Store, plan *session.PrunePlan, permanent bool) error {
	var sum int64
	n, short := 0, shortIDsOf(plan)
	err := st.Prune(ctx, plan, permanent, func(p session.Pruned) error {
		switch {
		case p.Kept != "":
			a.leftOut++
			return a.printPruned(p.PruneRow, short, "kept", p.Kept, "")
		case permanent:
			sum, n = sum+p.Bytes, n+1
			return a.printPruned(p.PruneRow, short, "deleted", p.Reason, "")
		}
		sum, n = sum+p.Bytes, n+1
		return a.printPruned(p.PruneRow, short, "trashed", p.Reason, p.Trash)
	})
	if err != nil {
		return err
	}
	where := "are in the trash; gjc-index restore brings them back"
	if permanent {
		where = "are gone for good"
	}
	a.note("%s, %s, %s", count(n, "session"), humanize.Bytes(uint64(sum)), where)
	return nil
}

// shortIDsOf are the beginnings of ids that tell the sessions of a plan apart.
func shortIDsOf(plan *session.PrunePlan) map[string]string {
	ids := make([]string, len(plan.Rows))
	for i, row := range plan.Rows {
		ids[i] = row.ID
	}
	return ShortIDs(ids)
}

// printPruned says of a session what becomes of it, in one line of the screen:
// id, age, size, title and, unless its age says it all, why.
func (a *app) printPruned(row session.PruneRow, short map[string]string, action, reason, trash string) error {
	if a.json {
		return a.printJSON(pruneJSON{row.ID, row.Path, reason, row.Bytes, action, row.Title, jsonTime(row.LastActive), trash})
	}
	head := fmt.Sprintf("%s  %s  %s  %s  ", strings.ReplaceAll(action, "_", " "), pad(plain(short[row.ID]), 8),
		padLeft(ago(a.now(), row.LastActive), 10), padLeft(humanize.Bytes(uint64(row.Bytes)), 7))
	why := ""
	if reason = plain(shortReason(reason)); reason != "" {
		why = "  (" + reason + ")"
	}
	room := a.screen.width - uniseg.StringWidth(head) - uniseg.StringWidth(why)
	a.printf("%s%s%s\n", head, preview(titleOr(row.Title, filepath.Base(row.Path)), max(room, minTitle)), why)
	return nil
}

// minTitle is how much of a title is shown whatever else a line holds, in
// columns.
const minTitle = 12

// shortReason is a reason without what the age beside it says.
func shortReason(reason string) string {
	first, rest, more := strings.Cut(reason, ", ")
	switch {
	case !strings.HasPrefix(first, "last active "):
		return reason
	case more:
		return rest
	}
	return ""
}

func titleOr(title, other string) string {
	if title == "" {
		return other
	}
	return title
}
