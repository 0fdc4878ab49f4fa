package main

import (
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type listFlags struct {
	cwd, project, sort, since, until string
	limit, offset                    int
	reverse, damaged, children       bool
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all sessions of all projects, newest first",
		Example: `  gjc-index list --limit 20
  gjc-index list --project . --since 7d
  gjc-index list --sort size --json | jq -r .path
  gjc-index list --damaged`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.list(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "only sessions of this working directory")
	fl.StringVar(&f.project, "project", "", "only sessions of this project, all its worktrees counted")
	fl.IntVar(&f.limit, "limit", 0, "at most so many (default all)")
	fl.IntVar(&f.offset, "offset", 0, "leave out so many first")
	fl.StringVar(&f.sort, "sort", "active", "active, created, modified, title, messages or size")
	fl.BoolVar(&f.reverse, "reverse", false, "the other way round")
	fl.StringVar(&f.since, "since", "", "active since: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.until, "until", "", "active before: a day, a time, or an age")
	fl.BoolVar(&f.damaged, "damaged", false, "the files that are damaged or refused, and why")
	fl.BoolVar(&f.children, "children", false, "also the transcripts of subagents")
	return cmd
}

var sorts = []index.Sort{index.SortActive, index.SortCreated, index.SortModified, index.SortTitle, index.SortMessages, index.SortSize}

func (a *app) filter(f listFlags) (index.Filter, error) {
	out := index.Filter{Sort: index.Sort(f.sort), Reverse: f.reverse, Limit: f.limit, Offset: f.offset, Children: f.children}
	if !slices.Contains(sorts, out.Sort) {
		return out, usagef("can't sort by %q: active, created, modified, title, messages or size", f.sort)
	}
	if f.limit < 0 || f.offset < 0 {
		return out, usagef("--limit and --offset can't be negative")
	}
	if f.damaged {
		out.Damaged = index.DamagedOnly
	}
	var err error
	if out.Since, err = parseWhen(f.since, a.now()); err != nil {
		return out, err
	}
	if out.Until, err = parseWhen(f.until, a.now()); err != nil {
		return out, err
	}
	if f.cwd != "" {
		if out.Cwd, err = a.absolute(f.cwd); err != nil {
			return out, err
		}
	}
	if f.project != "" {
		if out.Project, err = a.projectOf(f.project); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (a *app) list(cmd *cobra.Command, f listFlags) error {
	filter, err := a.filter(f)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("limit") && f.limit == 0 {
		return usagef("--limit 0 would show nothing: leave it out to see all")
	}
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		rows, total, err := x.Sessions(cmd.Context(), filter)
		if err != nil {
			return err
		}
		var shown []index.Row
		for row, err := range rows {
			if err != nil {
				return err
			}
			if a.json {
				if err := a.printJSON(jsonRow(row)); err != nil {
					return err
				}
			}
			shown = append(shown, row)
		}
		if !a.json {
			a.listTable(shown, f.damaged)
		}
		if f.limit > 0 && total > len(shown) {
			a.note("%d of %d sessions", len(shown), total)
		}
		if len(shown) == 0 && !f.damaged {
			a.nothingListed(total)
		}
		if f.damaged {
			return nil
		}
		return a.countDamaged(cmd, x)
	})
}

// countDamaged says how many files a list left out.
func (a *app) countDamaged(cmd *cobra.Command, x *index.Index) error {
	st, err := x.Status(cmd.Context())
	if err != nil {
		return err
	}
	if st.Damaged > 0 {
		a.note("%s left out: damaged, refused or newer; see gjc-index list --damaged", count(st.Damaged, "file"))
	}
	return nil
}

func (a *app) nothingListed(total int) {
	where := a.sessionDir
	if where == "" {
		home, err := a.homeDir()
		if err != nil {
			return
		}
		where = home.Sessions()
	}
	if total > 0 {
		return
	}
	a.note("no sessions found in %s; is that the right place? --home DIR names another, --session-dir DIR a directory of session files", where)
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
}

func jsonRow(r index.Row) sessionJSON {
	out := sessionJSON{
		ID: r.ID, Path: r.Path, Scope: r.Scope, Cwd: r.Cwd, Project: r.Project,
		TitleSource: orNull(r.TitleSource), FirstPrompt: orNull(r.FirstPrompt),
		Created: jsonTime(r.Created), Active: jsonTime(r.Active), Modified: jsonTime(r.Modified),
		Messages: r.Messages, Entries: r.Entries, Size: r.Size, Version: r.Version,
		Parent: orNull(r.Parent), Damage: orNull(r.Damage), CwdMissing: r.CwdMissing,
	}
	if r.HasTitle {
		out.Title = &r.Title
	}
	return out
}

// listTable prints sessions in columns that fit the screen: project, title or
// first prompt, when, messages, size, id.
func (a *app) listTable(rows []index.Row, damaged bool) {
	if len(rows) == 0 {
		return
	}
	if damaged {
		for _, r := range rows {
			a.printf("%s\n    %s\n", safeText(r.Path), plain(r.Damage))
		}
		return
	}
	cells := make([]listCells, len(rows))
	var w listCells
	for i, r := range rows {
		cells[i] = a.cells(r)
		for j := range w {
			w[j] = pad(w[j], uniseg.StringWidth(cells[i][j]))
		}
	}
	widths := columnWidths(w, a.screen.width)
	for _, c := range cells {
		a.printf("%s  %s  %s  %s  %s  %s\n",
			a.screen.paint(cyan, pad(fit(c[0], widths[0]), widths[0])),
			pad(fit(c[1], widths[1]), widths[1]),
			a.screen.paint(dim, padLeft(c[2], widths[2])),
			padLeft(c[3], widths[3]), padLeft(c[4], widths[4]),
			a.screen.paint(dim, c[5]))
	}
}

// listCells are project, title, when, messages, size, id.
type listCells [6]string

func (a *app) cells(r index.Row) listCells {
	title := plain(r.Title)
	if title == "" {
		title = plain(r.FirstPrompt)
	}
	if title == "" {
		title = "(no prompt)"
	}
	if r.Damage != "" {
		title = "! " + title
	}
	project := plain(baseName(r.Project))
	if r.CwdMissing {
		project += " (gone)"
	}
	return listCells{project, title, ago(a.now(), r.Active), humanize.Comma(int64(r.Messages)), humanize.Bytes(uint64(max(0, r.Size))), plain(r.ID)}
}

// columnWidths gives the title what the other columns leave of the screen; on
// a narrow one the project gives way first.
func columnWidths(widest listCells, screen int) [6]int {
	var w [6]int
	for i, c := range widest {
		w[i] = uniseg.StringWidth(c)
	}
	w[0] = min(w[0], max(8, screen/6))
	const gaps = 5 * 2
	rest := screen - gaps - w[0] - w[2] - w[3] - w[4] - w[5]
	w[1] = max(10, min(w[1], rest))
	return w
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(int64(n)) + " " + noun + "s"
}

// day is a time for people, in their zone.
func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
