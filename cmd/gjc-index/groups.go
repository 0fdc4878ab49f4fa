package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// helpGroups are the headings under which help lists the commands, in order,
// and the commands of each. A command that is not here stands under the last.
var helpGroups = []struct {
	id, title string
	commands  []string
}{
	{"find", "Find and read:", []string{"pick", "list", "search", "prompts", "history", "show", "tree", "context", "chat", "labels", "pins", "files", "touched", "usage", "stats", "resolve", "continue", "inventory"}},
	{"write", "Write:", []string{"new", "append", "branch", "fork", "rewind", "label", "title", "psm"}},
	{"keep", "Keep, move and remove:", []string{"archive", "unarchive", "pin", "unpin", "delete", "prune", "restore", "gc", "export", "import", "migrate", "rebind"}},
	{"check", "Check:", []string{"status", "doctor", "repair", "verify", "reindex", "watch", "scope", "config"}},
	{"more", "More:", nil},
}

// groupCommands puts the commands of root under their headings.
func groupCommands(root *cobra.Command) {
	last := helpGroups[len(helpGroups)-1].id
	for _, g := range helpGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	for _, c := range root.Commands() {
		c.GroupID = last
		if c.HasAvailableSubCommands() {
			c.Short += " (" + subcommands(c) + ")"
		}
		for _, g := range helpGroups {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
}

// subcommands names what a command has below it, so that the list of all
// commands shows them.
func subcommands(c *cobra.Command) string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return strings.Join(names, ", ")
}
