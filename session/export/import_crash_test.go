package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// wholeArchive is an archive of the world, and what its transcripts are.
func wholeArchive(t *testing.T) (data []byte, want map[string]string) {
	t.Helper()
	src, sources := world(t)
	data, _ = archived(t, src, sources, nil)
	want = map[string]string{}
	for _, name := range []string{"a.jsonl", "a/draft.txt", "a.archive.ndjson", "b.jsonl"} {
		text, err := storage.ReadFile(src, "/s/"+name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = string(text)
	}
	return data, want
}

func importIn(ctx context.Context, fsys storage.FS, dir string, raise func(context.Context, jsonl.EventID) error) (ImportReport, error) {
	return Import(ctx, fsys, filepath.Join(dir, "in.tar.zst"), ImportOptions{
		Blobs:         blob.New(fsys, filepath.Join(dir, "blobs")),
		Place:         func(s Archived) (string, string, error) { return filepath.Join(dir, "new"), s.Cwd, nil },
		RaiseEventIDs: raise,
	})
}

// checkImport looks at what a cut-off import has left: a transcript is there
// only with all that belongs to it, and another import makes all whole.
func checkImport(t *testing.T, fsys storage.FS, dir string, want map[string]string) {
	t.Helper()
	if _, err := fsys.Lstat(filepath.Join(dir, "new", "a.jsonl")); err == nil {
		for name, text := range want {
			if got, err := storage.ReadFile(fsys, filepath.Join(dir, "new", name), 1<<20); name != "b.jsonl" && (err != nil || string(got) != text) {
				t.Errorf("the transcript is there and %s is %q, %v", name, got, err)
			}
		}
	}
	if rep, err := importIn(context.Background(), fsys, dir, nil); err != nil || len(rep.LeftOut) > 0 || len(rep.Restored)+len(rep.Present) != 2 {
		t.Fatalf("the next import: %+v, %v", rep, err)
	}
	for name, text := range want {
		if got, err := storage.ReadFile(fsys, filepath.Join(dir, "new", name), 1<<20); err != nil || string(got) != text {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

func TestAnImportThatCrashedIsFinishedByAnother(t *testing.T) {
	data, want := wholeArchive(t)
	setup := func(t *testing.T, fsys storage.FS, dir string) {
		err := storage.Publish(context.Background(), fsys, filepath.Join(dir, "in.tar.zst"), 0o600, func(w io.Writer) error { _, err := w.Write(data); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	storagetest.EachCrash(t, setup, func(fsys storage.FS, dir string, ack func()) error {
		_, err := importIn(context.Background(), fsys, dir, nil)
		ack()
		return err
	}, func(t *testing.T, fsys storage.FS, dir string, acked int) {
		if acked > 0 {
			if got, err := storage.ReadFile(fsys, filepath.Join(dir, "new", "a.jsonl"), 1<<20); err != nil || string(got) != want["a.jsonl"] {
				t.Errorf("after the import had answered: %q, %v", got, err)
			}
		}
		checkImport(t, fsys, dir, want)
	})
}

func TestAnImportThatWasKilledIsFinishedByAnother(t *testing.T) {
	data, want := wholeArchive(t)
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) {
		err := storage.Publish(context.Background(), disk, filepath.Join(dir, "in.tar.zst"), 0o600, func(w io.Writer) error { _, err := w.Write(data); return err })
		if err != nil {
			t.Fatal(err)
		}
	}, func(fsys storage.FS, dir string, _ func()) error {
		_, err := importIn(context.Background(), fsys, dir, nil)
		return err
	}, func(t *testing.T, dir string, _ int) { checkImport(t, disk, dir, want) })
}

// The ids are raised before there is a file that bears them, and an import in
// which that fails writes none.
func TestEventIDsAreRaisedBeforeAnythingIsWritten(t *testing.T) {
	m, sources := world(t)
	put(t, m, "/s/b.psm.ndjson", `{"event_id":"0000000000000004"}`+"\n")
	data, _ := archived(t, m, sources, nil)
	put(t, m, "/d/in.tar.zst", string(data))
	full := errors.New("no ids are left")
	var asked jsonl.EventID
	_, err := importIn(context.Background(), m, "/d", func(_ context.Context, highest jsonl.EventID) error { asked = highest; return full })
	if !errors.Is(err, full) || asked != 4 {
		t.Errorf("Import = %v, and asked for %v; want %v and 4", err, asked, full)
	}
	if _, err := m.Lstat("/d/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestIDsAreFoundAcrossWrites(t *testing.T) {
	text := `{"event_id":"0000000000000007"}` + "\n" + `{"event_id":"00000000000000A7"} {"event_id":"00000000000000a7"` + strings.Repeat(`"event_id":"`, 5)
	for size := 1; size <= len(text); size++ {
		f := idFinder{}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			_, _ = f.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if f.highest != 0xa7 {
			t.Fatalf("pieces of %d bytes: %v, want a7", size, f.highest)
		}
	}
}

// countedContext ends once it was looked at so often.
type countedContext struct {
	context.Context
	mu   sync.Mutex
	left int
}

// Err counts.
func (c *countedContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func exportIn(ctx context.Context, fsys storage.FS, dir string, sources []Source) error {
	d, err := Check(fsys, filepath.Join(dir, "out.tar.zst"), DestinationOptions{})
	if err != nil {
		return err
	}
	return d.Save(ctx, func(w io.Writer) error {
		_, err := WriteArchive(ctx, w, fsys, sources, ArchiveOptions{Redact: redact.Count, Suspect: redact.Suspect})
		return err
	})
}

// onDisk puts two sessions on a disk.
func onDisk(t *testing.T, dir string) (sources []Source) {
	t.Helper()
	for _, id := range []string{"one", "two"} {
		path := filepath.Join(dir, "s", id+".jsonl")
		put(t, storage.Disk(storage.Policy{}), path, `{"type":"session","version":5,"id":"`+id+`","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo"}`+"\n"+
			`{"type":"message","id":"m","parentId":null,"message":{"role":"user","content":"`+secret+`"}}`+"\n")
		sources = append(sources, Source{ID: id, Cwd: "/proj/demo", Path: path})
	}
	return sources
}

func TestAnArchiveThatIsCancelledAnywhereIsNotThere(t *testing.T) {
	dir := t.TempDir()
	sources := onDisk(t, dir)
	disk := storage.Disk(storage.Policy{})
	for n := 0; ; n++ {
		err := exportIn(&countedContext{Context: context.Background(), left: n}, disk, dir, sources)
		names, rerr := filepath.Glob(filepath.Join(dir, "*out*"))
		if err == nil {
			if len(names) != 1 || rerr != nil {
				t.Errorf("an export that was not cancelled left %v, %v", names, rerr)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || len(names) > 0 {
			t.Fatalf("cancelled at %d: %v, and %v is there", n, err, names)
		}
	}
}

func TestAnArchiveThatWasKilledAnywhereIsWholeOrNotThere(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { onDisk(t, dir) }, func(fsys storage.FS, dir string, _ func()) error {
		var sources []Source
		for _, id := range []string{"one", "two"} {
			sources = append(sources, Source{ID: id, Cwd: "/proj/demo", Path: filepath.Join(dir, "s", id+".jsonl")})
		}
		return exportIn(context.Background(), fsys, dir, sources)
	}, func(t *testing.T, dir string, _ int) {
		data, err := storage.ReadFile(disk, filepath.Join(dir, "out.tar.zst"), 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil || len(unpack(t, data)) != 3 {
			t.Errorf("the archive holds %d bytes, %v", len(data), err)
		}
	})
}

// A failing disk gives no archive that is not whole.
func TestAnArchiveOnAFailingDiskIsNotThere(t *testing.T) {
	for n := 1; ; n++ {
		m, sources := world(t)
		f := storagetest.NewFault(m, storagetest.FaultPlan{N: n, Sticky: n%2 == 0})
		var out bytes.Buffer
		_, err := WriteArchive(context.Background(), &out, f, sources, ArchiveOptions{Redact: redactTest, Blobs: "/blobs"})
		if f.Fired() == 0 {
			break
		}
		if err == nil {
			if got := unpack(t, out.Bytes()); len(got) != 8 {
				t.Errorf("operation %d failed: no error, and %d files", n, len(got))
			}
		}
	}
	for n := 1; ; n++ {
		dir := t.TempDir()
		sources := onDisk(t, dir)
		f := storagetest.NewFault(storage.Disk(storage.Policy{}), storagetest.FaultPlan{N: n, Sticky: true})
		err := exportIn(context.Background(), f, dir, sources)
		names, _ := filepath.Glob(filepath.Join(dir, "out*"))
		if err != nil && len(names) > 0 && !strings.Contains(fmt.Sprint(err), "in place but perhaps not on disk") {
			t.Errorf("operation %d failed with %v, and %v is there", n, err, names)
		}
		if f.Fired() == 0 {
			break
		}
	}
}
