package index

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
)

// randomTree is a session of branches, patches and holes.
func randomTree(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString(`{"type":"session","version":5,"id":"tree0001","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p"}` + "\n")
	for i := range 60 {
		parent := fmt.Sprintf(`"e%d"`, i-1)
		switch {
		case i == 0 || r.IntN(30) == 0:
			parent = "null"
		case r.IntN(6) == 0:
			parent = fmt.Sprintf(`"e%d"`, r.IntN(i))
		case r.IntN(20) == 0:
			parent = `"gone"`
		}
		role := []string{"user", "assistant", "toolResult"}[r.IntN(3)]
		fmt.Fprintf(&b, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"%s","content":"text %d"}}`+"\n", i, parent, role, i)
		if r.IntN(10) == 0 {
			fmt.Fprintf(&b, `{"type":"entry_patch","entryId":"e%d","patch":{"message":{"role":"%s","content":"patched %d"}}}`+"\n", r.IntN(i+1), role, i)
		}
	}
	return b.String()
}

func TestAPathReadInPartsIsThePathOfTheTree(t *testing.T) {
	for seed := range uint64(8) {
		home := t.TempDir()
		path := put(t, home, "s/tree.jsonl", randomTree(seed))
		x := openAt(t, home, Options{})
		if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		tr, err := jsonl.Load(t.Context(), x.fsys, path, jsonl.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tree := tr.Tree(true)
		for _, leaf := range []string{"", "e7", "e31", "e59"} {
			at := jsonl.LeafLast()
			if leaf != "" {
				at = jsonl.LeafAt(leaf)
			}
			var want []string
			var roles []string
			for _, e := range tree.Path(at) {
				want = append(want, e.Value().Get("message").JSON())
				roles = append(roles, e.Role())
			}
			p, err := x.Path(t.Context(), path, leaf)
			if err != nil {
				t.Fatal(err)
			}
			if p.Len() != len(want) {
				t.Fatalf("seed %d, leaf %q: %d entries, want %d", seed, leaf, p.Len(), len(want))
			}
			for from := 0; from < len(want); from += 3 {
				to := min(from+7, len(want))
				entries, err := p.Entries(t.Context(), from, to)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range entries {
					got = append(got, e.Value().Get("message").JSON())
				}
				if diff := cmp.Diff(want[from:to], got); diff != "" {
					t.Errorf("seed %d, leaf %q, entries %d to %d (-want +got):\n%s", seed, leaf, from, to, diff)
				}
				before := 0
				for i := range from {
					if roles[i] == "user" {
						before = i
					}
				}
				if got, err := p.Before(t.Context(), from, "user"); got != before || err != nil {
					t.Errorf("seed %d, leaf %q: Before(%d) = %d, %v, want %d", seed, leaf, from, got, err, before)
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := x.Path(t.Context(), path, "nosuch"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a leaf that is not there: %v", err)
		}
		if err := os.WriteFile(path, []byte(randomTree(seed+100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Path(t.Context(), path, ""); !errors.Is(err, ErrStale) {
			t.Errorf("a file that was written anew: %v", err)
		}
	}
}
