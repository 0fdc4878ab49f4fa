package main

import (
	"fmt"
	"strings"
)

// exitMeanings are the exit statuses as help tells them; the README has them
// too.
var exitMeanings = []struct {
	status int
	when   string
}{
	{exitDone, "done"},
	{exitError, "any other error"},
	{exitUsage, "usage: a flag, a value, a malformed id; nothing was done"},
	{exitPart, "done in part: files or lines were left out, which stderr says; or verify found something"},
	{exitMissing, "no such session, file or entry; or an id that could mean several"},
	{exitBusy, "busy: another process holds what is needed; --wait waits for a session"},
	{exitUnsafe, "refused as unsafe: a symbolic link, a FIFO, a directory in place of a file"},
	{exitRolledBack, "an append was rolled back: none of it is in the file"},
	{exitUncertain, "an append's outcome is uncertain: read the session before you go on"},
	{exitInterrupted, "interrupted"},
}

// exitHelp is what help exit prints.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("The exit status of every command says how it went:\n\n")
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", m.status, m.when)
	}
	b.WriteString("\nWith --json an error is one object on stderr: {\"error\":…,\"exit\":STATUS}.\n")
	return b.String()
}
