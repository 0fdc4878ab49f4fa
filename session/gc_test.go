package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// putBlob stores a blob that was last put days ago.
func (w *pruneWorld) putBlob(text string, days int) blob.Ref {
	w.t.Helper()
	s := w.store()
	ref, err := s.blobs.Put(w.t.Context(), []byte(text))
	noError(w.t, err)
	at := w.now.Add(-time.Duration(days) * day)
	noError(w.t, os.Chtimes(s.blobs.Path(ref), at, at))
	return ref
}

// collect runs a collection and gives the blobs that it named.
func (w *pruneWorld) collect(opt GCOptions) (map[blob.Ref]bool, GCReport) {
	w.t.Helper()
	got := map[blob.Ref]bool{}
	s := w.store()
	s.opt.Unzstd = func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }
	rep, err := s.CollectBlobs(w.t.Context(), opt, func(row GCRow) error {
		got[row.Ref] = true
		return nil
	})
	noError(w.t, err)
	return got, rep
}

func TestCollectKeepsWhateverIsReferredTo(t *testing.T) {
	w := newPruneWorld(t)
	refs := map[string]blob.Ref{}
	for _, name := range []string{"session", "artifact", "child", "archive", "zst", "psm", "damaged", "trash", "legacy",
		"extra", "crumb", "escaped", "export", "link", "edge", "loose", "young"} {
		days := 30
		if name == "young" {
			days = 1
		}
		refs[name] = w.putBlob(name, days)
	}
	in, ref := w.sc.Dir, func(name string) string { return refs[name].String() }
	w.file(in+"/a.jsonl", ref("session"), 1)
	w.file(in+"/a/out.txt", ref("artifact"), 1)
	w.file(in+"/a/sub.jsonl", ref("child"), 1)
	w.file(in+"/a.archive.ndjson", ref("archive"), 1)
	w.file(in+"/b.archive.ndjson.zst", packed(t, "")+packed(t, ref("zst"))[:60]+packed(t, ref("zst")), 1) // a run was cut off
	w.file(in+"/a.psm.ndjson", ref("psm"), 1)
	w.file(in+"/a.jsonl.20260101T000000.000Z.damaged", "\x00\xff{"+ref("damaged"), 1)
	w.file(w.home.Trash()+"/x/b.jsonl", ref("trash"), 1)
	w.file(w.sc.Root+"/-old/c.jsonl", ref("legacy"), 1)
	extra := filepath.Dir(w.file(w.root+"/extra/deep/d.txt", ref("extra"), 1))
	w.file(w.root+"/mine/s.jsonl", ref("crumb"), 1)
	w.file(w.home.Breadcrumbs()+"/tty1", w.cwd+"\n"+w.root+"/mine/s.jsonl\n", 1)
	w.file(in+"/e.jsonl", `"`+strings.Replace(ref("escaped"), "blob:sha256:", `\u0062lob\u003as\u0068a256\u003A`, 1)+`"`, 1)
	w.file(w.home.Dir()+"/exports/x.html", ref("export"), 1)
	target := w.file(w.root+"/elsewhere/l.jsonl", ref("link"), 1)
	noError(t, os.Symlink(target, in+"/l.jsonl"))
	w.file(in+"/f.jsonl", strings.Repeat("x", markBuffer-30)+ref("edge"), 1)

	got, rep := w.collect(GCOptions{Extra: []string{extra}})
	if diff := cmp.Diff(map[blob.Ref]bool{refs["loose"]: true}, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
	if rep.Blobs != len(refs) || rep.Referenced != len(refs)-2 || rep.Young != 1 || rep.Trash != "" {
		t.Errorf("report = %+v", rep)
	}
	if ok, _ := w.store().blobs.Has(t.Context(), refs["loose"]); !ok {
		t.Error("a dry run took a blob")
	}
	got, _ = w.collect(GCOptions{})
	if diff := cmp.Diff(map[blob.Ref]bool{refs["loose"]: true, refs["extra"]: true}, got); diff != "" {
		t.Errorf("collected without the extra directory (-want +got):\n%s", diff)
	}
}

func TestCollectedBlobsComeBack(t *testing.T) {
	w := newPruneWorld(t)
	a, b := w.putBlob("a", 30), w.putBlob("b", 30)
	got, rep := w.collect(GCOptions{Act: true})
	if len(got) != 2 || rep.Trash == "" {
		t.Fatalf("collected %v, %+v", got, rep)
	}
	w.file(w.sc.Dir+"/a.jsonl", a.String(), 1)
	_, rep = w.collect(GCOptions{Act: true})
	has := func(r blob.Ref) bool { ok, _ := w.store().blobs.Has(t.Context(), r); return ok }
	if rep.Restored != 1 || !has(a) || has(b) {
		t.Errorf("restored %d, a is there: %v, b is there: %v", rep.Restored, has(a), has(b))
	}
	entries, err := os.ReadDir(w.home.Trash())
	noError(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), blobTrash) {
			_, err := w.store().Restore(t.Context(), e.Name())
			noError(t, err)
		}
	}
	if !has(b) {
		t.Error("b was not restored")
	}
}

func TestCollectGivesUpWhereAFileCannotBeRead(t *testing.T) {
	w := newPruneWorld(t)
	w.putBlob("a", 30)
	path := w.file(w.sc.Dir+"/x.jsonl", strings.Repeat("x", 100), 1)
	s := w.store()
	s.fsys = &storagetest.Hook{FS: s.fsys, Before: func(op storagetest.Op, name string) error {
		if op == storagetest.OpOpen && name == path {
			return os.ErrPermission
		}
		return nil
	}}
	_, err := s.CollectBlobs(t.Context(), GCOptions{Act: true}, func(GCRow) error {
		t.Error("a blob was collected")
		return nil
	})
	if err == nil {
		t.Error("CollectBlobs = nil, want an error")
	}
	for _, opt := range []GCOptions{{Grace: -1}, {Extra: []string{w.root + "/nowhere"}}} {
		if _, err := w.store().CollectBlobs(t.Context(), opt, nil); err == nil {
			t.Errorf("CollectBlobs(%+v) = nil, want an error", opt)
		}
	}
}

// TestCollectNeverTakesABlobThatIsPutMeanwhile puts a blob again before each
// operation of a collection.
func TestCollectNeverTakesABlobThatIsPutMeanwhile(t *testing.T) {
	for n := 0; ; n++ {
		m := storage.NewMemory()
		now := time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)
		m.Now = func() time.Time { return now }
		dir := storagetest.CrashDir()
		noErr(t, storage.MkdirAll(m, dir))
		pruneHome(t, m, dir)
		other := pruneStore(m, dir)
		ref, err := other.blobs.Put(t.Context(), []byte("image"))
		noErr(t, err)
		noErr(t, m.Chtimes(other.blobs.Path(ref), now.Add(-30*day).UnixNano()))
		var at atomic.Int64 // a collection reads on several goroutines
		hook := &storagetest.Hook{FS: m, Before: func(storagetest.Op, string) error {
			if at.Add(1) == int64(n) {
				_, err := other.blobs.Put(context.Background(), []byte("image"))
				return err
			}
			return nil
		}}
		s := pruneStore(hook, dir)
		_, err = s.CollectBlobs(t.Context(), GCOptions{Act: true}, func(GCRow) error { return nil })
		noErr(t, err)
		if int64(n) > at.Load() {
			return
		}
		if ok, err := other.blobs.Has(t.Context(), ref); n > 0 && (!ok || err != nil) {
			t.Fatalf("put before operation %d: the blob is there: %v, %v", n, ok, err)
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	root := b.TempDir()
	s := pruneStore(storage.Disk(storage.Policy{}), root)
	in := filepath.Join(s.opt.Home.Sessions(), "-old")
	if err := os.MkdirAll(in, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(s.opt.Home.Blobs(), 0o700); err != nil {
		b.Fatal(err)
	}
	filler := strings.Repeat(`{"type":"message","id":"aa000001","message":{"role":"user","content":"some text"}}`+"\n", 240)
	for i := range 10000 {
		var text strings.Builder
		text.WriteString(filler)
		for k := range 5 {
			ref := blob.RefOf(fmt.Appendf(nil, "%d", i*5+k))
			text.WriteString(ref.String())
			if err := os.WriteFile(s.blobs.Path(ref), []byte("x"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("s%d.jsonl", i)), []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		rep, err := s.CollectBlobs(b.Context(), GCOptions{}, func(GCRow) error { return nil })
		if err != nil || rep.Referenced != 50000 {
			b.Fatal(rep, err)
		}
	}
}

// packed is a run of a compressed archive.
func packed(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	z, err := newPacker(&out)
	noError(t, err)
	_, err = io.WriteString(z, text)
	noError(t, errors.Join(err, z.Close()))
	return out.String()
}
