package corpus

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestGenerateGivesTheSameFilesForTheSameSeed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	sum := func() [32]byte {
		rep, err := Generate(dir, Options{Files: 40, Bytes: 1 << 20, Damaged: 200})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Files != 40 || rep.Damaged == 0 || len(rep.Prompts) == 0 {
			t.Errorf("Generate: %d files, %d damaged, %d prompts; want 40, some, some", rep.Files, rep.Damaged, len(rep.Prompts))
		}
		h := sha256.New()
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			h.Write([]byte(path))
			h.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return [32]byte(h.Sum(nil))
	}
	first := sum()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if second := sum(); first != second {
		t.Error("Generate: two runs with one seed differ")
	}
}

func TestBigSessionHasTheAskedSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.jsonl")
	if err := BigSession(path, "big00001", "/proj/big", 2<<20, 300_000); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if fi.Size() < 2<<20 || fi.Size() > 3<<20 {
		t.Errorf("BigSession wrote %d bytes, want about %d", fi.Size(), 2<<20)
	}
}
