package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type searchFlags struct {
	scopeFlags
	session, role string
	limit, offset int
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
		RunE: func(cmd *cobra.Command, args []string) error {
			a.spareGC()
			if err := a.defaultLimit(cmd, &f.limit, func(s settings) int { return s.SearchLimit }); err != nil {
				return err
			}
			return a.search(cmd, f, strings.Join(args, " "))
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "only in the session `ID`")
	fl.StringVar(&f.role, "role", "user", "of `WHOM`: user, assistant, tool or any")
	fl.IntVar(&f.limit, "limit", defaultHits, "at most `N`")
	fl.IntVar(&f.offset, "offset", 0, "leave out the first `N`")
	complete(cmd, "role", "user", "assistant", "tool", "any")
	return cmd
}

var roles = []index.Role{index.RoleUser, index.RoleAssistant, index.RoleTool, index.RoleAny}

func (a *app) search(cmd *cobra.Command, f searchFlags, text string) error {
	role := index.Role(f.role)
	if !slices.Contains(roles, role) {
		return usagef("no role %q: user, assistant, tool or any", f.role)
	}
	if err := checkLimits(cmd, f.limit, f.offset); err != nil {
		return err
	}
	p, err := a.place(f.scopeFlags)
	if err != nil {
		return err
	}
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		var only string // the file of --session
		req := index.SearchRequest{
			Query: index.ParseQuery(text), Role: role, Cwd: p.cwd, Project: p.project,
			Since: p.since, Until: p.until, Limit: f.limit + f.offset + 1,
		}
		if f.session != "" {
			row, err := a.row(cmd.Context(), x, f.session)
			if err != nil {
				return err
			}
			req.Session, only = row.ID, row.Path
		}
		found, err := x.Search(cmd.Context(), req)
		if err != nil {
			return err
		}
		// As in list: a directory may be named by way of a link.
		if real := realPath(p.cwd); len(found.Hits) == 0 && p.cwd != "" && real != p.cwd {
			req.Cwd = real
			if found, err = x.Search(cmd.Context(), req); err != nil {
				return err
			}
		}
		if err := a.printFound(cmd, x, found.Hits, f); err != nil {
			return err
		}
		return a.sayUnsearched(cmd, x, found.Failed, only)
	})
}

// printFound prints the hits that the limits leave, and says if there are more.
func (a *app) printFound(cmd *cobra.Command, x *index.Index, hits []index.Hit, f searchFlags) error {
	all := len(hits)
	hits = hits[min(f.offset, all):min(f.offset+f.limit, all)]
	if err := a.printHits(cmd, x, hits); err != nil {
		return err
	}
	switch {
	case all > f.offset+f.limit:
		a.note("there is more: --offset %d shows what follows", f.offset+f.limit)
	case all == 0:
		a.nothingFound()
	case len(hits) == 0:
		a.note("nothing from --offset %d on: %s found", f.offset, count(all, "text"))
	}
	return nil
}

// sayUnsearched says which files the search could not look into: those that
// are no sessions, and those that could not be read just now.
func (a *app) sayUnsearched(cmd *cobra.Command, x *index.Index, failed []index.Failure, only string) error {
	files, err := a.badFiles(cmd.Context(), x)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f leftOutFile) bool { return only != "" && f.Path != only })
	for _, fail := range failed {
		if !slices.ContainsFunc(files, func(f leftOutFile) bool { return f.Path == fail.Path }) {
			files = append(files, leftOutFile{fail.Path, fail.Reason, index.StateUnreadable})
		}
	}
	if slices.ContainsFunc(x.Notes(), func(n string) bool { return strings.HasPrefix(n, "history ") && strings.Contains(n, "left out") }) {
		a.leftOut++ // the note says why
	}
	a.sayLeftOut(files)
	return nil
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

func (a *app) printHits(cmd *cobra.Command, x *index.Index, hits []index.Hit) error {
	var short map[string]string
	if !a.json && len(hits) > 0 {
		var err error
		if short, err = shortIDs(cmd.Context(), x, sessionsOf(hits)); err != nil {
			return err
		}
	}
	for _, h := range hits {
		if !a.json {
			a.printHit(h, short)
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
func (a *app) printHit(h index.Hit, short map[string]string) {
	where := []string{ago(a.now(), h.Time)}
	if h.Cwd != "" {
		where = append(where, plain(baseName(h.Cwd)))
	}
	if h.SessionID != "" {
		where = append(where, shortOf(h.SessionID, h.Path, short))
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
		where = append(where, comma(h.Count)+" times")
	}
	a.printf("%s\n    %s\n", preview(h.Snippet, a.screen.width), a.screen.paint(dim, fit(strings.Join(where, " · "), a.screen.width-4)))
}
