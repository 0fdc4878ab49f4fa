package main

import (
	"strings"
	"testing"
)

func TestHelpListsEachCommandUnderAHeading(t *testing.T) {
	out, _, status := answer(t, "help")
	if status != exitDone || !strings.Contains(out, "Find and read:\n") || strings.Contains(out, "Additional Commands") {
		t.Errorf("help: status %d, %q", status, out)
	}
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	have := map[string]bool{}
	for _, c := range a.command().Commands() {
		have[c.Name()] = true
	}
	for _, g := range helpGroups {
		for _, name := range g.commands {
			if !have[name] {
				t.Errorf("heading %q names %q, which is no command", g.title, name)
			}
		}
	}
}
