package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/gajae-code/gjc-index/index"
)

// resumeCommand is the command that goes on with a session.
func (a *app) resumeCommand(row index.Row) ([]string, error) {
	set, err := a.settings()
	if err != nil {
		return nil, err
	}
	if strings.Contains(strings.Join(set.Resume, " "), "{id}") && !canBeID(row.ID) {
		return nil, errors.New("its id can't be given to a program; a resume command with {path} can be set: gjc-index config")
	}
	return set.resumeCommand(row.ID, row.Path, row.Cwd), nil
}

// canRun says why a command can't be run in a directory.
func (a *app) canRun(words []string, cwd string) error {
	if cwd != "" && !a.isDir(cwd) {
		return fmt.Errorf("its directory %s is gone; gjc-index rebind gives its sessions to another", cwd)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Errorf("there is no program %q here to resume it with; gjc-index config says how to set another", words[0])
	}
	return nil
}

// resume runs the command in the session's directory, on this terminal.
func (a *app) resume(row index.Row) error {
	words, err := a.resumeCommand(row)
	if err != nil {
		return err
	}
	if err := a.canRun(words, row.Cwd); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = row.Cwd
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var ended *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &ended):
		return fmt.Errorf("%s ended with %s", strings.Join(words, " "), ended.ProcessState)
	case err != nil:
		return fmt.Errorf("can't run %s: %w", words[0], err)
	}
	return nil
}

// commandLine is the command as a shell reads it, with the directory in which
// it is meant to run.
func (a *app) commandLine(row index.Row) (string, error) {
	words, err := a.resumeCommand(row)
	if err != nil {
		return "", err
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if plain(word) != word && strings.TrimSpace(word) != "" && strings.ContainsFunc(word, isControl) {
			return "", errNoPrint("command")
		}
		quoted[i] = shellWord(word)
	}
	line := strings.Join(quoted, " ")
	if row.Cwd == "" {
		return line, nil
	}
	if strings.ContainsFunc(row.Cwd, isControl) {
		return "", errNoPrint("directory")
	}
	return "cd " + shellWord(row.Cwd) + " && " + line, nil
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f || reorders(r) }

// shellWord is a word as a POSIX shell takes it.
func shellWord(word string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
