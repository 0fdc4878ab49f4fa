package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// One session that can't be archived stops no other.
func TestArchivingOldSessionsGoesOnPastOnesThatCannotBe(t *testing.T) {
	text := func(id, version string) string {
		return `{"type":"session","version":` + version + `,"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}
{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"before"}}
{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"kept"}}
{"type":"compaction","id":"c1","parentId":"m2","timestamp":"2026-01-01T00:00:00.000Z","summary":"sum","firstKeptEntryId":"m2","tokensBefore":1}
`
	}
	home := makeHome(t, map[string]string{"--p--/a.jsonl": text("old-a", "1"), "--p--/b.jsonl": text("old-b", "3")})
	dir := filepath.Join(home, "sessions", "--p--")
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, status := answer(t, "archive", "--older-than", "1h", "--session-dir", dir)
	if status != exitPart || strings.Count(errs, "left out") != 1 || !strings.Contains(out, "old-b  archived") {
		t.Errorf("archive --older-than: status %d, stdout %q, stderr %q; want 3, b archived, a left out", status, out, errs)
	}
}
