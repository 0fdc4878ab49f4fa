package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// branched is a session with branches, labels, a compaction and patches.
func branched() string {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":5,"id":"huge","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p","title":"Huge"}` + "\n")
	entry := func(i int, parent, rest string) {
		fmt.Fprintf(&b, `{%s,"id":"e%d","parentId":%s,"timestamp":"2026-03-01T00:%02d:00.000Z","event_id":"%016x"}`+"\n", rest, i, parent, i%60, i)
	}
	entry(0, "null", `"type":"message","message":{"role":"user","content":"first"}`)
	for i := 1; i < 40; i++ {
		parent := fmt.Sprintf(`"e%d"`, i-1)
		switch {
		case i%9 == 0:
			parent = fmt.Sprintf(`"e%d"`, i/2)
			entry(i, parent, fmt.Sprintf(`"type":"message","message":{"role":"user","content":"branch %d"}`, i))
		case i%7 == 0:
			entry(i, parent, fmt.Sprintf(`"type":"label","targetId":"e%d","label":"label %d"`, i-2, i))
		case i == 20:
			entry(i, parent, `"type":"compaction","summary":"what was","firstKeptEntryId":"e19"`)
		case i == 23:
			entry(i, parent, `"type":"compaction","summary":"again","firstKeptEntryId":"nosuch"`)
		case i == 31:
			entry(i, `"phantom"`, `"type":"message","message":{"role":"user","content":"orphan"}`)
		default:
			entry(i, parent, fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"answer %d"}]}`, i))
		}
		if i == 30 {
			b.WriteString(`{"type":"entry_patch","entryId":"e29","patch":{"message":{"role":"assistant","content":"patched"}}}` + "\n")
		}
	}
	return b.String()
}

func TestHugeSessionsReadAsSmallOnes(t *testing.T) {
	home := makeHome(t, map[string]string{"p/huge.jsonl": branched()})
	ask := func(huge int64, args ...string) (string, int) {
		var out, errs bytes.Buffer
		a := newApp(strings.NewReader(""), &out, &errs)
		a.huge = huge
		status := a.run(context.Background(), append(args, "--home", home))
		return out.String() + "---\n" + errs.String(), status
	}
	for _, args := range [][]string{
		{"show", "huge"}, {"show", "huge", "--json"}, {"show", "huge", "--all-branches", "--json"}, {"show", "huge", "--from", "3", "--to", "5"},
		{"show", "huge", "--branch", "e29"}, {"show", "huge", "--entry", "e29", "--json"}, {"show", "huge", "--entry", "nosuch"},
		{"tree", "huge"}, {"tree", "huge", "--json"}, {"tree", "huge", "--strict"},
	} {
		want, wantStatus := ask(hugeFile, args...)
		got, status := ask(0, args...)
		if diff := cmp.Diff(want, got); diff != "" || status != wantStatus {
			t.Errorf("%q: status %d, want %d (-want +got):\n%s", args, status, wantStatus, diff)
		}
		if strings.Contains(got, "event_id") {
			t.Errorf("%q prints an event id", args)
		}
	}
	opened := strings.Count(fmt.Sprint(runOpened(t, home)), "huge.jsonl")
	if opened == 0 {
		t.Error("the session was not read by its lines")
	}
}

// runOpened gives how often files were opened to show two entries by lines.
func runOpened(t *testing.T, home string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &errs)
	h := &hooked{FS: a.fsys}
	a.fsys, a.huge = h, 0
	if status := a.run(context.Background(), []string{"show", "huge", "--from", "3", "--to", "4", "--home", home}); status != exitDone {
		t.Fatalf("show: status %d, stderr %q", status, errs.String())
	}
	return h.opened
}
