package main

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

// findFlags say which prompts are shown, and how.
type findFlags struct {
	scopeFlags
	session, source string
	limit, offset   int
	unique, print0  bool
}

func (f *findFlags) add(cmd *cobra.Command) {
	f.scopeFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.session, "session", "", "only in the session `ID`")
	fl.StringVar(&f.source, "source", "", "only from `WHERE`: history (rows of history.db) or session (transcripts)")
	fl.IntVar(&f.limit, "limit", defaultHits, "at most `N`")
	fl.IntVar(&f.offset, "offset", 0, "leave out the first `N`")
	fl.BoolVarP(&f.print0, "print0", "0", false, "print whole texts, each ended by NUL")
	complete(cmd, "source", "history", "session")
}

func (a *app) historyRecentCommand() *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "recent",
		Short: "Show the last prompts, newest first",
		Long: `Show the last prompts of all transcripts and of history.db, newest first, one
line each: when, where, id, text. The id is that of the row of history.db, which
history delete takes, or of the session. What a transcript and history.db note
within a minute is one prompt.`,
		Example: `  gjc-index history recent --cwd . --unique
  gjc-index history recent --unique --print0 --limit 5000 | fzf --read0`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.historyFind(cmd, f, "") },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.unique, "unique", false, "equal texts once, with how often they were typed")
	return cmd
}

func (a *app) historySearchCommand() *cobra.Command {
	var f findFlags
	cmd := &cobra.Command{
		Use:   "search [TERMS…]",
		Short: "Find prompts in transcripts and history.db",
		Long: `Find prompts in all transcripts and in history.db: every term must occur,
anywhere in a word, in any script, ignoring case and accents; "two words" in
quotes are one term; nothing else is an operator. Newest first; equal texts once,
with how often and where last. Arguments after -- are never flags.`,
		Example: `  gjc-index history search retry timeout
  gjc-index history search --source history --json '"exact phrase"'
  gjc-index history search -- --error-on-warnings`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.historyFind(cmd, f, strings.Join(args, " ")) },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.unique, "unique", true, "equal texts once; --unique=false shows each time a text was typed")
	return cmd
}

func (a *app) historyFind(cmd *cobra.Command, f findFlags, text string) error {
	if err := checkLimits(cmd, f.limit, f.offset); err != nil {
		return err
	}
	if f.print0 && a.json {
		return usagef("--print0 and --json are two forms of the same answer: give one")
	}
	req := index.SearchRequest{Query: index.ParseQuery(text), Limit: f.limit + f.offset + 1, Repeats: !f.unique}
	switch f.source {
	case "":
	case index.SourceHistory.String():
		req.Sources = []index.Source{index.SourceHistory}
	case index.SourceSession.String():
		req.Sources = []index.Source{index.SourceSession}
	default:
		return usagef("no source %q: history or session", f.source)
	}
	p, err := a.place(f.scopeFlags)
	if err != nil {
		return err
	}
	req.Cwd, req.Project, req.Since, req.Until = p.cwd, p.project, p.since, p.until
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
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
		// As in list: a directory may be named by way of a link.
		if real := realPath(p.cwd); len(found.Hits) == 0 && p.cwd != "" && real != p.cwd {
			req.Cwd = real
			if found, err = x.Search(cmd.Context(), req); err != nil {
				return err
			}
		}
		if err := a.printPrompts(cmd, x, found.Hits, f); err != nil {
			return err
		}
		if slices.Equal(req.Sources, []index.Source{index.SourceHistory}) {
			return nil // no transcript was asked for
		}
		return a.sayUnsearched(cmd, x, found.Failed, req.Session)
	})
}

// printPrompts prints the prompts that the limits leave, and says if there are
// more.
func (a *app) printPrompts(cmd *cobra.Command, x *index.Index, hits []index.Hit, f findFlags) error {
	all := len(hits)
	hits = hits[min(f.offset, all):min(f.offset+f.limit, all)]
	if f.print0 {
		for _, h := range hits {
			a.printf("%s\x00", a.separable(h.Text))
		}
		return nil
	}
	if a.json {
		if err := a.printHits(cmd, x, hits); err != nil {
			return err
		}
	} else if err := a.promptTable(cmd, x, hits); err != nil {
		return err
	}
	switch {
	case all > f.offset+f.limit:
		a.note("there is more: --offset %d shows what follows", f.offset+f.limit)
	case all == 0:
		a.nothingFound()
	}
	return nil
}

// separable is a text for --print0: a NUL in it would make two of it.
func (a *app) separable(text string) string {
	text = strings.ReplaceAll(text, "\x00", "\u2400")
	if a.screen.terminal {
		text = safeText(text)
	}
	return text
}

// promptTable prints each prompt on one line.
func (a *app) promptTable(cmd *cobra.Command, x *index.Index, hits []index.Hit) error {
	if len(hits) == 0 {
		return nil
	}
	short, err := shortIDs(cmd.Context(), x, sessionsOf(hits))
	if err != nil {
		return err
	}
	const whenCol, whereCol, idCol = 0, 1, 2
	rows := make([][3]string, len(hits))
	var width [3]int
	for i, h := range hits {
		id := h.EntryID
		if h.Source == index.SourceSession {
			id = shortOf(h.SessionID, h.Path, short)
		}
		rows[i] = [3]string{whenCol: ago(a.now(), h.Time), whereCol: fit(plain(baseName(h.Cwd)), 16), idCol: fit(plain(id), 24)}
		for c, cell := range rows[i] {
			width[c] = max(width[c], uniseg.StringWidth(cell))
		}
	}
	if a.screen.width-width[whenCol]-width[whereCol]-width[idCol]-3*columnGap < leastTitle {
		width[whereCol] = 0
	}
	for i, h := range hits {
		r := rows[i]
		text := h.Snippet
		if h.Count > 1 {
			text = "(" + comma(h.Count) + "×) " + text
		}
		line, room := a.screen.paint(dim, padLeft(r[whenCol], width[whenCol]))+"  ", a.screen.width-width[whenCol]-width[idCol]-2*columnGap
		if width[whereCol] > 0 {
			line += a.screen.paint(cyan, pad(r[whereCol], width[whereCol])) + "  "
			room -= width[whereCol] + columnGap
		}
		a.printf("%s%s  %s\n", line, a.screen.paint(dim, padLeft(r[idCol], width[idCol])), preview(text, max(room, barelyTitle)))
	}
	return nil
}
