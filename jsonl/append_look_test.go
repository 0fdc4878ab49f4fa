package jsonl

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// TestAppendNoticesBetweenLooksThatItsFileIsGone: also while the last look at
// the path is trusted, a file that was removed or replaced is noticed by the
// next append; one that was renamed when a look is due, or by Sync.
func TestAppendNoticesBetweenLooksThatItsFileIsGone(t *testing.T) {
	tests := []struct {
		name    string
		do      func(fsys storage.FS, path string) error
		noticed bool // before a look is due
		gone    bool // the path names nothing
	}{
		{"removed", func(fsys storage.FS, path string) error { return fsys.Remove(path) }, true, true},
		{"replaced", func(fsys storage.FS, path string) error {
			return storage.Replace(t.Context(), fsys, path, 0o600, func(w io.Writer) error {
				_, err := io.WriteString(w, "{\"theirs\":1}\n")
				return err
			})
		}, true, false},
		{"given a second name and removed", func(fsys storage.FS, path string) error {
			return errors.Join(fsys.Link(path, path+".kept"), fsys.Remove(path))
		}, false, true},
		{"moved away", func(fsys storage.FS, path string) error { return fsys.Rename(path, path+".away") }, false, true},
		{"moved with its directory", func(fsys storage.FS, path string) error {
			return fsys.Rename(filepath.Dir(path), filepath.Dir(path)+".away")
		}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys, path := storage.Disk(storage.Policy{}), filepath.Join(t.TempDir(), "dir", "s.jsonl")
			must(t, fsys.Mkdir(filepath.Dir(path)))
			must(t, storage.Publish(t.Context(), fsys, path, 0o600, func(w io.Writer) error {
				_, err := io.WriteString(w, "{}\n")
				return err
			}))
			a, err := OpenAppender(fsys, path)
			must(t, err)
			defer func() { must(t, a.Close()) }()
			a.every = time.Hour
			must(t, a.Append(t.Context(), []byte("{\"first\":1}\n"), false))
			must(t, tt.do(fsys, path))
			err = a.Append(t.Context(), []byte("{\"second\":1}\n"), false)
			if noticed := errors.Is(err, ErrReplaced); noticed != tt.noticed {
				t.Fatalf("Append() between looks = %v, want ErrReplaced: %v", err, tt.noticed)
			}
			if !tt.noticed {
				if err := a.Sync(); !errors.Is(err, ErrReplaced) {
					t.Errorf("Sync() = %v, want ErrReplaced", err)
				}
			}
			a.every = 0
			err = a.Append(t.Context(), []byte("{\"third\":1}\n"), false)
			var failed *AppendError
			if !errors.As(err, &failed) || failed.Outcome != RolledBack || !errors.Is(err, ErrReplaced) {
				t.Errorf("Append() at a look = %v, want ErrReplaced, rolled back", err)
			}
			if errors.Is(err, fs.ErrNotExist) != tt.gone {
				t.Errorf("Append() at a look = %v, want fs.ErrNotExist: %v", err, tt.gone)
			}
		})
	}
}

// TestAppendSeesOthersBetweenLooks: a torn line that another program leaves is
// closed although the path isn't looked at.
func TestAppendSeesOthersBetweenLooks(t *testing.T) {
	m := memoryFile(t, "{}\n")
	a, err := OpenAppender(m, appendPath)
	must(t, err)
	a.every = time.Hour
	must(t, a.Append(t.Context(), []byte("{\"a\":1}\n"), false))
	writeBehind(t, m, `{"torn`)
	must(t, m.Chmod(appendPath, 0o644))
	must(t, a.Append(t.Context(), []byte("{\"b\":1}\n"), false))
	const want = "{}\n{\"a\":1}\n{\"torn\n{\"b\":1}\n"
	if got := contentOf(t, m); got != want || !a.Foreign() || a.Size() != int64(len(want)) {
		t.Errorf("file = %q, foreign %v, size %d, want %q, true", got, a.Foreign(), a.Size(), want)
	}
	if st, _ := m.Lstat(appendPath); st.Mode != 0o600 {
		t.Errorf("mode = %o, want 600", st.Mode)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
