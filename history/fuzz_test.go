package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func FuzzSearchIsNeverAnError(f *testing.F) {
	s := open(f, f.TempDir(), Options{})
	for _, text := range []string{
		"multi-agent", "don't", "TODO: fix", "2*3", "C++ AND NOT", "a(b)c", "100% sure_thing", "설정 파일", "café İzmir ΟΔΟΣ", "x\x00y",
	} {
		must(f, s.Add(text, nil))
	}
	must(f, s.Flush(f.Context()))
	for _, q := range []string{
		"", " ", `"`, "*", "NEAR(", "^run", "'; DROP TABLE history; --", "a:b", "-", "AND", `"hi there"`, "\x00", "\xff", "İΣ", "설",
		"{prompt} : x", "a" + strings.Repeat(" b", 3), "٣ ² ⅷ", "𞤀𐐀", "͏",
	} {
		f.Add(q, 5)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got, err := s.Search(t.Context(), Query{Text: text, Limit: limit})
		if err != nil || len(got) > max(limit, 0) {
			t.Errorf("Search(%q, %d) = %d rows, %v", text, limit, len(got), err)
		}
	})
}

func TestHugeQueriesAreNoError(t *testing.T) {
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	word := strings.Repeat("x", 60_000)
	s := open(t, t.TempDir(), Options{})
	must(t, s.Add(many.String(), nil))
	must(t, s.Add("a "+word+" b", nil))
	must(t, s.Flush(t.Context()))
	tests := []struct {
		name, query string
		n           int
	}{
		{"thousands of words", many.String(), 1},
		{"thousands of words and one that is nowhere", many.String() + " nowhere", 0},
		{"parts of words", strings.ReplaceAll(many.String(), "w", ""), 1},
		{"a word of 60 KB", strings.ToUpper(word), 1},
		{"one of 60 KB, of which FTS5 looks at 32 KB", word + "y", 1},
		{"one of 60 KB that is nowhere", "y" + word, 0},
		{"a part of 55 KB", word[:55_000], 1},
		{"the same word very often", strings.Repeat("a ", 100_000), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := found(t, s, tt.query); len(got) != tt.n {
				t.Errorf("found %d, want %d", len(got), tt.n)
			}
		})
	}
}

// TestFaultCases brings in the prompts of the fault cases that have some: they
// come back byte for byte, and no query is an error.
func TestFaultCases(t *testing.T) {
	base := filepath.Join("..", "testdata", "faults")
	if dir := os.Getenv("GJC_FAULTS_DIR"); dir != "" {
		base = dir
	}
	names, err := filepath.Glob(filepath.Join(base, "*", "prompts.jsonl"))
	must(t, err)
	for _, name := range names {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			s := open(t, t.TempDir(), Options{})
			var want []string
			var prompts []Prompt
			data, err := os.ReadFile(name)
			must(t, err)
			lines := bufio.NewScanner(bytes.NewReader(data))
			lines.Buffer(nil, 16<<20)
			for lines.Scan() {
				var p struct {
					Prompt, Cwd string
					At          time.Time `json:"created_at"`
				}
				must(t, json.Unmarshal(lines.Bytes(), &p))
				want = append(want, p.Prompt)
				prompts = append(prompts, Prompt{Text: p.Prompt, Cwd: &p.Cwd, Time: p.At})
			}
			must(t, lines.Err())
			_, err = s.Import(t.Context(), given(prompts...))
			must(t, err)
			if diff := cmp.Diff(want, texts(t, s)); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
			var queries []struct{ Query string }
			data, err = os.ReadFile(filepath.Join(filepath.Dir(name), "queries.json"))
			must(t, err)
			must(t, json.Unmarshal(data, &queries))
			for _, q := range queries {
				found(t, s, q.Query)
			}
			inStep(t, s)
		})
	}
}
