package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var recipeBlock = regexp.MustCompile("(?ms)^```sh test\n(.*?)^```$")

// TestRecipesWork runs each block of docs/recipes.md with a shell, in a git
// repository with sessions, if the tools that it names are there.
func TestRecipesWork(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	page, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	work, bin := t.TempDir(), t.TempDir()
	home := filepath.Join(work, "home")
	if err := os.CopyFS(home, os.DirFS("../../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := "#!/bin/sh\nGJC_INDEX_MAIN=1 exec " + self + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "gjc-index"), []byte(command), 0o755); err != nil {
		t.Fatal(err)
	}
	sh := func(script string) (string, error) {
		cmd := exec.Command(shell, "-euo", "pipefail", "-c", script)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GJC_CODING_AGENT_DIR="+home, "HOME="+work, "ID=gh-irrigation",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "NO_COLOR=1", "TZ=UTC")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	begin := `git init --quiet . && P=$(gjc-index new --title work | sed 's/.*"id":"\([^"]*\)".*/\1/') &&
		printf '%s\n' '{"type":"message","message":{"role":"user","content":"go"}}' '{"type":"message","message":{"role":"assistant","content":[]}}' | gjc-index append "$P"`
	if out, err := sh(begin); err != nil {
		t.Skipf("no git here: %v: %s", err, out)
	}
	blocks := recipeBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 12 {
		t.Fatalf("docs/recipes.md: %d blocks to test", len(blocks))
	}
	for _, b := range blocks {
		if tool := missingTool(b[1]); tool != "" {
			t.Logf("%s is not installed: not run: %s", tool, b[1])
			continue
		}
		out, err := sh(strings.ReplaceAll(b[1], "$(date +%G-W%V)", "now"))
		// The demo has a damaged file: 3 says that it was left out.
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 3) {
			t.Errorf("recipe %s\n%v: %s", b[1], err, out)
		}
		if strings.Contains(out, "gjc-index: no flag") || strings.Contains(out, "unknown") || strings.Contains(out, "usage:") {
			t.Errorf("recipe %s\nprinted %s", b[1], out)
		}
	}
	for script, want := range map[string]string{
		"git log -1 --format=%B": "Session: ",
		"gjc-index labels":       "pushed ",
		"ls":                     "work.tar.zst",
		"cat prompts.csv stats-now.html | head -50": "<!doctype html>",
	} {
		if out, err := sh(script + " || true"); err != nil || !strings.Contains(out, want) {
			t.Errorf("after the recipes %s prints %s, want %q", script, out, want)
		}
	}
}

func missingTool(script string) string {
	for _, tool := range []string{"jq", "fzf", "git"} {
		if _, err := exec.LookPath(tool); err != nil && strings.Contains(script, tool+" ") {
			return tool
		}
	}
	return ""
}
