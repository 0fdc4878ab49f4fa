package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mounted mounts until the end of the test. Who may not is skipped.
func mounted(t *testing.T, source, at, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, at, kind, flags, data); err != nil {
		t.Skipf("mount: %v; it takes root", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
}

// mountReadOnly shows dir at another place, where nothing can be written.
func mountReadOnly(t *testing.T, dir, at string) {
	t.Helper()
	mounted(t, dir, at, "", unix.MS_BIND, "")
	if err := unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("remount: %v", err)
	}
}

// mountSmall makes a file system of that size, and gives the function that makes
// it another one.
func mountSmall(t *testing.T, at, size string) (remount func(size string)) {
	t.Helper()
	mounted(t, "tmpfs", at, "tmpfs", 0, "size="+size+",mode=0700")
	return func(size string) {
		t.Helper()
		if err := unix.Mount("", at, "", unix.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
}
