package storage

import (
	"path/filepath"
	"testing"
	"time"
)

func TestTickOfAMissingPathIsThatOfItsDirectory(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "not", "there")
	if got, want := Tick(missing), Tick(dir); got != want {
		t.Errorf("Tick(missing) = %v, want %v", got, want)
	}
	if got := Tick(dir); got != fineTick && got != coarseTick {
		t.Errorf("Tick(%s) = %v, want %v or %v", dir, got, fineTick, coarseTick)
	}
	if got := Tick("/proc"); got != 2*time.Second {
		t.Errorf("Tick(/proc) = %v, want 2s", got)
	}
	if IsNetwork(dir) {
		t.Errorf("IsNetwork(%s) = true", dir)
	}
}

func TestFreeIsThatOfTheNearestDirectory(t *testing.T) {
	free, ok := Free(filepath.Join(t.TempDir(), "not", "there"))
	if !ok || free <= 0 {
		t.Errorf("Free = %d, %v, want some", free, ok)
	}
}
