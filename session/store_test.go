package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// bench is a store on disk and its directory of sessions.
type bench struct {
	*Store
	t   *testing.T
	dir string
}

func newBench(t *testing.T, opt Options) *bench {
	t.Helper()
	dir := storagetest.InRAM(t)
	w := newWriter(nil, dir, opt)
	noErr(t, os.Mkdir(w.sessions(), 0o700))
	return &bench{Store: NewStore(storage.Disk(storage.Policy{}), w.opt), t: t, dir: w.sessions()}
}

// file puts a file of a fault case, or a text, into the directory.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	noErr(b.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (b *bench) fault(id, name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "faults", id, name))
	noErr(b.t, err)
	return b.file(name, string(text))
}

func (b *bench) open(path string) *Session {
	b.t.Helper()
	s, err := b.Open(b.t.Context(), path, OpenOptions{})
	noErr(b.t, err)
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (b *bench) create() *Session {
	b.t.Helper()
	s, err := b.Create(b.t.Context(), b.dir, CreateOptions{Dir: b.dir})
	noErr(b.t, err)
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (b *bench) say(s *Session, role, text string) string {
	b.t.Helper()
	id, err := s.AppendMessage(b.t.Context(), message(role, text))
	noErr(b.t, err)
	return id
}

func (b *bench) read(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	noErr(b.t, err)
	return string(text)
}

func lines(text string) int { return strings.Count(text, "\n") }

// A link in place of a scope is refused, and nothing is written where it leads.
func TestOpenRefusesALinkInPlaceOfAScope(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	h, err := scope.FindHome(home, func(string) string { return "" }, "", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	st := NewStore(storage.Disk(storage.Policy{}), Options{Home: h})
	elsewhere := t.TempDir()
	if err := os.MkdirAll(h.Sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v2-" + strings.Repeat("a", 52), "--p--"} {
		if err := os.Symlink(elsewhere, filepath.Join(h.Sessions(), name)); err != nil {
			t.Fatal(err)
		}
		s, err := st.Open(t.Context(), filepath.Join(h.Sessions(), name, "x.jsonl"), OpenOptions{})
		if err == nil {
			t.Errorf("Open below the link %s = %s, want an error", name, s.Path())
			_ = s.Close()
		}
		if strings.HasPrefix(name, "v2-") && !errors.Is(err, storage.ErrUnsafe) {
			t.Errorf("Open below the link %s = %v, want storage.ErrUnsafe", name, err)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("through the links: %v, %v", left, err)
	}
}

// A session that must exist is not begun where its file is gone.
func TestOpenExistingBeginsNothing(t *testing.T) {
	dir := t.TempDir()
	st := NewStore(storage.Disk(storage.Policy{}), Options{})
	missing, none := filepath.Join(dir, "gone.jsonl"), filepath.Join(dir, "none.jsonl")
	if err := os.WriteFile(none, []byte("no header\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, appendOnly := range []bool{false, true} {
		opt := OpenOptions{Existing: true, AppendOnly: appendOnly}
		if _, err := st.Open(t.Context(), missing, opt); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%s, %+v) = %v, want fs.ErrNotExist", missing, opt, err)
		}
		if _, err := st.Open(t.Context(), none, opt); !errors.Is(err, jsonl.ErrNotTranscript) {
			t.Errorf("Open(%s, %+v) = %v, want jsonl.ErrNotTranscript", none, opt, err)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was begun: %v", err)
	}
	if got, err := os.ReadFile(none); err != nil || string(got) != "no header\n" {
		t.Errorf("the other file holds %q, %v", got, err)
	}
}
