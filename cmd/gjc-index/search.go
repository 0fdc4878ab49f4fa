package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type searchFlags struct {
	cwd, project, since, until, session, role string
	limit, offset                             int
}

// defaultHits is how many hits a search shows without --limit.
const defaultHits = 50

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search [TERMS…]",
		Short: "Find prompts, or any text of a session",
		Long: `Find what was typed: every term must occur, anywhere in a word, in any script,
ignoring case and accents; "two words" in quotes are one term; nothing else is
an operator. Newest first, equal texts once. Without terms: the newest prompts.

--role assistant, tool or any searches all texts of the transcripts by reading
the files. Arguments after -- are never flags.`,
		Example: `  gjc-index search retry timeout
  gjc-index search '"exact phrase"' --project .
  gjc-index search --role any --since 7d 'connection reset'
  gjc-index search -- --error-on-warnings`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.search(cmd, f, strings.Join(args, " ")) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "only from this working directory")
	fl.StringVar(&f.project, "project", "", "only from this project, all its worktrees counted")
	fl.StringVar(&f.since, "since", "", "from then on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.until, "until", "", "before then")
	fl.StringVar(&f.session, "session", "", "only in this session")
	fl.StringVar(&f.role, "role", "user", "whose text: user, assistant, tool or any")
	fl.IntVar(&f.limit, "limit", defaultHits, "at most so many")
	fl.IntVar(&f.offset, "offset", 0, "leave out so many first")
	return cmd
}

var roles = []index.Role{index.RoleUser, index.RoleAssistant, index.RoleTool, index.RoleAny}

func (a *app) search(cmd *cobra.Command, f searchFlags, text string) error {
	role := index.Role(f.role)
	if !slices.Contains(roles, role) {
		return usagef("no role %q: user, assistant, tool or any", f.role)
	}
	if f.limit < 1 || f.offset < 0 {
		return usagef("--limit is a number from 1 on, --offset not negative")
	}
	filter, err := a.filter(listFlags{cwd: f.cwd, project: f.project, since: f.since, until: f.until, sort: "active"})
	if err != nil {
		return err
	}
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		req := index.SearchRequest{
			Query: index.ParseQuery(text), Role: role, Cwd: filter.Cwd, Project: filter.Project,
			Since: filter.Since, Until: filter.Until, Limit: f.limit + f.offset,
		}
		if f.session != "" {
			row, err := a.row(cmd.Context(), x, f.session)
			if err != nil {
				return err
			}
			req.Session = row.Path
		}
		found, err := x.Search(cmd.Context(), req)
		if err != nil {
			return err
		}
		for _, fail := range found.Failed {
			a.leftOut++
			a.note("not searched: %s: %s", fail.Path, fail.Reason)
		}
		hits := found.Hits[min(f.offset, len(found.Hits)):]
		if len(hits) == 0 && !a.json {
			a.note("nothing found")
		}
		return a.printHits(hits)
	})
}

// hitJSON is a text found; fields are only ever added.
type hitJSON struct {
	Source    string  `json:"source"`
	SessionID *string `json:"sessionId"`
	Path      *string `json:"path"`
	EntryID   *string `json:"entryId"`
	Line      *int    `json:"line"`
	Time      *string `json:"time"`
	Cwd       string  `json:"cwd"`
	Role      string  `json:"role"`
	Text      string  `json:"text"`
	Snippet   string  `json:"snippet"`
	Count     int     `json:"count"`
}

func (a *app) printHits(hits []index.Hit) error {
	for _, h := range hits {
		if !a.json {
			a.printHit(h)
			continue
		}
		out := hitJSON{
			Source: h.Source.String(), SessionID: orNull(h.SessionID), Path: orNull(h.Path), EntryID: orNull(h.EntryID),
			Time: jsonTime(h.Time), Cwd: h.Cwd, Role: h.Role, Text: h.Text, Snippet: h.Snippet, Count: h.Count,
		}
		if h.Line > 0 {
			out.Line = &h.Line
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	}
	return nil
}

// printHit prints a hit on one line, and where it stands on another.
func (a *app) printHit(h index.Hit) {
	where := []string{ago(a.now(), h.Time)}
	if h.Cwd != "" {
		where = append(where, plain(baseName(h.Cwd)))
	}
	if h.SessionID != "" {
		where = append(where, plain(h.SessionID))
	} else {
		where = append(where, h.Source.String())
	}
	if h.EntryID != "" && h.SessionID != "" {
		where = append(where, plain(h.EntryID))
	}
	if h.Role != "" && h.Role != string(index.RoleUser) {
		where = append(where, h.Role)
	}
	if h.Count > 1 {
		where = append(where, itoa(h.Count)+" times")
	}
	a.printf("%s\n    %s\n", fit(plain(h.Snippet), a.screen.width), a.screen.paint(dim, strings.Join(where, " · ")))
}
