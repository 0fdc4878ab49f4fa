//go:build !linux

package main

import "testing"

func mountReadOnly(t *testing.T, _, _ string) { t.Skip("no read-only mounts here") }

func mountSmall(t *testing.T, _, _ string) (remount func(size string)) {
	t.Skip("no small file systems here")
	return nil
}
