package storagetest_test

import (
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// ownDir is an owner-only directory, which t.TempDir is not.
func ownDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	if err := storage.Disk(storage.Policy{}).Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDiskConforms(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.FS, string) {
		return storage.Disk(storage.Policy{}), ownDir(t)
	})
}

func TestOwnerOnlyDiskConforms(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.FS, string) {
		return storage.Disk(storage.Policy{OwnerOnly: true}), ownDir(t)
	})
}

func TestMemoryConforms(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.FS, string) {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		if err := storage.MkdirAll(m, dir); err != nil {
			t.Fatal(err)
		}
		return m, dir
	})
}

func TestMemoryConformsAfterCrash(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.FS, string) {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		if err := storage.MkdirAll(m, dir); err != nil {
			t.Fatal(err)
		}
		return m.Crash(), dir
	})
}

func TestFaultWithoutPlanConforms(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (storage.FS, string) {
		return storagetest.NewFault(storage.Disk(storage.Policy{}), storagetest.FaultPlan{}), ownDir(t)
	})
}
