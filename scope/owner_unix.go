//go:build unix

package scope

import (
	"golang.org/x/sys/unix"

	"github.com/gajae-code/gjc-index/storage"
)

// ours reports whether the effective owner of this process owns the file.
func ours(info storage.Info) bool { return info.UID == uint32(unix.Geteuid()) }
