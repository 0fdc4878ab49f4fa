package main

// What is wrong with a command line, said so that the next try is right.

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// wrongFlag is what cobra says of flags, in our words.
func wrongFlag(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
		return noCommand(cmd, args[0]) // its flags are unknown because it is
	}
	text := err.Error()
	all := "; " + cmd.CommandPath() + " --help shows all"
	if name, ok := strings.CutPrefix(text, "unknown flag: "); ok {
		return usagef("%s has no flag %s%s", cmd.Name(), name, all)
	}
	if rest, ok := strings.CutPrefix(text, "unknown shorthand flag: "); ok {
		_, in, _ := strings.Cut(rest, " in ")
		return usagef("%s has no flag %s%s; what begins with - and is no flag goes after --", cmd.Name(), in, all)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return usagef("%s needs a value%s", name, all)
	}
	if rest, ok := strings.CutPrefix(text, "invalid argument "); ok {
		value, rest, _ := strings.Cut(rest, ` for "`)
		name, why, _ := strings.Cut(rest, `" flag: `)
		want := "a whole number"
		switch {
		case strings.Contains(why, "ParseBool"):
			want = "true or false"
		case strings.Contains(why, "duration"):
			want = "a number with its unit, such as 5s or 2m"
		}
		return usagef("%s is %s: it must be %s%s", name, value, want, all)
	}
	return usagef("%s%s", text, all)
}

// noCommand names the commands that may have been meant.
func noCommand(root *cobra.Command, name string) error {
	hint, near := "gjc-index help shows all", likeliest(root.SuggestionsFor(name), name)
	if root.HasParent() { // a group, such as label
		hint = root.CommandPath() + " --help shows its own"
		name = root.Name() + " " + name
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return usagef("no command %q; %s", name, hint)
}

// likeliest are the suggestions that begin as the name does, if any do: people
// seldom miss the first letter.
func likeliest(near []string, name string) []string {
	var same []string
	for _, n := range near {
		if name != "" && n[0] == name[0] {
			same = append(same, n)
		}
	}
	if len(same) > 0 {
		return same
	}
	return near
}

// helpForNothing is the error of an unknown command with --help, of which cobra
// would show the help of what it is not found in.
func helpForNothing(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() || len(args) > 0 && strings.HasPrefix(args[0], "__") {
		return nil
	}
	c.InitDefaultHelpFlag()
	if c.ParseFlags(rest) != nil {
		return nil // it is said when it is executed
	}
	help, err := c.Flags().GetBool("help")
	if names := c.Flags().Args(); err == nil && help && len(names) > 0 {
		return noCommand(c, names[0])
	}
	return nil
}

func rootArgs(root *cobra.Command, args []string) error {
	if len(args) > 0 {
		return noCommand(root, args[0])
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, %q is one too many; %s --help says more", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && !strings.Contains(what, "session"):
			return usagef("%s wants %s; %s --help says more", cmd.Name(), what, cmd.CommandPath())
		case len(args) == 0:
			return usagef("%s wants %s; gjc-index list shows all sessions", cmd.Name(), what)
		case len(args) > 1:
			return usagef("%s wants one argument, %s, and got %d; %s --help says more", cmd.Name(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// valued are the flags whose value may not be empty: one comes from a variable
// that is not set, and would silently mean something else.
var valued = []string{"home", "session-dir", "config", "colour", "directory-migration", "cwd", "project", "since", "until", "session", "entry", "branch", "leaf", "format", "out", "dir", "html", "label"}

// mustBeText refuses what is no UTF-8: a file would hold something else.
func mustBeText(what, text string) error {
	if !utf8.ValidString(text) {
		return usagef("%s is not UTF-8; nothing was done", what)
	}
	return nil
}

func (a *app) checkFlags(cmd *cobra.Command, _ []string) error {
	for _, name := range valued {
		if value, err := cmd.Flags().GetString(name); err == nil && value == "" && cmd.Flags().Changed(name) {
			return usagef("--%s is empty: give it a value or leave it out", name)
		}
	}
	if cmd.Flags().Changed("max-line") && a.maxLine < 1 {
		return usagef("--max-line is a number of bytes from 1 on")
	}
	return a.chooseColour()
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command; help exit says what the exit statuses mean",
		Example: "  gjc-index help search\n  gjc-index help exit",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "exit" {
				_, err := io.WriteString(cmd.OutOrStdout(), exitHelp())
				return err
			}
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(root, strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if len(args) == 0 && c.IsAvailableCommand() {
					names = append(names, fmt.Sprintf("%s\t%s", c.Name(), c.Short))
				}
			}
			if len(args) == 0 {
				names = append(names, "exit\tWhat the exit statuses mean")
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// complete offers words for a flag's value.
func complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // no such flag, or twice: a bug
	}
}
