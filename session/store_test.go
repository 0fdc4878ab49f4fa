package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
