package main

import (
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/storage"
)

// scopeFlags say where and when: list and search have them alike.
type scopeFlags struct {
	cwd, project, since, until string
}

func (f *scopeFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "only from the working directory `DIR`")
	fl.StringVar(&f.project, "project", "", "only from the project of `DIR`, all its worktrees counted")
	fl.StringVar(&f.since, "since", "", "from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.until, "until", "", "before `T`")
}

// place is scopeFlags read: what to look for, and between which times.
type place struct {
	cwd, project string
	since, until time.Time
}

func (a *app) place(f scopeFlags) (place, error) {
	var p place
	var err error
	if p.since, err = parseWhen(f.since, a.now()); err != nil {
		return p, err
	}
	if p.until, err = parseWhen(f.until, a.now()); err != nil {
		return p, err
	}
	if f.cwd != "" {
		if p.cwd, err = a.absolute(f.cwd); err != nil {
			return p, err
		}
	}
	if f.project != "" {
		if p.project, err = a.absolute(f.project); err != nil {
			return p, err
		}
		p.project = a.projectOf(realPath(p.project))
	}
	return p, nil
}

// realPath is path without symbolic links; path itself if nothing is there.
func realPath(path string) string {
	if real, err := storage.RealPath(path); err == nil {
		return real
	}
	return path
}

type listFlags struct {
	scopeFlags
	sort                       string
	limit, offset              int
	reverse, damaged, children bool
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all sessions of all projects, newest first",
		Long: `List all sessions of all projects, the last active first: project, title or
first prompt, when, messages, size, id. The id is as short as it may be: show,
tree and context take it. "!" marks a file with lines that can't be read,
"(gone)" a directory that is no longer there.

Files that can't be read as sessions are counted on stderr (exit status 3) and
listed with --damaged.`,
		Example: `  gjc-index list --limit 20
  gjc-index list --project . --since 7d
  gjc-index list --sort size --json | jq -r .path
  gjc-index list --damaged`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.spareGC()
			if err := a.defaultLimit(cmd, &f.limit, func(s settings) int { return s.ListLimit }); err != nil {
				return err
			}
			return a.list(cmd, f)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.limit, "limit", 0, "at most `N` (default all)")
	fl.IntVar(&f.offset, "offset", 0, "leave out the first `N`")
	fl.StringVar(&f.sort, "sort", "active", "by `WHAT`: active, created, modified, title, messages or size")
	fl.BoolVar(&f.reverse, "reverse", false, "the other way round")
	fl.BoolVar(&f.damaged, "damaged", false, "the files that are damaged or refused, and why")
	fl.BoolVar(&f.children, "children", false, "also the transcripts of subagents")
	complete(cmd, "sort", "active", "created", "modified", "title", "messages", "size")
	return cmd
}

var sorts = []index.Sort{index.SortActive, index.SortCreated, index.SortModified, index.SortTitle, index.SortMessages, index.SortSize}

func (a *app) filter(cmd *cobra.Command, f listFlags) (index.Filter, error) {
	out := index.Filter{Sort: index.Sort(f.sort), Reverse: f.reverse, Limit: f.limit, Offset: f.offset, Children: f.children}
	if !slices.Contains(sorts, out.Sort) {
		return out, usagef("can't sort by %q: active, created, modified, title, messages or size", f.sort)
	}
	if err := checkLimits(cmd, f.limit, f.offset); err != nil {
		return out, err
	}
	if f.damaged {
		out.Damaged, out.Children = index.DamagedOnly, true
	}
	p, err := a.place(f.scopeFlags)
	out.Cwd, out.Project, out.Since, out.Until = p.cwd, p.project, p.since, p.until
	return out, err
}

func checkLimits(cmd *cobra.Command, limit, offset int) error {
	switch {
	case cmd.Flags().Changed("limit") && limit < 1:
		return usagef("--limit %d would show nothing: it is a number from 1 on", limit)
	case offset < 0:
		return usagef("--offset %d: it is a number from 0 on", offset)
	case offset > math.MaxInt32 || limit > math.MaxInt32:
		return usagef("--limit and --offset are at most %d", math.MaxInt32)
	}
	return nil
}

func (a *app) list(cmd *cobra.Command, f listFlags) error {
	filter, err := a.filter(cmd, f)
	if err != nil {
		return err
	}
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		if f.damaged {
			return a.listDamaged(cmd, x, filter)
		}
		shown, marked, total, err := a.listRows(cmd, x, filter)
		if err != nil {
			return err
		}
		// A directory may be named by way of a link, and a session by the way
		// its agent went.
		if real := realPath(filter.Cwd); total == 0 && filter.Cwd != "" && real != filter.Cwd {
			filter.Cwd = real
			if shown, marked, total, err = a.listRows(cmd, x, filter); err != nil {
				return err
			}
		}
		if f.limit > 0 || f.offset > 0 {
			a.note("%s of %s", comma(shown), count(total, "session"))
		}
		bad, err := a.badFiles(cmd.Context(), x)
		if err != nil {
			return err
		}
		a.nothingListed(filter, total, len(bad))
		a.sayDamagedLines(marked)
		a.sayLeftOut(bad)
		return nil
	})
}

// listDamaged prints the files that are damaged or refused, and why.
func (a *app) listDamaged(cmd *cobra.Command, x *index.Index, filter index.Filter) error {
	rows, total, err := x.Sessions(cmd.Context(), filter)
	if err != nil {
		return err
	}
	var all []index.Row
	known := map[string]bool{}
	for row, err := range rows {
		if err != nil {
			return err
		}
		known[row.Path] = true
		all = append(all, row)
	}
	if filter.Limit > 0 || filter.Offset > 0 {
		a.note("%s of %s", comma(len(all)), count(total, "file"))
	} else {
		for _, f := range a.unindexed(known) {
			all = append(all, index.Row{Path: f.Path, Damage: string(f.state) + ": " + f.Reason, State: f.state})
		}
	}
	for _, row := range all {
		if !a.json {
			a.printf("%s\n    %s\n", plain(row.Path), plain(row.Damage))
		} else if err := a.printJSON(jsonRow(row)); err != nil {
			return err
		}
	}
	if len(all) == 0 && total == 0 && !a.json {
		a.note("no file is damaged or refused")
	}
	return nil
}

// sayDamagedLines says how many of the sessions listed are not whole. They are
// listed, so nothing is left out.
func (a *app) sayDamagedLines(n int) {
	switch {
	case n == 1:
		a.note("1 session has damaged lines (!); gjc-index list --damaged says which")
	case n > 1:
		a.note("%s have damaged lines (!); gjc-index list --damaged says which", count(n, "session"))
	}
}

// listRows prints the rows that the filter selects. Of those shown marked have
// damaged lines.
func (a *app) listRows(cmd *cobra.Command, x *index.Index, filter index.Filter) (shown, marked, total int, err error) {
	rows, total, err := x.Sessions(cmd.Context(), filter)
	if err != nil {
		return 0, 0, 0, err
	}
	var all []index.Row
	for row, err := range rows {
		if err != nil {
			return shown, marked, total, err
		}
		shown++
		if row.Damage != "" {
			marked++
		}
		if !a.json {
			all = append(all, row)
			continue
		}
		if err := a.printJSON(jsonRow(row)); err != nil {
			return shown, marked, total, err
		}
	}
	if a.json || len(all) == 0 {
		return shown, marked, total, nil
	}
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	short, err := shortIDs(cmd.Context(), x, ids)
	if err != nil {
		return shown, marked, total, err
	}
	lines := make([]sessionLine, len(all))
	for i, r := range all {
		lines[i] = a.lineOf(r, short)
	}
	a.sessionTable(lines)
	return shown, marked, total, nil
}

// nothingListed says why a list is empty, and what to do.
func (a *app) nothingListed(filter index.Filter, total, bad int) {
	if total > 0 {
		return
	}
	narrowed := filter.Cwd != "" || filter.Project != "" || !filter.Since.IsZero() || !filter.Until.IsZero()
	where, err := a.sessionsDir()
	if err != nil || a.sayNotThere(where) {
		return
	}
	switch {
	case narrowed:
		a.note("no session in %s is from there and then; gjc-index list shows all", where)
	case bad > 0:
		a.note("no session found in %s", where)
	default:
		a.note("no session found in %s; --home DIR names another home, --session-dir DIR a directory of session files", where)
	}
}

// sayNotThere says where sessions were looked for, if that is not there at all.
func (a *app) sayNotThere(where string) bool {
	if a.isThere(where) {
		return false
	}
	a.note("there are no sessions: %s is not there; --home DIR names another home, --session-dir DIR a directory of session files", where)
	return true
}

// nothingFound says that a search found nothing, or that there is nothing to
// search. With --json no object says the former.
func (a *app) nothingFound() {
	where, err := a.sessionsDir()
	home, herr := a.homeDir()
	prompts := a.sessionDir == "" && herr == nil && a.isThere(home.HistoryDB())
	if err == nil && !prompts && a.sayNotThere(where) || a.json {
		return
	}
	a.note("nothing found")
}

// sessionsDir is where the sessions lie.
func (a *app) sessionsDir() (string, error) {
	if a.sessionDir != "" {
		return a.absolute(a.sessionDir)
	}
	home, err := a.homeDir()
	return home.Sessions(), err
}

// sessionJSON is a session as the command prints it; fields are only ever added.
type sessionJSON struct {
	ID          string  `json:"id"`
	Path        string  `json:"path"`
	Scope       string  `json:"scope"`
	Cwd         string  `json:"cwd"`
	Project     string  `json:"project"`
	Title       *string `json:"title"`
	TitleSource *string `json:"titleSource"`
	FirstPrompt *string `json:"firstPrompt"`
	Created     *string `json:"created"`
	Active      *string `json:"active"`
	Modified    *string `json:"modified"`
	Messages    int     `json:"messages"`
	Entries     int     `json:"entries"`
	Size        int64   `json:"size"`
	Version     int     `json:"version"`
	Parent      *string `json:"parent"`
	Damage      *string `json:"damage"`
	CwdMissing  bool    `json:"cwdMissing"`
	Estimated   bool    `json:"estimated,omitempty"` // of a large file only the beginning was counted
}

func jsonRow(r index.Row) sessionJSON {
	out := sessionJSON{
		ID: r.ID, Path: r.Path, Scope: r.Scope, Cwd: r.Cwd, Project: r.Project,
		TitleSource: orNull(r.TitleSource), FirstPrompt: orNull(r.FirstPrompt),
		Created: jsonTime(r.Created), Active: jsonTime(r.Active), Modified: jsonTime(r.Modified),
		Messages: r.Messages, Entries: r.Entries, Size: r.Size, Version: r.Version,
		Parent: orNull(r.Parent), Damage: orNull(r.Damage), CwdMissing: r.CwdMissing, Estimated: r.Estimated,
	}
	if r.Modified.UnixNano() == 0 { // what is no file has none
		out.Active, out.Modified = nil, nil
	}
	if r.HasTitle {
		out.Title = &r.Title
	}
	return out
}
