package index

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// longText is a session of 40 turns whose last compaction keeps the last two.
func longText(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":5,"id":"%s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n", id)
	parent := "null"
	for i := range 40 {
		at := time.Date(2026, 1, 1, i, 30, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(&b, `{"type":"message","id":"u%02d","parentId":%s,"timestamp":"%s","message":{"role":"user","content":"prompt number %d"}}`+"\n", i, parent, at, i)
		fmt.Fprintf(&b, `{"type":"message","id":"a%02d","parentId":"u%02d","timestamp":"%s","message":{"role":"assistant","content":[{"type":"image","data":"blob:sha256:%064x"}],"provider":"p","model":"m","usage":{"input":%d,"output":1,"cost":{"total":0.25}}}}`+"\n", i, i, at, i, i)
		fmt.Fprintf(&b, `{"type":"message","id":"t%02d","parentId":"a%02d","timestamp":"%s","message":{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"write","arguments":{"path":"dir/f%d.go"}}]}}`+"\n", i, i, at, i, i%7)
		fmt.Fprintf(&b, `{"type":"message","id":"r%02d","parentId":"t%02d","timestamp":"%s","message":{"role":"toolResult","toolCallId":"c%d","toolName":"write","content":[]}}`+"\n", i, i, at, max(0, i-1))
		parent = fmt.Sprintf(`"r%02d"`, i)
	}
	fmt.Fprintf(&b, `{"type":"entry_patch","entryId":"a03","patch":{"message":{"role":"assistant","content":[],"provider":"p","model":"m","usage":{"input":1000,"output":1,"cost":{"total":0.5}}}}}`+"\n")
	fmt.Fprintf(&b, `{"type":"compaction","id":"c1","parentId":"r39","timestamp":"2026-01-02T20:00:00.000Z","summary":"s","firstKeptEntryId":"u38","tokensBefore":1}`+"\n")
	return b.String()
}

func TestWhatWasArchivedStaysInTheIndex(t *testing.T) {
	zone := time.FixedZone("east", 5*3600+1800)
	home := t.TempDir()
	path := put(t, home, "s/long.jsonl", longText("long0001"))
	x := openAt(t, home, Options{})
	refresh(t, x)
	days := func() []UsageRow {
		t.Helper()
		rows, err := x.Usage(t.Context(), UsageFilter{By: UsageDay, Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	hits := func() []string {
		t.Helper()
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("number")})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, h := range found.Hits {
			texts = append(texts, h.EntryID+" "+h.Text)
		}
		return texts
	}
	touched := func() []jsonl.EffectPath {
		t.Helper()
		checkTouched(t, x, home)
		found, err := x.Touched(t.Context(), "/w/dir")
		if err != nil || len(found.Sessions) != 1 {
			t.Fatal(found, err)
		}
		return found.Sessions[0].Files
	}
	any := func() []string {
		t.Helper()
		all, err := x.scanned(t.Context(), Filter{})
		if err != nil {
			t.Fatal(err)
		}
		found, failed, err := Scan(t.Context(), storage.Disk(storage.Policy{}), all, ParseQuery("number"), ScanOptions{})
		if err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
		var texts []string
		for _, h := range found {
			texts = append(texts, h.EntryID+" "+h.Text)
		}
		return texts
	}
	usage, texts, files, scanned := days(), hits(), touched(), any()
	s := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: scope.HomeAt(home)})
	// A scope of ours: what lies in other directories of the home is not archived.
	in := home + "/elsewhere/long.jsonl"
	if err := os.MkdirAll(home+"/elsewhere", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, []byte(longText("long0001")), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := s.Archive(t.Context(), in, session.ArchiveOptions{})
	if err != nil || a.Moved < 70 {
		t.Fatal(a, err)
	}
	for from, to := range map[string]string{in: path, session.ArchivePath(in): session.ArchivePath(path)} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	refresh(t, x)
	if diff := gocmp.Diff(usage, days()); diff != "" {
		t.Errorf("usage (-before +after):\n%s", diff)
	}
	if diff := gocmp.Diff(texts, hits()); diff != "" || len(texts) != 40 {
		t.Errorf("%d hits (-before +after):\n%s", len(texts), diff)
	}
	if diff := gocmp.Diff(scanned, any()); diff != "" || len(scanned) != 40 {
		t.Errorf("%d texts scanned (-before +after):\n%s", len(scanned), diff)
	}
	if diff := gocmp.Diff(files, touched()); diff != "" || len(files) != 7 {
		t.Errorf("%d changed files (-before +after):\n%s", len(files), diff)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"message","id":"zz","parentId":"c1","timestamp":"2026-01-03T00:00:00.000Z","message":{"role":"assistant","content":[],"usage":{"input":1,"output":1}}}
{"type":"message","id":"zr","parentId":"zz","timestamp":"2026-01-03T00:00:01.000Z","message":{"role":"toolResult","toolCallId":"c39","toolName":"write","content":[]}}
{"type":"entry_patch","entryId":"u05","patch":{"message":{"role":"user","content":"another number"}}}
{"type":"entry_patch","entryId":"t02","patch":{"message":{"role":"assistant","content":[]}}}
`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	refresh(t, x)
	touched()
	if got := any(); len(got) != 40 || !slices.Contains(got, "u05 another number") || slices.Contains(got, "u05 prompt number 5") {
		t.Errorf("texts after a patch of an archived entry: %q", got)
	}
	if got := hits(); len(got) != 40 || !slices.Contains(got, "u05 another number") || slices.Contains(got, "u05 prompt number 5") {
		t.Errorf("prompts after a patch of an archived entry: %q", got)
	}
	checkEqual(t, x)

	// A fork that the original program made has the checkpoint, not the archive.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := days()
	put(t, home, "s/fork.jsonl", strings.Replace(strings.Replace(string(text), "long0001", "fork0001", 1), "2026-01-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z", 1))
	refresh(t, x)
	if diff := gocmp.Diff(before, days()); diff != "" {
		t.Errorf("usage with a fork (-before +after):\n%s", diff)
	}
}
