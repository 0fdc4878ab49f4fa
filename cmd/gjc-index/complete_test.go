package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestCompletionMakesNothing(t *testing.T) {
	home := makeHome(t, map[string]string{
		"p/a.jsonl": small("a", "/p", "one", 1),
		"p/b.jsonl": small("b", "/p", "two", 2),
	})
	for _, indexed := range []bool{false, true} {
		if indexed {
			runHooked(t, "list", "--home", home)
		}
		before := everything(t, home)
		db, _ := filepath.Glob(filepath.Join(home, "index.db*"))
		for _, line := range []string{"show|", "show|a", "label|clear|a|", "rewind|a|", "unpin|", "restore|", "list|--project|", "list|--cwd|", "labels|--label|", "show|a|--entry|"} {
			args := append([]string{"__complete", "--home", home}, strings.Split(line, "|")...)
			if _, changed := runHooked(t, args...); len(changed) > 0 {
				t.Errorf("%q touched %v", args, changed)
			}
		}
		if diff := cmp.Diff(before, everything(t, home)); diff != "" {
			t.Errorf("completion, indexed %v (-before +after):\n%s", indexed, diff)
		}
		if now, _ := filepath.Glob(filepath.Join(home, "index.db*")); !cmp.Equal(db, now) {
			t.Errorf("completion, indexed %v, left %v, want %v", indexed, now, db)
		}
	}
}

// TestWhatCommandsTakeIsCompleted: no command's arguments and no flag's value
// are left to the names of files, unless they are files.
func TestWhatCommandsTakeIsCompleted(t *testing.T) {
	root := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}).command()
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(sub)
		}
		if !c.HasSubCommands() && c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
			t.Errorf("%s: nothing is offered for its arguments", c.CommandPath())
		}
		for _, name := range []string{"project", "cwd", "session", "entry", "branch", "leaf", "label", "since", "until", "tz", "format", "sort", "by", "role"} {
			f := c.LocalFlags().Lookup(name)
			if f == nil || f.Value.Type() != "string" {
				continue
			}
			if _, ok := c.GetFlagCompletionFunc(name); !ok {
				t.Errorf("%s --%s: nothing is offered for its value", c.CommandPath(), name)
			}
		}
	}
	each(root)
}
