//go:build unix

package scope

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/gajae-code/gjc-index/storage"
)

// processAlive asks the kernel; a process of somebody else is alive too.
func processAlive(pid int) bool {
	return pid > 0 && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// bootID is what Linux calls this run of the system; elsewhere there is none,
// and a lock's owner is judged by its process id alone.
func bootID() string {
	raw, err := storage.ReadFile(storage.Disk(storage.Policy{}), "/proc/sys/kernel/random/boot_id", 128)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
