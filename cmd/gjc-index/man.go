package main

// Manual pages, made of what help says: one for each command, in man(7).

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/storage"
)

// manMode is the mode of a page that is written: everybody may read it.
const manMode = 0o644

func (a *app) manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "man [COMMAND…]", Hidden: true,
		Short: "Print the manual page of a command, or write all of them",
		Example: `  gjc-index man list | man -l -
  gjc-index man --dir ~/.local/share/man/man1`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if dir != "" {
				if err := noArgs(cmd, args); err != nil {
					return err
				}
				return a.writeManPages(cmd.Context(), root, dir)
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(root, strings.Join(args, " "))
			}
			_, err = io.WriteString(a.out, manPage(c))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write all pages to `DIR`, which must be there; pages that are there are replaced")
	return cmd
}

// writeManPages writes a page for each command.
func (a *app) writeManPages(ctx context.Context, root *cobra.Command, dir string) error {
	dir, err := a.absolute(dir)
	if err != nil {
		return err
	}
	for _, c := range commandsBelow(root) {
		path := filepath.Join(dir, manName(c)+".1")
		err := storage.Replace(ctx, a.fsys, path, manMode, func(w io.Writer) error {
			_, err := io.WriteString(w, manPage(c))
			return err
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if !a.json {
			continue
		}
		if err := a.printJSON(struct {
			Path string `json:"path"`
		}{path}); err != nil {
			return err
		}
	}
	return nil
}

// commandsBelow are a command and all below it that people are shown.
func commandsBelow(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, commandsBelow(sub)...)
		}
	}
	return all
}

// manName is a page's name without its section.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the page of one command.
func manPage(c *cobra.Command) string {
	m := &manWriter{}
	m.line(`.\" made by gjc-index man`)
	m.line(`.TH ` + quoteMan(strings.ToUpper(manName(c))) + ` 1 "" ` + quoteMan("gjc-index "+version) + ` "User Commands"`)
	m.section("NAME")
	m.line(escapeMan(manName(c)) + ` \- ` + escapeMan(c.Short))
	m.section("SYNOPSIS")
	m.line(".B " + escapeMan(c.CommandPath()))
	m.line(escapeMan(strings.TrimSpace(strings.TrimPrefix(c.UseLine(), c.CommandPath()))))
	m.section("DESCRIPTION")
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	m.text(text)
	m.commands(c)
	c.InitDefaultHelpFlag()
	m.flags("OPTIONS", c.NonInheritedFlags().FlagUsages())
	m.flags("OPTIONS OF ALL COMMANDS", c.InheritedFlags().FlagUsages())
	if c.Example != "" {
		m.section("EXAMPLES")
		m.verbatim(strings.Split(c.Example, "\n"))
	}
	m.section("EXIT STATUS")
	for _, e := range exitMeanings {
		m.line(".TP")
		m.line(fmt.Sprintf(".B %d", e.status))
		m.line(escapeMan(e.when))
	}
	m.seeAlso(c)
	return m.b.String()
}

// manWriter writes a page line by line.
type manWriter struct{ b strings.Builder }

func (m *manWriter) line(text string) { m.b.WriteString(text + "\n") }

func (m *manWriter) section(name string) { m.line(".SH " + quoteMan(name)) }

// text writes paragraphs; lines that are indented stay as they are.
func (m *manWriter) text(text string) {
	var block []string
	flush := func() {
		if len(block) > 0 {
			m.verbatim(block)
			block = nil
		}
	}
	begun := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			block = append(block, line)
		case line == "" && begun && len(block) == 0:
			m.line(".PP")
		case line != "":
			flush()
			m.line(escapeMan(line))
			begun = true
		}
	}
	flush()
}

// verbatim writes lines as they are.
func (m *manWriter) verbatim(lines []string) {
	m.line(".PP")
	m.line(".nf")
	for _, line := range lines {
		m.line(escapeMan(line))
	}
	m.line(".fi")
	m.line(".PP")
}

func (m *manWriter) commands(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	m.section("COMMANDS")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			m.line(".TP")
			m.line(".BR " + quoteMan(manName(sub)) + ` "(1)"`)
			m.line(escapeMan(sub.Short))
		}
	}
}

// flags writes flags as help lists them: "-q, --quiet NAME   what it does".
func (m *manWriter) flags(title, usages string) {
	if strings.TrimSpace(usages) == "" {
		return
	}
	m.section(title)
	for line := range strings.Lines(usages) {
		flag, what, _ := strings.Cut(strings.TrimSpace(line), "   ")
		words := strings.Fields(flag)
		for i, w := range words {
			font := `\fI`
			if strings.HasPrefix(w, "-") {
				font = `\fB`
			}
			words[i] = font + escapeMan(w) + `\fR`
		}
		m.line(".TP")
		m.line(strings.Join(words, " "))
		m.line(escapeMan(strings.TrimSpace(what)))
	}
}

// seeAlso names the page above, those beside it, and the root's.
func (m *manWriter) seeAlso(c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, manName(c.Parent()))
		for _, sub := range c.Parent().Commands() {
			if sub != c && sub.IsAvailableCommand() && (sub.GroupID == c.GroupID || c.Parent().HasParent()) {
				names = append(names, manName(sub))
			}
		}
	}
	if len(names) == 0 {
		return
	}
	m.section("SEE ALSO")
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		m.line(".BR " + quoteMan(name) + ` "(1)` + end + `"`)
	}
}

// escapeMan is text as roff shows it, on one line.
func escapeMan(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}

// quoteMan is an argument of a macro.
func quoteMan(text string) string {
	return `"` + strings.ReplaceAll(escapeMan(text), `"`, `\(dq`) + `"`
}
