package storage_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

func byName(a, b storage.DirEntry) int { return strings.Compare(a.Name, b.Name) }

func TestStatDirAgreesWithLstatAndReadDir(t *testing.T) {
	dir := t.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%04d-%s.jsonl", i, strings.Repeat("x", i%40))), []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	d := storage.Disk(storage.Policy{})
	got, err := d.StatDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, byName)
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want, wantKinds []storage.DirEntry
	for _, e := range names {
		info, err := d.Lstat(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, storage.DirEntry{Name: e.Name(), Info: info})
		wantKinds = append(wantKinds, storage.DirEntry{Name: e.Name(), Info: storage.Info{Kind: info.Kind}})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("StatDir (-want +got):\n%s", diff)
	}
	kinds, err := d.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("ReadDir (-want +got):\n%s", diff)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := storage.Disk(storage.Policy{})
	for _, name := range []string{"link", "loop", "dir"} {
		for op, open := range map[string]func(string) (storage.File, error){
			"Open": d.Open, "Edit": d.Edit, "Append": d.Append,
		} {
			if _, err := open(filepath.Join(dir, name)); !errors.Is(err, storage.ErrUnsafe) {
				t.Errorf("%s(%s) = %v, want ErrUnsafe", op, name, err)
			}
		}
		if _, err := d.TryLock(filepath.Join(dir, name), storage.Exclusive); !errors.Is(err, storage.ErrUnsafe) {
			t.Errorf("TryLock(%s) = %v, want ErrUnsafe", name, err)
		}
	}
	if _, err := d.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open(none) = %v, want ErrNotExist", err)
	}
}
