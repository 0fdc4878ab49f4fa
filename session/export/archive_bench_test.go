package export

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/gajae-code/gjc-index/storage"
)

// BenchmarkArchive writes the sessions of GJC_BENCH_HOME, with their secrets
// taken out and as they are.
func BenchmarkArchive(b *testing.B) {
	home := os.Getenv("GJC_BENCH_HOME")
	if home == "" {
		b.Skip("GJC_BENCH_HOME names no home")
	}
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	var sources []Source
	var size int64
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
			sources = append(sources, Source{ID: "x", Path: path})
		}
	}
	for name, redactor := range map[string]func(string) (string, int){"redacted": redact.Count, "as it is": nil} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				opt := ArchiveOptions{Redact: redactor, Suspect: redact.Suspect, Blobs: filepath.Join(home, "blobs")}
				if _, err := WriteArchive(context.Background(), io.Discard, storage.Disk(storage.Policy{}), sources, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
