package blob

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

const helloHex = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestParseRef(t *testing.T) {
	tests := []struct {
		name, in string
		ok       bool
	}{
		{"a reference", "blob:sha256:" + helloHex, true},
		{"upper case", "blob:sha256:" + strings.ToUpper(helloHex), false},
		{"short", "blob:sha256:" + helloHex[1:], false},
		{"long", "blob:sha256:" + helloHex + "0", false},
		{"not hexadecimal", "blob:sha256:g" + helloHex[1:], false},
		{"other sum", "blob:sha512:" + helloHex, false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ref, err := ParseRef(tt.in)
			if (err == nil) != tt.ok || (err != nil && !errors.Is(err, ErrRef)) {
				t.Fatalf("ParseRef(%q) = %v, %v", tt.in, ref, err)
			}
			if tt.ok && (ref.String() != tt.in || ref != RefOf([]byte("hello"))) {
				t.Errorf("ParseRef(%q) = %v", tt.in, ref)
			}
		})
	}
}

// stores runs test on a disk and in memory.
func stores(t *testing.T, test func(t *testing.T, fsys storage.FS, dir string)) {
	t.Run("disk", func(t *testing.T) {
		test(t, storage.Disk(storage.Policy{}), filepath.Join(t.TempDir(), "agent", "blobs"))
	})
	t.Run("memory", func(t *testing.T) { test(t, storage.NewMemory(), "/agent/blobs") })
}

func overwrite(t *testing.T, fsys storage.FS, name, text string) {
	t.Helper()
	f, err := fsys.Edit(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = fsys.Create(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestPutAndGet(t *testing.T) {
	stores(t, func(t *testing.T, fsys storage.FS, dir string) {
		ctx := t.Context()
		s := New(fsys, dir)
		ref, err := s.Put(ctx, []byte("hello"))
		if err != nil || ref.Hex() != helloHex {
			t.Fatalf("Put = %v, %v", ref, err)
		}
		if got, err := s.Get(ctx, ref); err != nil || string(got) != "hello" {
			t.Errorf("Get = %q, %v", got, err)
		}
		if ok, err := s.Has(ctx, ref); !ok || err != nil {
			t.Errorf("Has = %v, %v", ok, err)
		}
		if ok, err := s.Has(ctx, RefOf(nil)); ok || err != nil {
			t.Errorf("Has of another = %v, %v", ok, err)
		}
		if _, err := s.Get(ctx, RefOf(nil)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Get of another: %v, want fs.ErrNotExist", err)
		}
		for name, mode := range map[string]fs.FileMode{dir: 0o700, s.Path(ref): 0o600} {
			if info, err := fsys.Lstat(name); err != nil || info.Mode != mode {
				t.Errorf("mode of %s = %o, %v, want %o", name, info.Mode, err, mode)
			}
		}
		list, err := fsys.ReadDir(dir)
		if err != nil || len(list) != 1 {
			t.Errorf("directory holds %v, %v, want the blob alone", list, err)
		}
	})
}

func TestPutKeepsOnlyWhatIsRight(t *testing.T) {
	tests := []struct {
		name, have string
		kept       bool
	}{
		{"the same bytes", "hello", true},
		{"torn", "hel", false},
		{"too long", "hello!", false},
		{"other bytes of the same length", "hallo", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stores(t, func(t *testing.T, fsys storage.FS, dir string) {
				ctx := t.Context()
				s := New(fsys, dir)
				ref, err := s.Put(ctx, []byte("hello"))
				if err != nil {
					t.Fatal(err)
				}
				overwrite(t, fsys, s.Path(ref), tt.have)
				old := time.Unix(1_700_000_000, 0)
				if err := fsys.Chtimes(s.Path(ref), old.UnixNano()); err != nil {
					t.Fatal(err)
				}
				before, err := fsys.Lstat(s.Path(ref))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Get(ctx, ref); errors.Is(err, ErrCorrupt) == tt.kept {
					t.Errorf("Get before Put: %v", err)
				}
				if _, err := s.Put(ctx, []byte("hello")); err != nil {
					t.Fatal(err)
				}
				after, err := fsys.Lstat(s.Path(ref))
				if err != nil {
					t.Fatal(err)
				}
				if before.SameFile(after) != tt.kept {
					t.Errorf("file kept = %v, want %v", before.SameFile(after), tt.kept)
				}
				if after.ModTime <= old.UnixNano() {
					t.Errorf("time after Put is %v, want it renewed", time.Unix(0, after.ModTime))
				}
				if got, err := s.Get(ctx, ref); err != nil || string(got) != "hello" {
					t.Errorf("Get = %q, %v", got, err)
				}
			})
		})
	}
}

func TestPutRefuses(t *testing.T) {
	mem := storage.NewMemory()
	s := New(mem, "/blobs")
	if err := mem.Mkdir("/blobs"); err != nil {
		t.Fatal(err)
	}
	if err := mem.Place(s.Path(RefOf([]byte("link"))), storage.Symlink); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), []byte("link")); !errors.Is(err, storage.ErrUnsafe) {
		t.Errorf("Put over a symbolic link: %v, want ErrUnsafe", err)
	}
	if _, err := s.Put(t.Context(), make([]byte, MaxSize+1)); !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("Put past the limit: %v, want ErrTooLarge", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, []byte("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put after the end of ctx: %v", err)
	}
}

func TestPutSurvivesACrash(t *testing.T) {
	tests := []struct {
		name string
		prep func(t *testing.T, fsys storage.FS, name string)
	}{
		{"new", func(*testing.T, storage.FS, string) {}},
		{"in place of a torn one", func(t *testing.T, fsys storage.FS, name string) {
			overwrite(t, fsys, name, "hel")
		}},
		{"written by another program and not synced", func(t *testing.T, fsys storage.FS, name string) {
			overwrite(t, fsys, name, "hello")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := storage.NewMemory()
			if err := storage.MkdirAll(mem, "/blobs"); err != nil {
				t.Fatal(err)
			}
			s := New(mem, "/blobs")
			tt.prep(t, mem, s.Path(RefOf([]byte("hello"))))
			ref, err := s.Put(t.Context(), []byte("hello"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := New(mem.Crash(), "/blobs").Get(t.Context(), ref)
			if err != nil || string(got) != "hello" {
				t.Errorf("Get after the crash = %q, %v", got, err)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	stores(t, func(t *testing.T, fsys storage.FS, dir string) {
		ctx := t.Context()
		s := New(fsys, dir)
		for range s.Verify(ctx) {
			t.Error("Verify of a store without a directory yields something")
		}
		want := map[string]bool{}
		for _, text := range []string{"a", "b", "c", strings.Repeat("long", 100_000)} {
			ref, err := s.Put(ctx, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want[ref.Hex()] = text == "b"
			if text == "b" {
				overwrite(t, fsys, s.Path(ref), "B")
			}
		}
		overwrite(t, fsys, filepath.Join(dir, "README"), "not a blob")
		got := map[string]bool{}
		for ref, err := range s.Verify(ctx) {
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("Verify: %v", err)
			}
			got[ref.Hex()] = err != nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("corrupt blobs (-want +got):\n%s", diff)
		}
	})
}

func TestRemoveOlder(t *testing.T) {
	stores(t, func(t *testing.T, fsys storage.FS, dir string) {
		ctx := t.Context()
		s := New(fsys, dir)
		ref, err := s.Put(ctx, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		put := time.Unix(1_700_000_000, 0)
		if err := fsys.Chtimes(s.Path(ref), put.UnixNano()); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name   string
			before time.Time
			want   bool
		}{
			{"as old as the limit", put, false},
			{"older", put.Add(time.Second), true},
			{"gone", put.Add(time.Second), false},
		} {
			if got, err := s.RemoveOlder(ctx, ref, step.before); got != step.want || err != nil {
				t.Errorf("%s: RemoveOlder = %v, %v, want %v", step.name, got, err, step.want)
			}
		}
	})
}

func FuzzParseRef(f *testing.F) {
	f.Add("blob:sha256:" + helloHex)
	f.Add("blob:sha256:")
	f.Fuzz(func(t *testing.T, s string) {
		if ref, err := ParseRef(s); err == nil && ref.String() != s {
			t.Errorf("ParseRef(%q).String() = %q", s, ref.String())
		}
	})
}

func BenchmarkPutKept(b *testing.B) {
	s := New(storage.Disk(storage.Policy{}), b.TempDir())
	data := bytes.Repeat([]byte("image"), 40_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := s.Put(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}
