package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSyncWholeIsForTheDiskAndKnownFileSystems(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	done, err := SyncWhole(Disk(Policy{}), []string{dir, file})
	if want := syncTells() && syncsWhole(uint32(st.Type)); done != want || err != nil {
		t.Errorf("SyncWhole = %v, %v, want %v", done, err, want)
	}
	if done, err := SyncWhole(NewMemory(), []string{"/"}); done || err != nil {
		t.Errorf("SyncWhole of a memory = %v, %v, want false", done, err)
	}
	if syncTells() {
		if done, err := SyncWhole(Disk(Policy{}), []string{dir, file + "2"}); done || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("SyncWhole of a missing file = %v, %v, want fs.ErrNotExist", done, err)
		}
	}
	if done, err := SyncWhole(Disk(Policy{}), []string{dir, "/proc"}); done || err != nil {
		t.Errorf("SyncWhole with /proc = %v, %v, want false", done, err)
	}
}

func TestKernelFromReadsReleases(t *testing.T) {
	for release, want := range map[string]bool{
		"5.8.0": true, "5.8": true, "5.10.0-21-amd64": true, "6.1.0": true, "10.0": true,
		"5.7.19": false, "4.19.0": false, "5": false, "": false, "x.y": false, "5-8": false, "99999999999999999999.1": false,
	} {
		if got := kernelFrom(release, 5, 8); got != want {
			t.Errorf("kernelFrom(%q, 5, 8) = %v, want %v", release, got, want)
		}
	}
}
