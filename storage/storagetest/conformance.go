package storagetest

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// world is a fresh FS and a directory in it that the test may fill.
type world struct {
	storage.FS
	dir string
}

func (w world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// Run runs every test that an FS must pass. open returns a fresh FS and an
// empty directory in it.
func Run(t *testing.T, open func(t *testing.T) (storage.FS, string)) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, w world)
	}{
		{"a missing file is ErrNotExist for each operation", testMissing},
		{"a taken name is ErrExist for each operation that makes one", testTaken},
		{"a directory is refused as a file and a file as a directory", testKinds},
		{"create makes an owner-only file and mkdir an owner-only directory", testModes},
		{"what is written is read", testReadWrite},
		{"append writes at the end whatever others wrote", testAppend},
		{"a file opened to read refuses writes", testReadOnly},
		{"a closed file refuses everything", testClosed},
		{"truncate cuts and extends with zeros", testTruncate},
		{"rename replaces and keeps the identity", testRename},
		{"rename without replacing moves files and directories", testNoReplace},
		{"link gives a second name to one file", testLink},
		{"remove takes files and empty directories", testRemove},
		{"lists have every name and agree with lstat", testLists},
		{"chtimes sets nanoseconds", testChtimes},
		{"check owner accepts ours and refuses other modes and links", testOwner},
		{"locks of two descriptors exclude each other", testFileLocks},
		{"lock files lock, share and wait until the context ends", testLockFiles},
		{"a lock on a file that was replaced is taken again", testLockMoved},
		{"bounded reads", testBounded},
		{"mkdir all makes what is missing", testMkdirAll},
		{"replace and publish", testWhole},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, dir := open(t)
			tt.test(t, world{fsys, dir})
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

// put makes the file name with text in it.
func (w world) put(t *testing.T, name, text string) {
	t.Helper()
	f, err := w.Create(w.path(name))
	must(t, err)
	_, err = io.WriteString(f, text)
	must(t, err)
	must(t, f.Close())
}

func (w world) wantText(t *testing.T, name, want string) {
	t.Helper()
	got, err := storage.ReadFile(w, w.path(name), 1<<20)
	must(t, err)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("content of %s (-want +got):\n%s", name, diff)
	}
}

func (w world) info(t *testing.T, name string) storage.Info {
	t.Helper()
	info, err := w.Lstat(w.path(name))
	must(t, err)
	return info
}

func (w world) wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := w.ReadDir(w.path(dir))
	must(t, err)
	got := []string{}
	for _, e := range list {
		got = append(got, e.Name)
	}
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of %s (-want +got):\n%s", dir, diff)
	}
}

func opens(w world) map[string]func(string) (storage.File, error) {
	return map[string]func(string) (storage.File, error){"Open": w.Open, "Edit": w.Edit, "Append": w.Append}
}

func testMissing(t *testing.T, w world) {
	w.put(t, "file", "")
	none := w.path("none")
	for op, open := range opens(w) {
		_, err := open(none)
		wantErr(t, op, err, fs.ErrNotExist)
	}
	_, err := w.Create(w.path("none/file"))
	wantErr(t, "Create in a missing directory", err, fs.ErrNotExist)
	_, err = w.Lstat(none)
	wantErr(t, "Lstat", err, fs.ErrNotExist)
	_, err = w.ReadDir(none)
	wantErr(t, "ReadDir", err, fs.ErrNotExist)
	_, err = w.StatDir(none)
	wantErr(t, "StatDir", err, fs.ErrNotExist)
	_, err = w.CheckOwner(none, storage.Regular)
	wantErr(t, "CheckOwner", err, fs.ErrNotExist)
	_, err = w.TryLock(w.path("none/lock"), storage.Exclusive)
	wantErr(t, "TryLock in a missing directory", err, fs.ErrNotExist)
	wantErr(t, "Remove", w.Remove(none), fs.ErrNotExist)
	wantErr(t, "Rename", w.Rename(none, w.path("new")), fs.ErrNotExist)
	wantErr(t, "RenameNoReplace", w.RenameNoReplace(none, w.path("new")), fs.ErrNotExist)
	wantErr(t, "Link", w.Link(none, w.path("new")), fs.ErrNotExist)
	wantErr(t, "Mkdir", w.Mkdir(w.path("none/dir")), fs.ErrNotExist)
	wantErr(t, "Chmod", w.Chmod(none, 0o600), fs.ErrNotExist)
	wantErr(t, "Chtimes", w.Chtimes(none, 0), fs.ErrNotExist)
	wantErr(t, "SyncDir", w.SyncDir(none), fs.ErrNotExist)
	w.wantNames(t, "", "file")
}

func testTaken(t *testing.T, w world) {
	w.put(t, "a", "a")
	w.put(t, "b", "b")
	must(t, w.Mkdir(w.path("dir")))
	for _, name := range []string{"b", "dir"} {
		_, err := w.Create(w.path(name))
		wantErr(t, "Create "+name, err, fs.ErrExist)
		wantErr(t, "Mkdir "+name, w.Mkdir(w.path(name)), fs.ErrExist)
		wantErr(t, "Link to "+name, w.Link(w.path("a"), w.path(name)), fs.ErrExist)
		wantErr(t, "RenameNoReplace to "+name, w.RenameNoReplace(w.path("a"), w.path(name)), fs.ErrExist)
	}
	w.wantText(t, "a", "a")
	w.wantText(t, "b", "b")
}

func testKinds(t *testing.T, w world) {
	w.put(t, "file", "")
	must(t, w.Mkdir(w.path("dir")))
	for op, open := range opens(w) {
		_, err := open(w.path("dir"))
		wantErr(t, op+" of a directory", err, storage.ErrUnsafe)
	}
	_, err := w.TryLock(w.path("dir"), storage.Exclusive)
	wantErr(t, "TryLock of a directory", err, storage.ErrUnsafe)
	_, err = w.ReadDir(w.path("file"))
	wantErr(t, "ReadDir of a file", err, storage.ErrUnsafe)
	_, err = w.StatDir(w.path("file"))
	wantErr(t, "StatDir of a file", err, storage.ErrUnsafe)
	_, err = w.CheckOwner(w.path("file"), storage.Dir)
	wantErr(t, "CheckOwner of a file as directory", err, storage.ErrUnsafe)
	_, err = w.CheckOwner(w.path("dir"), storage.Regular)
	wantErr(t, "CheckOwner of a directory as file", err, storage.ErrUnsafe)
	if got := w.info(t, "dir").Kind; got != storage.Dir {
		t.Errorf("kind of dir is %d, want Dir", got)
	}
	if got := w.info(t, "file").Kind; got != storage.Regular {
		t.Errorf("kind of file is %d, want Regular", got)
	}
}

func testModes(t *testing.T, w world) {
	w.put(t, "file", "")
	must(t, w.Mkdir(w.path("dir")))
	l, err := w.TryLock(w.path("lock"), storage.Exclusive)
	must(t, err)
	must(t, l.Unlock())
	for name, want := range map[string]fs.FileMode{"file": 0o600, "dir": 0o700, "lock": 0o600} {
		if got := w.info(t, name).Mode; got != want {
			t.Errorf("mode of %s is %o, want %o", name, got, want)
		}
	}
}
