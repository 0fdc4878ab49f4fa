package export

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

func TestDestinations(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sessions/scope", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"out/there", "source.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "out/there", "aside": "sessions/scope", "elsewhere": "out"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Skipf("symlinks: %v", err)
		}
	}
	tests := []struct {
		name, path string
		force      bool
		want       error
	}{
		{"a new file", "out/new", false, nil},
		{"a file that is there", "out/there", false, fs.ErrExist},
		{"a file that is there, by force", "out/there", true, nil},
		{"a directory", "out", true, storage.ErrUnsafe},
		{"a link", "link", true, storage.ErrUnsafe},
		{"through a linked directory", "elsewhere/new", false, nil},
		{"no such directory", "nowhere/new", false, fs.ErrNotExist},
		{"below a file", "out/there/new", false, ErrDestination},
		{"among the sessions", "sessions/new", false, ErrDestination},
		{"deep among the sessions", "sessions/scope/new", true, ErrDestination},
		{"among the sessions by a link", "aside/new", false, ErrDestination},
		{"over the session", "source.jsonl", true, ErrDestination},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := DestinationOptions{Force: tt.force, Avoid: []string{filepath.Join(dir, "sessions")}, Source: filepath.Join(dir, "source.jsonl")}
			if _, err := Check(storage.Disk(storage.Policy{}), filepath.Join(dir, tt.path), opt); !errors.Is(err, tt.want) {
				t.Errorf("Check(%s) = %v, want %v", tt.path, err, tt.want)
			}
		})
	}
}

func TestAFailedExportLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	broken := errors.New("broken")
	tests := []struct {
		name  string
		write func(w io.Writer) error
		want  error
	}{
		{"an error", func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return broken }, broken},
		{"an interrupt", func(w io.Writer) error {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			cancel()
			_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
			return err
		}, context.Canceled},
	}
	for _, tt := range tests {
		for _, force := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, "out.html")
			if force {
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := Check(storage.Disk(storage.Policy{}), path, DestinationOptions{Force: force})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Save(ctx, tt.write); !errors.Is(err, tt.want) {
				t.Errorf("%s: Save = %v, want %v", tt.name, err, tt.want)
			}
			names, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if force {
				want = 1
				if data, _ := os.ReadFile(path); string(data) != "old" {
					t.Errorf("%s: the old file is %q now", tt.name, data)
				}
			}
			if len(names) != want {
				t.Errorf("%s, force %v: %d files are left, want %d", tt.name, force, len(names), want)
			}
		}
	}
}
