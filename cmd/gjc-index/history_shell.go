package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed shell/history.bash shell/history.zsh shell/history.fish
var shellFiles embed.FS

var shells = []string{"bash", "zsh", "fish"}

func (a *app) historyShellCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "shell bash|zsh|fish",
		Short: "Print a key binding: Ctrl-R over all prompts",
		Long: `Print what binds a key of the shell, Ctrl-R unless GJC_INDEX_KEY names another, to
a choice among all prompts: by fzf if it is installed, else from a numbered menu.
The prompt chosen is put at the cursor as one quoted word, exactly as it was
typed, so that no part of it is ever run.`,
		Example: `  eval "$(gjc-index history shell bash)"      # in ~/.bashrc
  eval "$(gjc-index history shell zsh)"       # in ~/.zshrc
  gjc-index history shell fish | source       # in ~/.config/fish/config.fish`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usagef("shell wants one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := shellFiles.ReadFile("shell/history." + args[0])
			if err != nil {
				return fmt.Errorf("print the binding: %w", err)
			}
			_, err = a.out.Write(text)
			return err
		},
	}
}
