package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

type showFlags struct {
	entry, branch string
	all, strict   bool
	from, to      int
}

func (a *app) showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one session: the path that ends at its last entry",
		Long: `Show one session: the path that ends at its last entry, or at --branch.
ID is a session id, the beginning of one, or a path. Entries that were archived
are shown in their old places. With --json each entry is printed as the file has
it.`,
		Example: `  gjc-index show 0195c2
  gjc-index show 0195c2 --from 10 --to 20
  gjc-index show 0195c2 --all-branches --json | jq -r .type`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.show(cmd, x, args[0], f) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.entry, "entry", "", "only the entry `ID`, whole")
	fl.StringVar(&f.branch, "branch", "", "the path that ends at the entry `ID`")
	fl.BoolVar(&f.all, "all-branches", false, "all entries in the order of the file")
	fl.IntVar(&f.from, "from", 0, "from the entry number `N`")
	fl.IntVar(&f.to, "to", 0, "up to the entry number `N`")
	fl.BoolVar(&f.strict, "strict", false, "leave gaps where lines were lost")
	return cmd
}

func (a *app) show(cmd *cobra.Command, x *index.Index, ref string, f showFlags) error {
	if err := checkShow(cmd, f); err != nil {
		return err
	}
	return a.with(cmd.Context(), x, ref, !f.strict, func(s found) error { return a.showFound(cmd, x, s, f) })
}

func (a *app) showFound(cmd *cobra.Command, x *index.Index, s found, f showFlags) (err error) {
	if f.entry == "" || s.tree.Entry(f.entry) == nil {
		if s, err = a.withSmallArchive(cmd.Context(), s); err != nil {
			return err
		}
	}
	if f.entry != "" {
		return a.showEntry(s, f.entry)
	}
	leaf, err := s.leaf(f.branch)
	if err != nil {
		return err
	}
	path := s.tree.Path(leaf)
	if f.all {
		path = s.tree.Entries()
	}
	if !a.json {
		short, err := shortIDs(cmd.Context(), x, []string{s.row.ID})
		if err != nil {
			return err
		}
		a.showHead(s, len(path), f, short)
	}
	if f.from > len(path) {
		a.note("there are %s, none from number %d on", count(len(path), "entry"), f.from)
	}
	for i, e := range path {
		if n := i + 1; n < f.from || (f.to > 0 && n > f.to) {
			continue
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if e, err = s.entry(e); err != nil {
			return err
		}
		if a.json {
			if err := a.printRaw(entryJSON(e)); err != nil {
				return err
			}
			continue
		}
		a.printEntry(i+1, e, maxShownLines)
	}
	return nil
}

func checkShow(cmd *cobra.Command, f showFlags) error {
	fl := cmd.Flags()
	for name, n := range map[string]int{"from": f.from, "to": f.to} {
		if fl.Changed(name) && n < 1 {
			return usagef("--%s %d: entries are counted from 1", name, n)
		}
	}
	switch {
	case f.to > 0 && f.to < f.from:
		return usagef("--from %d is after --to %d", f.from, f.to)
	case f.all && f.branch != "":
		return usagef("--branch and --all-branches exclude each other")
	case f.entry != "" && (f.all || f.branch != "" || f.from > 0 || f.to > 0):
		return usagef("--entry shows one entry: leave out --branch, --all-branches, --from and --to")
	}
	return nil
}

func (a *app) showEntry(s found, id string) error {
	if _, err := s.leaf(id); err != nil {
		return err
	}
	e, err := s.entry(s.tree.Entry(id))
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(entryJSON(e))
	}
	a.printEntry(0, e, 0)
	return nil
}

func (a *app) showHead(s found, shown int, f showFlags, short map[string]string) {
	what := count(s.tree.Len(), "entry")
	switch {
	case s.tree.Len() == 0:
		what = "no entries"
	case !f.all && shown < s.tree.Len():
		what = comma(shown) + " of " + what + " on this branch; --all-branches shows all"
	}
	facts := []string{plain(s.row.Cwd), shortOf(s.row.ID, s.row.Path, short)}
	if !s.row.Created.IsZero() {
		facts = append(facts, day(s.row.Created))
	}
	a.printf("%s\n%s\n\n", a.screen.paint(bold, fit(titleOf(s.row), a.screen.width)),
		a.screen.paint(dim, strings.Join(append(facts, what), " · ")))
}

// maxShownLines of a tool's output are shown before it is cut.
const maxShownLines = 20

// printEntry prints an entry for people; lines is how many of a tool's output
// are shown, 0 for all.
func (a *app) printEntry(n int, e *jsonl.Entry, lines int) {
	d := describe(e)
	head := d.who
	if n > 0 {
		head = "#" + itoa(n) + " " + head
	}
	when := ""
	if t, ok := e.Time(); ok {
		when = "  " + day(t)
	}
	id, _ := e.ID()
	a.printf("%s%s\n", a.screen.paint(cyan, preview(head, a.screen.width)), a.screen.paint(dim, when+"  "+plain(id)))
	text := strings.TrimRight(safeText(d.text), "\n")
	if d.output && lines > 0 {
		if all := strings.Split(text, "\n"); len(all) > lines {
			text = strings.Join(all[:lines], "\n") + "\n… " + comma(len(all)-lines) + " more (--entry " + plain(id) + " shows all)"
		}
	}
	if text != "" {
		a.printf("%s\n", text)
	}
	for _, call := range d.calls {
		a.printf("%s\n", a.screen.paint(dim, preview("→ "+call, a.screen.width)))
	}
	a.printf("\n")
}
