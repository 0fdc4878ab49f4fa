package main

// What the shell is offered after TAB. The words in a command's use line say
// what its arguments are, and the names of flags what their values are, so
// that a command is completed as soon as it exists. Answers come from the index
// as it is: nothing is refreshed, made or written, and what fails offers
// nothing.

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// mostOffered is how many words a shell is offered.
const mostOffered = 100

// offer gives the words for one argument or value: args are the arguments
// before it. A tab parts a word from what is said about it.
type offer func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completeAll says for each command below root what its arguments and flags
// are completed with, unless the command says so itself.
func (a *app) completeAll(root *cobra.Command, flags map[string]offer) {
	for _, c := range root.Commands() {
		a.completeAll(c, flags)
	}
	if root.ValidArgsFunction == nil && len(root.ValidArgs) == 0 && !root.HasSubCommands() {
		root.ValidArgsFunction = cobra.CompletionFunc(a.offerArgs(root))
	}
	for name, o := range flags {
		f := root.LocalFlags().Lookup(name)
		if f == nil || f.Value.Type() == "bool" {
			continue
		}
		if _, known := root.GetFlagCompletionFunc(name); known {
			continue
		}
		if err := root.RegisterFlagCompletionFunc(name, cobra.CompletionFunc(o)); err != nil {
			panic(err) // twice: a bug
		}
	}
}

// ordered: these words and no others, in this order.
const ordered = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

// offeredFlags are the values of flags, by name, whichever command has them.
func (a *app) offeredFlags() map[string]offer {
	ages := fixed("1d\tsince yesterday", "7d\ta week", "30d\ta month", "12h\thalf a day", "365d\ta year")
	return map[string]offer{
		"project": a.offerProjects, "cwd": a.offerCwds, "session": a.offerSessions,
		"entry": a.offerEntries, "branch": a.offerEntries, "leaf": a.offerEntries, "label": a.offerLabels,
		"since": ages, "until": ages, "older-than": ages, "grace": ages, "wait": fixed("1s", "5s", "30s", "1m"),
		"tz":    fixed("UTC", "Local", "Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/"),
		"limit": none, "offset": none, "from": a.offerNumber, "to": a.offerNumber, "max-line": none, "title": none, "text": none,
		"home": directories, "session-dir": directories, "extra": directories, "out": files, "html": files,
	}
}

// offerNumber is for from and to, which are numbers of entries in some commands
// and directories in others.
func (a *app) offerNumber(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if f := cmd.Flags().Lookup("from"); f != nil && f.Value.Type() == "string" {
		return a.offerCwds(cmd, args, typed)
	}
	return nil, ordered
}

func none(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return nil, ordered }

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func fixed(words ...string) offer {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, typed) }), ordered
	}
}

// offerArgs reads the use line: "label set ID ENTRY LABEL".
func (a *app) offerArgs(c *cobra.Command) offer {
	var args []offer
	words := strings.Fields(c.Use)
	for i, word := range words {
		if i == 0 || strings.HasPrefix(word, "--") {
			continue
		}
		args = append(args, a.offerWord(c, word))
	}
	again := len(words) > 1 && strings.Contains(words[len(words)-1], "…")
	return func(cmd *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch n := len(given); {
		case n < len(args):
			return args[n](cmd, given, typed)
		case again && len(args) > 0:
			return args[len(args)-1](cmd, given, typed)
		}
		return nil, ordered
	}
}

// offerWord is what a word of a use line stands for.
func (a *app) offerWord(c *cobra.Command, word string) offer {
	word = strings.Trim(word, "[]…")
	word, _, _ = strings.Cut(word, "|")
	switch {
	case word == "ID" && c.Name() == "restore":
		return a.offerTrash
	case word == "ID" && c.HasParent() && c.Parent().Name() == "history":
		return none
	case word == "ID" && c.Name() == "unpin":
		return a.offerPinned
	case word == "ID", word == "REF", c.Name() == "verify": // which takes both
		return a.offerSessions
	case word == "ENTRY":
		return a.offerEntries
	case word == "PROMPT":
		return a.offerPrompts
	case word == "LABEL":
		return a.offerLabels
	case word == "FILE", word == "PATH":
		return files
	case word == "DIR":
		return directories
	case word == strings.ToLower(word) && strings.Contains(c.Use, word+"|"):
		_, rest, _ := strings.Cut(c.Use, " ")
		return fixed(strings.Split(strings.Trim(rest, "[]"), "|")...)
	}
	return none
}

// peeking calls fn with the index of the home, if there is one.
func (a *app) peeking(ctx context.Context, fn func(p *index.Peek) error) {
	home, err := a.homeDir()
	if err != nil || a.sessionDir != "" {
		return
	}
	p, err := index.OpenPeek(ctx, a.fsys, home)
	if err != nil {
		return
	}
	_ = fn(p) // what fails offers nothing
	_ = p.Close()
}

// offerSessions offers the ids of the sessions that were active last, with what
// they are called; those that begin with what was typed.
func (a *app) offerSessions(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if isPath(typed) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		rows, err := p.Sessions(cmd.Context(), typed, mostOffered)
		for _, row := range rows {
			if canBeID(row.ID) {
				offered = append(offered, withWords(row.ID, titleOf(row)))
			}
		}
		return err
	})
	if offered == nil {
		offered = firstOf(a.namedSessions(".jsonl", typed), mostOffered)
	}
	return offered, ordered
}

// withWords is a word with what is said about it.
func withWords(word, about string) string { return word + "\t" + preview(about, 60) }

// namedSessions are the ids that the names of files with such an ending tell,
// the last in their order first: for a home that was never indexed, and for a directory.
func (a *app) namedSessions(ending, typed string) []string {
	dir, err := a.sessionsDir()
	if err != nil {
		return nil
	}
	var ids []string
	add := func(dir string) {
		list, err := a.fsys.ReadDir(dir)
		if err != nil {
			return
		}
		for _, f := range list {
			stem, ok := strings.CutSuffix(f.Name, ending)
			id := stem[strings.LastIndexByte(stem, '_')+1:]
			if ok && f.Info.Kind == storage.Regular && canBeID(id) && strings.HasPrefix(strings.ToLower(id), strings.ToLower(typed)) {
				ids = append(ids, id)
			}
		}
	}
	add(dir)
	scopes, err := a.fsys.ReadDir(dir)
	for _, s := range scopes {
		if err == nil && s.Info.Kind == storage.Dir && a.sessionDir == "" {
			add(filepath.Join(dir, s.Name))
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

func (a *app) offerCwds(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		list, err := p.Cwds(cmd.Context(), 10*mostOffered)
		for _, cwd := range list {
			if strings.HasPrefix(cwd, typed) && plain(cwd) == cwd {
				offered = append(offered, cwd)
			}
		}
		return err
	})
	return orDirectories(offered)
}

// orDirectories offers directories of the disk where none is known.
func orDirectories(offered []string) ([]string, cobra.ShellCompDirective) {
	if len(offered) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return firstOf(offered, mostOffered), ordered
}

func (a *app) offerProjects(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		list, err := p.Cwds(cmd.Context(), 3*mostOffered)
		for _, cwd := range list {
			project := a.projectOf(cwd)
			if strings.HasPrefix(project, typed) && plain(project) == project && !slices.Contains(offered, project) {
				offered = append(offered, project)
			}
		}
		return err
	})
	return orDirectories(offered)
}

func (a *app) offerLabels(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		list, err := p.Labels(cmd.Context(), 10*mostOffered)
		for _, label := range list {
			if strings.HasPrefix(label, typed) && plain(label) == label {
				offered = append(offered, label)
			}
		}
		return err
	})
	return firstOf(offered, mostOffered), ordered
}

// offerEntries offers the entries of the session that the first argument
// names, the last first.
func (a *app) offerEntries(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, ordered
	}
	labelled := cmd.CommandPath() == "gjc-index label clear"
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		row, err := p.Session(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		list, err := p.Entries(cmd.Context(), row.Path, typed, labelled, mostOffered)
		if err != nil || len(list) == 0 {
			return err
		}
		f, err := a.fsys.Open(row.Path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // was only read
		for _, e := range list {
			offered = append(offered, withWords(plain(e.ID), entryWords(f, e)))
		}
		return nil
	})
	return offered, ordered
}

// mostEntryBytes is how long a line may be that is read to describe an entry.
const mostEntryBytes = 16 << 10

// entryWords says what an entry is: what it holds, or where that is long its
// kind.
func entryWords(f storage.File, row index.EntryRow) string {
	kind := row.Type
	if row.Role != "" {
		kind = row.Role
	}
	if row.Size > mostEntryBytes {
		return kind
	}
	line := make([]byte, row.Size)
	if _, err := f.ReadAt(line, row.Offset); err != nil {
		return kind
	}
	v, _, err := jsonl.Parse(line)
	if err != nil || !v.Is(jsonl.Object) || v.Get("id").Str() != row.ID {
		return kind
	}
	d := describe(jsonl.NewEntry(v.Obj()))
	return d.who + ": " + preview(d.text+" "+strings.Join(d.calls, " "), 60)
}

// mostPromptBytes is how large a session may be of which prompts are offered:
// to number them it is read whole.
const mostPromptBytes = 8 << 20

// offerPrompts offers the numbers of a session's prompts, the last first.
func (a *app) offerPrompts(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, ordered
	}
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		row, err := p.Session(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if info, err := a.fsys.Lstat(row.Path); err != nil || info.Size > mostPromptBytes {
			return err
		}
		a.quiet = true
		path, err := a.chosenPath(cmd.Context(), row.Path)
		for _, p := range session.Prompts(path) {
			if number := itoa(p.Number); strings.HasPrefix(number, typed) {
				offered = append(offered, withWords(number, p.Text))
			}
		}
		return err
	})
	slices.Reverse(offered)
	return firstOf(offered, mostOffered), ordered
}

// offerPinned offers the sessions that are pinned: the pins lie beside them.
func (a *app) offerPinned(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ids := a.namedSessions(strings.TrimPrefix(session.PinPath("x.jsonl"), "x"), typed)
	var offered []string
	a.peeking(cmd.Context(), func(p *index.Peek) error {
		for _, id := range firstOf(ids, mostOffered) {
			if row, err := p.Session(cmd.Context(), id); err == nil {
				offered = append(offered, withWords(id, titleOf(row)))
			}
		}
		return nil
	})
	return offered, ordered
}

// offerTrash offers the sessions in the trash.
func (a *app) offerTrash(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	st, err := a.readingStore()
	if err != nil {
		return nil, ordered
	}
	all, err := st.Trash(cmd.Context())
	if err != nil {
		return nil, ordered
	}
	var offered []string
	for _, t := range all {
		if strings.HasPrefix(t.ID, typed) && canBeID(t.ID) {
			offered = append(offered, withWords(t.ID, t.Title))
		}
	}
	return firstOf(offered, mostOffered), ordered
}
