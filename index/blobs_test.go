package index

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// named are the blobs that a search of the bytes of files finds.
func named(t *testing.T, paths ...string) []string {
	t.Helper()
	sums := map[string]bool{}
	s := session.RefSearch{Found: func(sum [32]byte) { sums[fmt.Sprintf("%x", sum)] = true }}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.Write(data)
		_, _ = s.Write(make([]byte, 4096))
	}
	return slices.Sorted(maps.Keys(sums))
}

func TestKnownBlobsAreThoseThatTheBytesName(t *testing.T) {
	total := 0
	for seed := range uint64(8) {
		home := filepath.Join(t.TempDir(), "home")
		w := newWorld(home, 3000+seed)
		w.tools = true
		w.newFile(t)
		x := openAt(t, home, Options{})
		for range 4 {
			for range 1 + w.rnd.IntN(8) {
				w.step(t)
				w.archive(t, w.file())
			}
			if _, err := x.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			clear(w.edited)
			clear(w.grown)
			refs, err := x.BlobRefs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for path, known := range refs.files {
				all := map[string]bool{}
				for _, sum := range known.sums {
					all[fmt.Sprintf("%x", sum)] = true
				}
				for _, sum := range named(t, path) {
					total++
					if !all[sum] {
						t.Errorf("%s names %s and the index doesn't know", path, sum)
					}
				}
			}
		}
	}
	if total < 50 {
		t.Errorf("only %d references: the test tests nothing", total)
	}
}

func TestBlobsOfAFileThatChangedAreNotKnown(t *testing.T) {
	home := t.TempDir()
	text := fmt.Sprintf(`{"type":"session","version":5,"id":"a","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"not a value: blob:sha256:%064x"}}
{"type":"message","id":"2","bad":"blob:sh\u006125\u0036:%064x`, 1, 2)
	path := put(t, home, "s/a.jsonl", text)
	damaged := put(t, home, "s/b.jsonl", "no session\n")
	x := openAt(t, home, Options{})
	refresh(t, x)
	refs, err := x.BlobRefs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fsys := storage.Disk(storage.Policy{})
	info, err := fsys.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	sums, ok := refs.Of(path, info)
	var got []string
	for _, sum := range sums {
		got = append(got, fmt.Sprintf("%x", sum))
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("%064x", 1), fmt.Sprintf("%064x", 2)}, got); diff != "" || !ok {
		t.Errorf("blobs (-want +got):\n%s", diff)
	}
	for _, change := range []func(i storage.Info) storage.Info{
		func(i storage.Info) storage.Info { i.Size++; return i },
		func(i storage.Info) storage.Info { i.ModTime++; return i },
		func(i storage.Info) storage.Info { i.ChangeTime++; return i },
		func(i storage.Info) storage.Info { i.Inode++; return i },
		func(i storage.Info) storage.Info { i.Dev++; return i },
	} {
		if _, ok := refs.Of(path, change(info)); ok {
			t.Errorf("a file with another stat is known")
		}
	}
	if info, err = fsys.Lstat(damaged); err != nil {
		t.Fatal(err)
	}
	if _, ok := refs.Of(damaged, info); ok {
		t.Error("a file that is no session is known")
	}
	if _, ok := (&BlobRefs{}).Of(path, info); ok {
		t.Error("the zero value knows something")
	}
}
