package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/session/export"
)

func TestB110ExportsAreRedactedAndEscaped(t *testing.T) {
	const token = "sk-test-EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0"
	home := makeHome(t, map[string]string{"p/e.jsonl": readFile(t, filepath.Join(faultsDir(), "B110", "session.jsonl"))})
	artifact := filepath.Join(home, "sessions", "p", "e", token+".txt")
	if err := os.MkdirAll(filepath.Dir(artifact), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(artifact, []byte("in a file: "+token), 0o600); err != nil {
		t.Fatal(err)
	}
	exported := func(f export.Format, flags ...string) string {
		out := filepath.Join(t.TempDir(), "out"+f.Extension())
		args := append([]string{"export", "exp00001", "--home", home, "--format", string(f), "--out", out}, flags...)
		if _, errs, status := answer(t, args...); status != exitDone {
			t.Fatalf("%v: status %d, stderr %q", args, status, errs)
		}
		text := readFile(t, out)
		if f == export.Archive {
			z, err := zstd.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			var all bytes.Buffer
			if _, err := io.Copy(&all, z); err != nil {
				t.Fatal(err)
			}
			text = all.String()
		}
		return text
	}
	for _, f := range export.Formats() {
		var flags []string
		if !f.Whole() {
			flags = append(flags, "--all-branches")
		}
		if strings.Contains(exported(f, flags...), token) {
			t.Errorf("%s has the token", f)
		}
		if !strings.Contains(exported(f, append(flags, "--no-redact")...), token) {
			t.Errorf("%s without redaction lacks the token", f)
		}
	}
	page := exported(export.HTML, "--all-branches")
	if !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "<script>alert") {
		t.Error("html is not escaped")
	}
	for flag, shown := range map[string]string{"--all-branches": "all branches, 4 entries", "--no-redact": "ends at entry e4, 2 of 4 entries"} {
		for _, f := range []export.Format{export.HTML, export.Markdown, export.Text, export.JSON} {
			if !strings.Contains(exported(f, flag), shown) {
				t.Errorf("%s %s does not say %q", f, flag, shown)
			}
		}
	}
}

func TestAnInterruptedExportLeavesNothing(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 500)})
	for _, f := range export.Formats() {
		dir := t.TempDir()
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		ctx := &endingContext{Context: t.Context(), calls: 40}
		status := a.run(ctx, []string{"export", "a", "--home", home, "--format", string(f), "--out", filepath.Join(dir, "out"+f.Extension())})
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if status == exitDone && len(names) != 1 || status != exitDone && len(names) != 0 {
			t.Errorf("%s: status %d and %d files", f, status, len(names))
		}
	}
}

// endingContext is one that ends once it was looked at so often.
type endingContext struct {
	context.Context
	calls int
	mu    sync.Mutex
}

// Err counts.
func (c *endingContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls < 0 {
		return context.Canceled
	}
	return nil
}

// A session that is read line by line comes out as one that is loaded whole.
func TestHugeSessionsAreExportedAlike(t *testing.T) {
	home := makeHome(t, map[string]string{"p/e.jsonl": readFile(t, filepath.Join(faultsDir(), "B110", "session.jsonl"))})
	for _, f := range []export.Format{export.HTML, export.Markdown, export.Text, export.JSON} {
		for _, flag := range []string{"--all-branches", "--leaf=e3"} {
			var outs [2]string
			for i, huge := range []int64{hugeFile, 1} {
				var out bytes.Buffer
				a := newApp(strings.NewReader(""), &out, io.Discard)
				a.huge = huge
				if status := a.run(t.Context(), []string{"export", "exp00001", "--home", home, "--format", string(f), "--out", "-", flag}); status != exitDone {
					t.Fatalf("%s %s: status %d", f, flag, status)
				}
				outs[i] = out.String()
			}
			if diff := cmp.Diff(outs[0], outs[1]); diff != "" {
				t.Errorf("%s %s (-whole +by lines):\n%s", f, flag, diff)
			}
		}
	}
}
