package main

import (
	"os"
	"testing"
)

func TestDeleteAsksOnATerminal(t *testing.T) {
	home, _, id, path := begun(t)
	for _, tt := range []struct {
		keys   string
		status int
	}{{"n\n", exitError}, {"\n", exitError}, {"y\n", exitDone}} {
		cmd, _, _ := another(t, "", "delete", id, "--home", home)
		term := startInTerminal(t, cmd)
		term.await("[y/N] ")
		term.typeIn(tt.keys)
		_ = cmd.Wait() // its status is looked at
		if got := cmd.ProcessState.ExitCode(); got != tt.status {
			t.Errorf("delete, answered %q: status %d, want %d", tt.keys, got, tt.status)
		}
		if _, err := os.Stat(path); (err != nil) != (tt.status == exitDone) {
			t.Errorf("delete, answered %q: the session: %v", tt.keys, err)
		}
	}
}
