package scope

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkIdentifyAndLookup(b *testing.B) {
	home, w := newHome(b)
	_, err := Ensure(context.Background(), disk(), home, w)
	must(b, err)
	b.ResetTimer()
	for b.Loop() {
		if _, err := Lookup(disk(), home, w); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAllCandidates scans 1,000 scopes of two transcripts of 1 MB each.
// Contents are not read, so their size must not matter.
func BenchmarkAllCandidates(b *testing.B) {
	home, w := newHome(b)
	for n := range 1000 {
		workspace := filepath.Join(w, fmt.Sprint(n))
		must(b, os.Mkdir(workspace, 0o700))
		id, err := Identify(workspace)
		must(b, err)
		dir := filepath.Join(home.Sessions(), id.DirName())
		must(b, os.MkdirAll(dir, 0o700))
		must(b, os.WriteFile(filepath.Join(dir, bindingName), bindingBytes(id), 0o600))
		for i := range 2 {
			path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
			must(b, os.WriteFile(path, []byte(transcript(fmt.Sprint(n, i), workspace)), 0o600))
			must(b, os.Truncate(path, 1<<20))
		}
	}
	b.ResetTimer()
	for b.Loop() {
		list, err := AllCandidates(context.Background(), disk(), home)
		if err != nil || len(list.Owned) != 2000 {
			b.Fatalf("%d owned, %v", len(list.Owned), err)
		}
	}
}
