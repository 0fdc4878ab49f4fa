package index

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// BenchmarkScanNowhere searches the session files under GJC_BENCH_HOME for
// literals that occur nowhere, and one that is everywhere.
func BenchmarkScanNowhere(b *testing.B) {
	home := os.Getenv("GJC_BENCH_HOME")
	if home == "" {
		b.Skip("GJC_BENCH_HOME is not set")
	}
	var files []ScanFile
	var size int64
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		files = append(files, ScanFile{Path: path})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	fsys := storage.Disk(storage.Policy{})
	for _, tt := range []struct{ name, query string }{
		{"rare", "zqxjvkq"},
		{"common", "thereisnotone"},
		{"latin", "tenseerisato"},
		{"cjk", "龍虎鳳凰"},
		{"hangul", "뷁뛟"},
		{"cyrillic", "жщъёык"},
		{"everywhere", "the"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, _, err := Scan(context.Background(), fsys, files, ParseQuery(tt.query), ScanOptions{Limit: 20}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
