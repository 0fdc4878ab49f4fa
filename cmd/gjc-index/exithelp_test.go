package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReadmeAndHelpNameEachExitStatus(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(readme), "## Exit statuses")
	if !ok {
		t.Fatal("README.md has no table of exit statuses")
	}
	help := exitHelp()
	for _, m := range exitMeanings {
		in := regexp.MustCompile(fmt.Sprintf(`(?m)^\| ([0-9]+, )*%d(, [0-9]+)* \|`, m.status))
		if !in.MatchString(table) {
			t.Errorf("README.md: no row for the exit status %d", m.status)
		}
		if !strings.Contains(help, fmt.Sprintf("  %3d  ", m.status)) {
			t.Errorf("help exit: no line for %d", m.status)
		}
	}
}
