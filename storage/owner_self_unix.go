//go:build unix

package storage

import "golang.org/x/sys/unix"

func selfUID() uint32 { return uint32(unix.Geteuid()) }
