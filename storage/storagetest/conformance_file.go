package storagetest

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// The tests of Run that are about what is in a file.

func testReadWrite(t *testing.T, w world) {
	f, err := w.Create(w.path("f"))
	must(t, err)
	_, err = io.WriteString(f, "hello")
	must(t, err)
	_, err = f.WriteAt([]byte("HE"), 0)
	must(t, err)
	_, err = f.WriteAt([]byte("end"), 7)
	must(t, err)
	_, err = io.WriteString(f, "+")
	must(t, err)
	buf := make([]byte, 4)
	n, err := f.ReadAt(buf, 8)
	if n != 2 || !errors.Is(err, io.EOF) || string(buf[:n]) != "nd" {
		t.Errorf("ReadAt(8) = %d %q, %v, want 2 \"nd\", EOF", n, buf[:n], err)
	}
	must(t, f.Sync())
	must(t, f.Close())
	w.wantText(t, "f", "HEllo+\x00end")

	f, err = w.Edit(w.path("f"))
	must(t, err)
	_, err = io.WriteString(f, "J")
	must(t, err)
	rest, err := io.ReadAll(f)
	must(t, err)
	if diff := cmp.Diff("Ello+\x00end", string(rest)); diff != "" {
		t.Errorf("read after a write (-want +got):\n%s", diff)
	}
	info, err := f.Stat()
	must(t, err)
	peek, err := f.Peek()
	must(t, err)
	must(t, f.Close())
	if diff := cmp.Diff(w.info(t, "f"), info); diff != "" {
		t.Errorf("Stat of the file and Lstat (-lstat +stat):\n%s", diff)
	}
	peek.ModTime, peek.ChangeTime = info.ModTime, info.ChangeTime
	if diff := cmp.Diff(info, peek); diff != "" {
		t.Errorf("Peek and Stat but for the times (-stat +peek):\n%s", diff)
	}
	if info.Size != 10 || info.Links != 1 {
		t.Errorf("size %d and links %d, want 10 and 1", info.Size, info.Links)
	}
}

func testAppend(t *testing.T, w world) {
	w.put(t, "f", "1\n")
	a, err := w.Append(w.path("f"))
	must(t, err)
	b, err := w.Append(w.path("f"))
	must(t, err)
	for i, f := range []storage.File{a, b, a} {
		_, err := f.Write([]byte{byte('a' + i), '\n'})
		must(t, err)
	}
	if _, err := a.WriteAt([]byte("x"), 0); err == nil {
		t.Error("WriteAt of an appending file = nil, want an error")
	}
	must(t, a.Truncate(6))
	_, err = b.Write([]byte("d\n"))
	must(t, err)
	must(t, a.Close())
	must(t, b.Close())
	w.wantText(t, "f", "1\na\nb\nd\n")
}

func testReadOnly(t *testing.T, w world) {
	w.put(t, "f", "text")
	f, err := w.Open(w.path("f"))
	must(t, err)
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("Write = nil, want an error")
	}
	if err := f.Truncate(0); err == nil {
		t.Error("Truncate = nil, want an error")
	}
	must(t, f.Close())
	w.wantText(t, "f", "text")
}

func testClosed(t *testing.T, w world) {
	f, err := w.Create(w.path("f"))
	must(t, err)
	must(t, f.Close())
	_, err = f.Write([]byte("x"))
	wantErr(t, "Write", err, fs.ErrClosed)
	_, err = f.Read(make([]byte, 1))
	wantErr(t, "Read", err, fs.ErrClosed)
	_, err = f.Stat()
	wantErr(t, "Stat", err, fs.ErrClosed)
	_, err = f.Peek()
	wantErr(t, "Peek", err, fs.ErrClosed)
	wantErr(t, "Sync", f.Sync(), fs.ErrClosed)
	wantErr(t, "TryLock", f.TryLock(true), fs.ErrClosed)
	wantErr(t, "Close", f.Close(), fs.ErrClosed)
}

func testTruncate(t *testing.T, w world) {
	w.put(t, "f", "abcdef")
	f, err := w.Edit(w.path("f"))
	must(t, err)
	must(t, f.Truncate(2))
	must(t, f.Truncate(4))
	must(t, f.Close())
	w.wantText(t, "f", "ab\x00\x00")
}

func testBounded(t *testing.T, w world) {
	w.put(t, "f", "0123456789")
	w.put(t, "empty", "")
	if _, err := storage.ReadFile(w, w.path("f"), 10); err != nil {
		t.Errorf("ReadFile at the limit = %v", err)
	}
	_, err := storage.ReadFile(w, w.path("f"), 9)
	wantErr(t, "ReadFile past the limit", err, storage.ErrTooLarge)
	for _, tt := range []struct {
		name       string
		n          int
		head, tail string
	}{
		{"f", 3, "012", "789"},
		{"f", 10, "0123456789", "0123456789"},
		{"f", 11, "0123456789", "0123456789"},
		{"f", 0, "", ""},
		{"empty", 3, "", ""},
	} {
		head, info, err := storage.ReadPrefix(w, w.path(tt.name), tt.n)
		must(t, err)
		tail, _, err := storage.ReadTail(w, w.path(tt.name), tt.n)
		must(t, err)
		if string(head) != tt.head || string(tail) != tt.tail {
			t.Errorf("%d of %s: prefix %q and tail %q, want %q and %q", tt.n, tt.name, head, tail, tt.head, tt.tail)
		}
		if diff := cmp.Diff(w.info(t, tt.name), info); diff != "" {
			t.Errorf("Info of ReadPrefix (-lstat +got):\n%s", diff)
		}
	}
}

func testWhole(t *testing.T, w world) {
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	name := w.path("f")
	must(t, storage.Publish(t.Context(), w, name, 0o600, text("one")))
	wantErr(t, "Publish to a taken name", storage.Publish(t.Context(), w, name, 0o600, text("two")), fs.ErrExist)
	w.wantText(t, "f", "one")
	must(t, storage.Replace(t.Context(), w, name, 0o600, text("three")))
	w.wantText(t, "f", "three")
	broken := errors.New("broken")
	err := storage.Replace(t.Context(), w, name, 0o600, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	wantErr(t, "Replace whose writer fails", err, broken)
	w.wantText(t, "f", "three")
	must(t, w.Mkdir(w.path("dir")))
	wantErr(t, "Replace of a directory", storage.Replace(t.Context(), w, w.path("dir"), 0o600, text("x")), storage.ErrUnsafe)
	w.wantNames(t, "", "dir", "f")
	if info := w.info(t, "f"); info.Links != 1 {
		t.Errorf("%d links, want 1", info.Links)
	}
}
