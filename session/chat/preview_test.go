package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
)

func TestPreviews(t *testing.T) {
	preview := func(change func(p *jsonl.AppliedPreview)) string {
		p := &jsonl.AppliedPreview{Display: "d1", Session: "s", Seq: 1, Path: "/a.go", Lines: []string{"-x", "+y"}}
		change(p)
		return custom(p)
	}
	same := func(*jsonl.AppliedPreview) {}
	good := preview(same)
	res := result("c", `{"displayId":"d1","seq":1}`)
	lost := &Preview{}
	shown := &Preview{Available: true, Path: "/a.go", Lines: []string{"-x", "+y"}}
	tests := []struct {
		name  string
		lines []string // after the call
		want  *Preview
	}{
		{"none", []string{res}, nil},
		{"joined", []string{res, good}, shown},
		{"joined, others between", []string{res, said("user", "a"), said("assistant", "b"), good}, shown},
		{"a result that counts none", []string{result("c", `{"displayId":"d1"}`), good}, shown},
		{"twice", []string{res, good, good}, lost},
		{"two numbers, and the result counts none", []string{result("c", `{"displayId":"d1"}`), good, preview(func(p *jsonl.AppliedPreview) { p.Seq = 2 })}, lost},
		{"two results of one display", []string{res, result("c2", `{"displayId":"d1","seq":1}`), good}, lost},
		{"before its result", []string{good, res}, lost},
		{"of another display", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Display = "d2" })}, nil},
		{"of another session", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Session = "t" })}, lost},
		{"of another parent", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Parent = "p" })}, lost},
		{"of another number", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Seq = 2 })}, lost},
		{"a result of another session", []string{result("c", `{"displayId":"d1","seq":1,"session":"t"}`), preview(func(p *jsonl.AppliedPreview) { p.Session = "t" })}, lost},
		{"malformed", []string{res, strings.Replace(good, `"truncated":false`, `"truncated":1`, 1)}, lost},
		{"malformed beside a good one", []string{res, good, strings.Replace(good, `"v":1`, `"v":2`, 1)}, lost},
		{"with an escape sequence", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = []string{"\x1b[31m"} })}, lost},
		{"with a line break", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = []string{"a\nb"} })}, lost},
		{"at the bound", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = []string{strings.Repeat("x", MaxPreview-6)} })},
			&Preview{Available: true, Path: "/a.go", Lines: []string{strings.Repeat("x", MaxPreview-6)}}},
		{"past the bound", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = []string{strings.Repeat("x", MaxPreview-5)} })}, lost},
		{"a secret over two lines", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = []string{"a SEC", "RET b"} })},
			&Preview{Available: true, Path: "/a.go", Lines: []string{"a ***", "*** b"}}},
		{"no lines", []string{res, preview(func(p *jsonl.AppliedPreview) { p.Lines = nil })}, &Preview{Available: true, Path: "/a.go", Lines: []string{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := Project(parse(t, append([]string{calls("c", "edit", `{"path":"/a.go"}`)}, tt.lines...)...), Options{Session: "s", Redact: stars})
			tool := items[0].Tool
			if diff := cmp.Diff(tt.want, tool.Preview); diff != "" {
				t.Errorf("Preview (-want +got):\n%s", diff)
			}
			if tool.State != Done {
				t.Errorf("state %s: a preview is no evidence", tool.State)
			}
		})
	}
}

func TestTheOldestPreviewsBecomeUnavailable(t *testing.T) {
	var lines []string
	size := MaxPreview - 10
	n := MaxAllPreviews/(size+6) + 2
	for i := range n {
		call, display := fmt.Sprintf("c%d", i), fmt.Sprintf("d%d", i)
		lines = append(lines, calls(call, "edit", `{}`), result(call, fmt.Sprintf(`{"displayId":%q}`, display)),
			custom(&jsonl.AppliedPreview{Display: display, Session: "s", Path: "/a.go", Lines: []string{strings.Repeat("x", size)}}))
	}
	items := Project(parse(t, lines...), Options{Session: "s"})
	for i, item := range items {
		if want := i >= 2; item.Tool.Preview.Available != want {
			t.Errorf("preview %d of %d: available %v, want %v", i, n, !want, want)
		}
	}
}

func TestNewPreview(t *testing.T) {
	key := jsonl.AppliedPreview{Display: "d", Session: "s", Seq: 3, Path: "/a\x1b.go"}
	p := NewPreview(key, "a SEC\nRET b\n\tc\x07\n", stars)
	want := &jsonl.AppliedPreview{Display: "d", Session: "s", Seq: 3, Path: "/a.go", Lines: []string{"a ***", "*** b", "\tc"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("NewPreview (-want +got):\n%s", diff)
	}
	long := NewPreview(key, strings.Repeat("0123456789\n", 10000), nil)
	if !long.Truncated || previewSize(long) > MaxPreview || len(long.Lines) < 5000 {
		t.Errorf("truncated %v, %d bytes, %d lines", long.Truncated, previewSize(long), len(long.Lines))
	}
	var ps previews
	ps.result("d")
	ps.add(long, jsonl.ObjectValue(long.Data()))
	if !ps.find(displayKey{display: "d", session: "s", seq: 3}, 0, &Options{Session: "s"}).Available {
		t.Error("what NewPreview makes is not available")
	}
}
