package storage

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// moved is a Memory in which a file and a directory went from /a to /b.
func moved(t *testing.T) (m *Memory, a, b string) {
	t.Helper()
	m, a, b = NewMemory(), filepath.FromSlash("/a"), filepath.FromSlash("/b")
	for _, dir := range []string{a, b, filepath.Join(a, "dir")} {
		if err := MkdirAll(m, dir); err != nil {
			t.Fatal(err)
		}
	}
	file, err := m.Create(filepath.Join(a, "file"))
	if err = errors.Join(err, m.SyncDir(a)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "dir"} {
		err = errors.Join(err, m.Rename(filepath.Join(a, name), filepath.Join(b, name)))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return m, a, b
}

func isIn(t *testing.T, m *Memory, dir, name string) bool {
	t.Helper()
	_, err := m.Lstat(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestACrashLosesNothingThatWasMovedBetweenDirectories(t *testing.T) {
	m, a, b := moved(t)
	r := rand.New(rand.NewPCG(1, 2))
	places := map[string]bool{}
	for range 100 {
		c := m.CrashTorn(r)
		for _, name := range []string{"file", "dir"} {
			was, is := isIn(t, c, a, name), isIn(t, c, b, name)
			if !was && !is || name == "dir" && was && is {
				t.Fatalf("%s: in the old place %v, in the new one %v", name, was, is)
			}
			if name == "file" {
				places[map[[2]bool]string{{true, false}: "old", {false, true}: "new", {true, true}: "both"}[[2]bool{was, is}]] = true
			}
		}
	}
	if len(places) != 3 {
		t.Errorf("the file was found in %v, want old, new and both", places)
	}
}

func TestSyncingTheNewPlaceKeepsWhatWasMoved(t *testing.T) {
	m, a, b := moved(t)
	if err := m.SyncDir(b); err != nil {
		t.Fatal(err)
	}
	c := m.Crash()
	for name, old := range map[string]bool{"file": true, "dir": false} {
		if was, is := isIn(t, c, a, name), isIn(t, c, b, name); was != old || !is {
			t.Errorf("%s: in the old place %v, in the new one %v, want %v and true", name, was, is, old)
		}
	}
}

func TestSyncWholeOfAMemorySyncsAll(t *testing.T) {
	m, a, b := moved(t)
	m.WholeSync = true
	f, err := m.Create(filepath.Join(b, "dir", "new"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write([]byte("text"))
	if done, serr := SyncWhole(m, []string{a}); !done || errors.Join(err, serr, f.Close()) != nil {
		t.Fatalf("SyncWhole = %v, %v; %v", done, serr, err)
	}
	c := m.Crash()
	got, err := ReadFile(c, filepath.Join(b, "dir", "new"), 10)
	if err != nil || string(got) != "text" || isIn(t, c, a, "file") || !isIn(t, c, b, "file") {
		t.Errorf("after the crash: %q, %v; the file is in its old place: %v", got, err, isIn(t, c, a, "file"))
	}
}
