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
ID is a session id, the beginning of one, or a path. With --json each entry is
printed as the file has it.`,
		Example: `  gjc-index show 0195c2
  gjc-index show 0195c2 --from 10 --to 20
  gjc-index show 0195c2 --all-branches --json | jq -r .type`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.show(cmd, x, args[0], f) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.entry, "entry", "", "only this entry, whole")
	fl.StringVar(&f.branch, "branch", "", "the path that ends at this entry")
	fl.BoolVar(&f.all, "all-branches", false, "all entries in the order of the file")
	fl.IntVar(&f.from, "from", 0, "from the entry with this number")
	fl.IntVar(&f.to, "to", 0, "up to the entry with this number")
	fl.BoolVar(&f.strict, "strict", false, "leave gaps where lines were lost")
	return cmd
}

func (a *app) show(cmd *cobra.Command, x *index.Index, ref string, f showFlags) error {
	if f.from < 0 || f.to < 0 || (f.to > 0 && f.to < f.from) {
		return usagef("--from and --to are numbers from 1 on, --from not above --to")
	}
	if f.all && f.branch != "" {
		return usagef("--branch and --all-branches exclude each other")
	}
	s, err := a.find(cmd.Context(), x, ref, !f.strict)
	if err != nil {
		return err
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
		a.showHead(s, len(path), f.all)
	}
	for i, e := range path {
		if n := i + 1; n < f.from || (f.to > 0 && n > f.to) {
			continue
		}
		if a.json {
			a.printf("%s\n", entryJSON(e))
			continue
		}
		a.printEntry(i+1, e, maxShownLines)
	}
	return nil
}

func (a *app) showEntry(s found, id string) error {
	if _, err := s.leaf(id); err != nil {
		return err
	}
	e := s.tree.Entry(id)
	if a.json {
		a.printf("%s\n", entryJSON(e))
		return nil
	}
	a.printEntry(0, e, 0)
	return nil
}

func (a *app) showHead(s found, shown int, all bool) {
	title, _ := s.transcript.Title()
	if title == "" {
		title = s.row.FirstPrompt
	}
	a.printf("%s\n", a.screen.paint(bold, fit(plain(title), a.screen.width)))
	what := "the path to its last entry; --all-branches shows all"
	if total := s.tree.Len(); all || total == shown {
		what = "all of them"
	}
	a.printf("%s\n\n", a.screen.paint(dim, safeText(strings.Join([]string{
		s.row.Cwd, s.row.ID, day(s.row.Created), count(s.tree.Len(), "entr") + ", " + what,
	}, " · "))))
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
	a.printf("%s%s\n", a.screen.paint(cyan, plain(head)), a.screen.paint(dim, when+"  "+plain(id)))
	text := strings.TrimRight(safeText(d.text), "\n")
	if d.output && lines > 0 {
		if all := strings.Split(text, "\n"); len(all) > lines {
			text = strings.Join(all[:lines], "\n") + "\n… " + count(len(all)-lines, "more line") + " (--entry " + plain(id) + " shows all)"
		}
	}
	if text != "" {
		a.printf("%s\n", text)
	}
	for _, call := range d.calls {
		a.printf("%s\n", a.screen.paint(dim, fit("→ "+plain(call), max(40, a.screen.width))))
	}
	a.printf("\n")
}
