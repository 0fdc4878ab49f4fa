package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
)

func resultLine(tool, details string) string {
	if details != "" {
		details = `,"details":` + details
	}
	return `{"type":"message","id":"r","parentId":null,"timestamp":"` + t0 + `","message":{"role":"toolResult","toolCallId":"c","toolName":"` + tool + `","content":[]` + details + `}}`
}

func callLine(tool, arguments string) string {
	return answerLine("a", t0, `,"content":[{"type":"toolCall","id":"c","name":"`+tool+`","arguments":`+arguments+`}]`)
}

const edited = `{"op":"edit","path":"/a.go"}`

func one(ops jsonl.EffectOps) jsonl.ExecutionEffects {
	return jsonl.ExecutionEffects{Paths: []jsonl.EffectPath{{Path: "/a.go", Ops: ops, First: t0, Last: t0}}}
}

func TestEffects(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  jsonl.ExecutionEffects
	}{
		{"a restore erases nothing", []string{resultLine("edit", edited), resultLine("edit", `{"op":"delete","path":"/a.go"}`), resultLine("write", `{"op":"create","path":"/a.go"}`)},
			one(jsonl.EffectOps{Edit: 1, Delete: 1, Create: 1})},
		{"a clean diff erases nothing", []string{resultLine("edit", edited), resultLine("read", `{"diff":""}`)},
			one(jsonl.EffectOps{Edit: 1})},
		{"a summary that says nothing changed erases nothing", []string{resultLine("edit", edited),
			`{"type":"compaction","id":"k","parentId":null,"timestamp":"` + t0 + `","summary":"No files were changed.","firstKeptEntryId":"r","tokensBefore":1,"details":{"modifiedFiles":[]}}`,
			answerLine("b", t0, `,"content":"I changed no file."`)},
			one(jsonl.EffectOps{Edit: 1})},
		{"an applied preview is no evidence", []string{`{"type":"custom","customType":"gjc-index/tool_applied_preview","data":{"v":1,"display":"d","session":"s","parent":"","seq":1,"path":"/a.go","lines":["+x"],"truncated":false},"id":"p","parentId":null,"timestamp":"` + t0 + `"}`},
			jsonl.ExecutionEffects{}},
		{"a shell call proves nothing", []string{resultLine("bash", "")}, jsonl.ExecutionEffects{UnprovenCalls: 1}},
		{"nor does a command that the person ran", []string{`{"type":"message","id":"x","parentId":null,"timestamp":"` + t0 + `","message":{"role":"bashExecution","command":"rm a"}}`},
			jsonl.ExecutionEffects{UnprovenCalls: 1}},
		{"an old result without evidence is incomplete", []string{resultLine("edit", "")}, jsonl.ExecutionEffects{Incomplete: true}},
		{"reading changes nothing", []string{resultLine("read", "")}, jsonl.ExecutionEffects{}},
		{"the call names the path", []string{callLine("write", `{"path":"/a.go"}`), resultLine("write", "")}, one(jsonl.EffectOps{Write: 1})},
		{"a rename touches both paths", []string{resultLine("edit", `{"op":"rename","path":"/a.go","to":"/b.go"}`)},
			jsonl.ExecutionEffects{Paths: []jsonl.EffectPath{
				{Path: "/a.go", Ops: jsonl.EffectOps{Rename: 1}, First: t0, Last: t0},
				{Path: "/b.go", Ops: jsonl.EffectOps{Rename: 1}, First: t0, Last: t0}}}},
		{"a damaged checkpoint is incomplete", []string{`{"type":"custom","customType":"gjc-index/execution_effects","data":{"v":2},"id":"p","parentId":null,"timestamp":"` + t0 + `"}`},
			jsonl.ExecutionEffects{Incomplete: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := FoldEffects(nil, parse(t, tt.lines...))
			if diff := cmp.Diff(tt.want, got.ExecutionEffects); diff != "" {
				t.Errorf("FoldEffects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEffectsAreBounded(t *testing.T) {
	var lines []string
	for i := range maxEffectPaths + 3 {
		lines = append(lines, resultLine("edit", fmt.Sprintf(`{"op":"edit","path":"/f%d"}`, i)))
	}
	lines = append(lines,
		resultLine("edit", `{"op":"edit","path":"/f0"}`), // listed: still counted there
		resultLine("edit", `{"op":"edit","path":"/`+strings.Repeat("x", maxEffectPath)+`"}`))
	x := FoldEffects(nil, parse(t, lines...))
	if len(x.Paths) != maxEffectPaths || x.Overflow != 4 || x.Paths[0].Ops.Edit != 2 {
		t.Errorf("%d paths, overflow %d, first %+v", len(x.Paths), x.Overflow, x.Paths[0])
	}
	again := FoldEffects(nil, []*jsonl.Entry{asEntry(t, x)})
	if diff := cmp.Diff(x.ExecutionEffects, again.ExecutionEffects); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestCallsWithoutResultsAreBounded(t *testing.T) {
	x := &Effects{}
	for i := range maxOpenCalls + 10 {
		x.call(fmt.Sprintf("c%d", i), openCall{"write", "/a"})
	}
	if len(x.order) != maxOpenCalls || len(x.calls) != maxOpenCalls || x.order[0] != "c10" {
		t.Errorf("%d calls, first %s", len(x.order), x.order[0])
	}
}
