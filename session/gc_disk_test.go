package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// What a failing disk, a crash and a kill leave of a collection of blobs.

// blobsHome is a home with old blobs, one that a session refers to and one that
// lies in the trash although the session refers to it.
func blobsHome(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	pruneHome(t, fsys, dir)
	s := pruneStore(fsys, dir)
	old := s.opt.Now().Add(-30 * day).UnixNano()
	for _, text := range []string{"used", "taken", "loose", "lost"} {
		ref, err := s.blobs.Put(t.Context(), []byte(text))
		noErr(t, err)
		noErr(t, fsys.Chtimes(s.blobs.Path(ref), old))
	}
	refer(t, fsys, dir, "used")
	noErr(t, collectStep(fsys, dir, nil)) // taken, loose and lost go
	for _, text := range []string{"loose", "lost"} {
		_, err := s.blobs.Put(t.Context(), []byte(text))
		noErr(t, err)
		noErr(t, fsys.Chtimes(s.blobs.Path(blob.RefOf([]byte(text))), old))
	}
	refer(t, fsys, dir, "taken")
	noErr(t, fsys.SyncDir(s.opt.Home.Trash()))
}

// refer appends a record that names a blob.
func refer(t testing.TB, fsys storage.FS, dir, text string) {
	f, err := fsys.Append(filepath.Join(prunedIn(dir), "young.jsonl"))
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":"custom","id":%q,"data":{"image":%q}}`+"\n", text, blob.RefOf([]byte(text)))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

func collectStep(fsys storage.FS, dir string, _ func()) error {
	_, err := pruneStore(fsys, dir).CollectBlobs(context.Background(), GCOptions{Act: true}, func(GCRow) error { return nil })
	return err
}

// afterCollect checks that no blob is lost, that the next run finishes, and that
// what was collected can be restored.
func afterCollect(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	s := pruneStore(fsys, dir)
	has := func(text string) bool {
		got, err := s.blobs.Get(t.Context(), blob.RefOf([]byte(text)))
		if err != nil && !missing(err) {
			t.Errorf("%s: %v", text, err)
		}
		return string(got) == text
	}
	if !has("used") {
		t.Error("a blob that is referred to is gone")
	}
	noErr(t, collectStep(fsys, dir, nil))
	if !has("used") || !has("taken") || has("loose") || has("lost") {
		t.Errorf("run again: used %v, taken %v, loose %v, lost %v", has("used"), has("taken"), has("loose"), has("lost"))
	}
	entries, err := fsys.ReadDir(s.opt.Home.Trash())
	noErr(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name, blobTrash) {
			_, err := s.Restore(t.Context(), e.Name)
			noErr(t, err)
		}
	}
	if !has("loose") || !has("lost") {
		t.Errorf("restored: loose %v, lost %v", has("loose"), has("lost"))
	}
}

func TestCollectSurvivesACrash(t *testing.T) {
	storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { blobsHome(t, fsys, dir) }, collectStep,
		func(t *testing.T, fsys storage.FS, dir string, _ int) { afterCollect(t, fsys, dir) })
}

func TestCollectKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { blobsHome(t, disk, dir) }, collectStep,
		func(t *testing.T, dir string, _ int) { afterCollect(t, disk, dir) })
}

func TestCollectSurvivesEachFault(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m, dir := storage.NewMemory(), storagetest.CrashDir()
		noErr(t, storage.MkdirAll(m, dir))
		blobsHome(t, m, dir)
		f := storagetest.NewFault(m, plan)
		_ = collectStep(f, dir, nil) // it may say so
		afterCollect(t, m, dir)
		return f
	})
}

// A writer stores an image that is there already and refers to it, before each
// operation of a collection; what it relies on stays.
func TestCollectNeverTakesABlobThatIsReferredToMeanwhile(t *testing.T) {
	for n := int64(1); ; n++ {
		m, dir := storage.NewMemory(), storagetest.CrashDir()
		now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
		m.Now = func() time.Time { return now }
		noErr(t, storage.MkdirAll(m, dir))
		blobsHome(t, m, dir)
		other := pruneStore(m, dir)
		var at atomic.Int64 // a collection reads on several goroutines
		hook := &storagetest.Hook{FS: m, Before: func(storagetest.Op, string) error {
			if at.Add(1) != n {
				return nil
			}
			_, err := other.blobs.Put(context.Background(), []byte("loose"))
			refer(t, m, dir, "loose")
			return err
		}}
		noErr(t, collectStep(hook, dir, nil))
		if n > at.Load() {
			return
		}
		if ok, err := other.blobs.Has(t.Context(), blob.RefOf([]byte("loose"))); !ok || err != nil {
			t.Fatalf("referred to before operation %d: the blob is there: %v, %v", n, ok, err)
		}
	}
}
