package main

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/storage"
)

func faultsDir() string {
	if dir := os.Getenv("GJC_FAULTS_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "testdata", "faults")
}

// answer runs the command in this process.
func answer(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), status
}

// objects decodes JSON lines; numbers stay as they are written.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// TestFaults checks each case's expect.json against what verify, list, context
// and search say of its files. A case that is steps has a test of its own, or
// waits for a command that is still to come.
func TestFaults(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(faultsDir(), "*", "case.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("no cases in %s", faultsDir())
	}
	for _, file := range cases {
		dir := filepath.Dir(file)
		ran := false
		if data, err := os.ReadFile(filepath.Join(dir, "expect.json")); err == nil {
			ran = true
			t.Run(filepath.Base(dir), func(t *testing.T) { testExpect(t, dir, data) })
		}
		if data, err := os.ReadFile(filepath.Join(dir, "queries.json")); err == nil {
			ran = true
			t.Run(filepath.Base(dir)+"/queries", func(t *testing.T) { testQueries(t, dir, data) })
		}
		id := filepath.Base(dir)
		if _, steps := stepCases[id]; ran || steps {
			continue
		}
		if os.Getenv("GJC_FAULTS_DIR") == "" {
			t.Errorf("%s has steps, and no test and no reason why not", id)
		} else {
			t.Logf("%s is steps only", id)
		}
	}
}

func testExpect(t *testing.T, dir string, data []byte) {
	var expect map[string]json.RawMessage
	if err := json.Unmarshal(data, &expect); err != nil {
		t.Fatal(err)
	}
	for name, raw := range expect {
		var want map[string]any
		if json.Unmarshal(raw, &want) != nil {
			t.Logf("%s is for a test of its own: %s", name, raw)
			continue // a number about the whole case, not about a file
		}
		path := caseFile(t, dir, name)
		if path == "" {
			t.Run(name, func(t *testing.T) { testFact(t, dir, name, want) })
			continue
		}
		for field := range otherFields[filepath.Base(dir)+"/"+name] {
			delete(want, field)
		}
		t.Run(name, func(t *testing.T) { testFile(t, path, want) })
	}
}

func testFile(t *testing.T, path string, want map[string]any) {
	limit := []string{}
	if n, ok := want["line_limit_bytes"].(float64); ok {
		limit = []string{"--max-line", strconv.Itoa(int(n))}
	}
	out, errs, _ := answer(t, append([]string{"verify", path, "--json"}, limit...)...)
	if errs != "" {
		t.Errorf("verify: stderr %q", errs)
	}
	got := objects(t, out)[0]
	for key, w := range want {
		if g, ok := got[key]; ok {
			if diff := cmp.Diff(w, g); diff != "" {
				t.Errorf("verify: %s (-want +got):\n%s", key, diff)
			}
		} else if !slices.Contains([]string{"context", "context_strict_spec", "leaf", "line_limit_bytes"}, key) {
			t.Logf("nothing checks %s: %v", key, w)
		}
	}
	home := t.TempDir()
	copied := filepath.Join(home, "sessions", "--proj--", filepath.Base(path))
	copyFile(t, path, copied)
	before, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	testListed(t, home, copied, want, limit)
	testContext(t, home, copied, want, limit)
	after, err := os.Stat(copied)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || before.ModTime() != after.ModTime() || before.Mode() != after.Mode() || before.Size() != after.Size() {
		t.Errorf("reading changed %s", name(copied))
	}
}

func name(path string) string { return filepath.Base(path) }

// testListed wants the session in the list with the same facts, or among the
// damaged ones.
func testListed(t *testing.T, home, path string, want map[string]any, limit []string) {
	if want["state"] == "empty" {
		return
	}
	args := append([]string{"list", "--home", home, "--json"}, limit...)
	if want["state"] != "ok" {
		args = append(args, "--damaged")
	}
	out, errs, _ := answer(t, args...)
	rows := objects(t, out)
	if len(rows) != 1 {
		t.Fatalf("%q: %d rows, want 1; stderr %q", args, len(rows), errs)
	}
	row := rows[0]
	if row["path"] != path {
		t.Errorf("%q: path %v, want %s", args, row["path"], path)
	}
	if want["state"] != "ok" {
		if row["damage"] == nil {
			t.Errorf("%q: no damage said", args)
		}
		return
	}
	for _, key := range []string{"id", "cwd", "title", "entries", "messages", "version"} {
		w, ok := want[key]
		if !ok {
			continue
		}
		if diff := cmp.Diff(w, row[key]); diff != "" {
			t.Errorf("list: %s (-want +got):\n%s", key, diff)
		}
	}
	if first, _ := row["firstPrompt"].(string); first != want["first_message"] && !(want["first_message"] == nil && first == "") {
		t.Errorf("list: firstPrompt %q, want %q", first, want["first_message"])
	}
}

func testContext(t *testing.T, home, path string, want map[string]any, limit []string) {
	for key, more := range map[string][]string{"context": nil, "context_strict_spec": {"--strict"}} {
		w, ok := want[key].([]any)
		if !ok {
			continue
		}
		if leaf, ok := want["leaf"].(string); ok {
			more = append(more, "--leaf", leaf)
		}
		args := append(append([]string{"context", path, "--home", home}, limit...), more...)
		out, errs, status := answer(t, args...)
		if status != exitDone && status != exitPart {
			t.Errorf("%q: status %d, stderr %q", args, status, errs)
			continue
		}
		var c struct {
			Messages []map[string]any `json:"messages"`
		}
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for _, m := range c.Messages {
			got = append(got, spoken(m))
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", args, diff)
		}
	}
}

// spoken is a message as the cases write it: "role: text".
func spoken(m map[string]any) string {
	role, _ := m["role"].(string)
	text, _ := m["summary"].(string)
	switch content := m["content"].(type) {
	case string:
		text = content
	case []any:
		var parts []string
		for _, b := range content {
			block, _ := b.(map[string]any)
			if s, ok := block["text"].(string); ok {
				parts = append(parts, s)
			}
		}
		text = strings.Join(parts, " ")
	}
	return role + ": " + text
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// testQueries puts the case's prompts into a history.db and asks each query.
func testQueries(t *testing.T, dir string, data []byte) {
	var queries []struct {
		Query  string `json:"query"`
		Expect []int  `json:"expect_ids"`
	}
	if err := json.Unmarshal(data, &queries); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	texts := fillHistory(t, home, filepath.Join(dir, "prompts.jsonl"))
	for _, q := range queries {
		out, errs, status := answer(t, "search", "--home", home, "--json", "--", q.Query)
		if status != exitDone || errs != "" {
			t.Errorf("search %q: status %d, stderr %q", q.Query, status, errs)
		}
		got := []string{}
		for _, hit := range objects(t, out) {
			got = append(got, hit["text"].(string))
		}
		want := []string{}
		for _, id := range q.Expect {
			want = append(want, texts[id])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("search %q (-want +got):\n%s", q.Query, diff)
		}
	}
}

// fillHistory imports the prompts and gives them by their number in the case.
func fillHistory(t *testing.T, home, path string) map[int]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]string{}
	var prompts []history.Prompt
	for _, o := range objects(t, string(data)) {
		at, err := time.Parse(time.RFC3339, o["created_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		text, cwd := o["prompt"].(string), o["cwd"].(string)
		texts[int(o["id"].(float64))] = text
		prompts = append(prompts, history.Prompt{Text: text, Cwd: &cwd, Time: at})
	}
	ctx := context.Background()
	s, err := history.Open(ctx, storage.Disk(storage.Policy{}), filepath.Join(home, "history.db"), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seq iter.Seq2[history.Prompt, error] = func(yield func(history.Prompt, error) bool) {
		for _, p := range prompts {
			if !yield(p, nil) {
				return
			}
		}
	}
	if _, err := s.Import(ctx, seq); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return texts
}
