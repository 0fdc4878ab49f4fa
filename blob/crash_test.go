package blob

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// The puts of one script: a new blob, one in place of torn bytes, one in place
// of right bytes that nobody synced, the first one again.
var scriptTexts = []string{"new", "torn", "unsynced", "new"}

func scriptSetup(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	s := New(fsys, filepath.Join(dir, "blobs"))
	if err := storage.MkdirAll(fsys, filepath.Join(dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	overwrite(t, fsys, s.Path(RefOf([]byte("torn"))), "to")
	overwrite(t, fsys, s.Path(RefOf([]byte("unsynced"))), "unsynced")
}

func script(fsys storage.FS, dir string, ack func()) error {
	s := New(fsys, filepath.Join(dir, "blobs"))
	for _, text := range scriptTexts {
		if _, err := s.Put(context.Background(), []byte(text)); err != nil {
			return err
		}
		ack()
	}
	return nil
}

// checkScript holds that every blob that was put is there, that no other one
// is handed out wrong, and that the script can be run again.
func checkScript(t *testing.T, fsys storage.FS, dir string, acked int) {
	t.Helper()
	s := New(fsys, filepath.Join(dir, "blobs"))
	for i, text := range scriptTexts {
		got, err := s.Get(t.Context(), RefOf([]byte(text)))
		switch {
		case err == nil && string(got) == text:
		case i >= acked && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt)):
		default:
			t.Errorf("after %d puts, Get(%q) = %q, %v", acked, text, got, err)
		}
	}
	if err := script(fsys, dir, func() {}); err != nil {
		t.Errorf("the script run again: %v", err)
	}
	for ref, err := range s.Verify(t.Context()) {
		if err != nil {
			t.Errorf("Verify after the script run again: %v: %v", ref, err)
		}
	}
}

func TestPutCrashedBeforeEachOperation(t *testing.T) {
	storagetest.EachCrash(t, scriptSetup, script, checkScript)
}

func TestPutKilledBeforeEachOperation(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) { scriptSetup(t, disk, dir) },
		script,
		func(t *testing.T, dir string, acked int) { checkScript(t, disk, dir, acked) })
}

func TestPutWithEachOperationFailing(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		mem, dir := storage.NewMemory(), storagetest.CrashDir()
		scriptSetup(t, mem, dir)
		fault := storagetest.NewFault(mem, plan)
		acked := 0
		err := script(fault, dir, func() { acked++ })
		if err == nil && acked != len(scriptTexts) {
			t.Errorf("no error after %d puts", acked)
		}
		checkScript(t, mem, dir, acked)
		return fault
	})
}
