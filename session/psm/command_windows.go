package psm

import (
	"context"
	"os/exec"
)

// shell is a command that is ended, its children not.
func shell(ctx context.Context, text string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/C", text)
}
