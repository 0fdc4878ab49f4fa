package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachCommandHasAManualPage(t *testing.T) {
	dir := t.TempDir()
	if out, errs, status := answer(t, "man", "--dir", dir); status != exitDone || out != "" || errs != "" {
		t.Fatalf("man --dir: status %d, stdout %q, stderr %q", status, out, errs)
	}
	root := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}).command()
	var pages []string
	for _, c := range commandsBelow(root) {
		name := filepath.Join(dir, manName(c)+".1")
		pages = append(pages, name)
		page := string(readFile(t, name))
		for _, want := range []string{".TH ", ".SH \"NAME\"\n", ".SH \"SYNOPSIS\"\n", ".SH \"DESCRIPTION\"\n", ".SH \"EXAMPLES\"\n", ".SH \"EXIT STATUS\"\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", filepath.Base(name), want)
			}
		}
	}
	if have, _ := filepath.Glob(filepath.Join(dir, "*.1")); len(have) != len(pages) || len(pages) < 50 {
		t.Errorf("man --dir wrote %d pages, want %d", len(have), len(pages))
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: whether it takes the pages is not known")
	}
	said, err := exec.Command("groff", append([]string{"-man", "-Kutf8", "-Tutf8", "-ww", "-z"}, pages...)...).CombinedOutput()
	if err != nil || len(said) > 0 {
		t.Errorf("groff -ww: %v: %s", err, said)
	}
}
