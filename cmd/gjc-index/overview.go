package main

import "github.com/spf13/cobra"

// overviewCommands look over all sessions, or over one.
func (a *app) overviewCommands() []*cobra.Command {
	return []*cobra.Command{a.labelsCommand(), a.pinsCommand(), a.promptsCommand(), a.statsCommand(), a.manCommand()}
}
