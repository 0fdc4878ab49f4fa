package jsonl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolResultDecodesWhatItFinds(t *testing.T) {
	tests := []struct {
		name, message string
		ok            bool
		want          ToolResult
	}{
		{
			name:    "blocks",
			message: `{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}],"isError":true}`,
			ok:      true, want: ToolResult{CallID: "c", Tool: "read", IsError: true, Text: "a\nb", Images: 1},
		},
		{name: "text", message: `{"role":"toolResult","content":"plain"}`, ok: true, want: ToolResult{Text: "plain"}},
		{name: "wrong kinds", message: `{"role":"toolResult","toolName":5,"content":{"a":1},"isError":"yes"}`, ok: true},
		{name: "another role", message: `{"role":"user","content":"x"}`},
		{name: "no object", message: `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ParseString(tt.message)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ToolResultOf(v)
			if ok != tt.ok {
				t.Fatalf("ToolResultOf ok = %v, want %v", ok, tt.ok)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Value{})); diff != "" {
				t.Errorf("ToolResultOf (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolResultChanges(t *testing.T) {
	tests := []struct {
		name, result, args string
		want               []FileChange
		evidence           Evidence
	}{
		{
			name:   "a list of changes",
			result: `{"toolName":"any","details":{"mutations":[{"op":"create","path":"a"},{"op":"rename","path":"b","to":"c"},{"op":"guess","path":"d"}]}}`,
			want:   []FileChange{{FileCreate, "a", ""}, {FileRename, "b", "c"}}, evidence: EvidenceChanges,
		},
		{
			name:   "changes by file, one of which failed",
			result: `{"toolName":"edit","isError":true,"details":{"perFileResults":[{"path":"a","op":"update","diff":"+1"},{"path":"b","op":"delete"},{"path":"c","op":"update","isError":true}]}}`,
			want:   []FileChange{{FileEdit, "a", ""}, {FileDelete, "b", ""}}, evidence: EvidenceChanges,
		},
		{
			name: "a diff and the call's path", args: `{"path":"p"}`,
			result: `{"toolName":"edit","details":{"diff":"+1 x"}}`,
			want:   []FileChange{{FileEdit, "p", ""}}, evidence: EvidenceChanges,
		},
		{
			name: "a write", args: `{"path":"p","content":"x"}`, result: `{"toolName":"write"}`,
			want: []FileChange{{FileWrite, "p", ""}}, evidence: EvidenceChanges,
		},
		{name: "a write that failed", args: `{"path":"p"}`, result: `{"toolName":"write","isError":true}`, evidence: EvidenceMissing},
		{name: "an edit without evidence", args: `{"path":"p"}`, result: `{"toolName":"edit"}`, evidence: EvidenceMissing},
		{name: "a clean diff", args: `{"path":"p"}`, result: `{"toolName":"edit","details":{"diff":""}}`, evidence: EvidenceMissing},
		{name: "a shell", args: `{"command":"echo x > p"}`, result: `{"toolName":"bash","details":{"exitCode":0}}`, evidence: EvidenceUnproven},
		{name: "a reader", args: `{"path":"p"}`, result: `{"toolName":"read"}`, evidence: EvidenceHarmless},
		{name: "an unknown tool", result: `{"toolName":"server.tool"}`, evidence: EvidenceMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ParseString(tt.result)
			if err != nil {
				t.Fatal(err)
			}
			v.Obj().Set("role", StringValue("toolResult"))
			r, _ := ToolResultOf(v)
			var call *ToolCall
			if tt.args != "" {
				args, err := ParseString(tt.args)
				if err != nil {
					t.Fatal(err)
				}
				call = &ToolCall{Name: r.Tool, Arguments: args}
			}
			got, evidence := r.Changes(call)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Changes (-want +got):\n%s", diff)
			}
			if evidence != tt.evidence {
				t.Errorf("Changes evidence = %v, want %v", evidence, tt.evidence)
			}
		})
	}
}

func TestSubagentsOfADelegation(t *testing.T) {
	e := parseEntries(t, `{"type":"message","message":{"role":"toolResult","toolName":"task","content":[],"details":{"displayId":"d1","results":[
		{"id":"s1","agent":"scout","task":"look","output":"found","exitCode":0,"durationMs":12,"outputPath":"/o.md"},
		{"output":"of nobody"},
		{"agent":"smith","error":"broke","exitCode":1,"aborted":true}]}}}`)[0]
	r, ok := e.ToolResult()
	if !ok {
		t.Fatal("ToolResult of a tool result: not ok")
	}
	want := []SubagentResult{
		{ID: "s1", Agent: "scout", Task: "look", Output: "found", DurationMS: 12, OutputPath: "/o.md"},
		{Agent: "smith", Error: "broke", ExitCode: 1, Aborted: true},
	}
	if diff := cmp.Diff(want, r.Subagents(), cmp.AllowUnexported(Value{})); diff != "" {
		t.Errorf("Subagents (-want +got):\n%s", diff)
	}
	if got := r.DisplayID(); got != "d1" {
		t.Errorf("DisplayID() = %q, want d1", got)
	}
}

func TestToolCallsOfAnAnswer(t *testing.T) {
	v, err := ParseString(`{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"p"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	calls := ToolCallsOf(v)
	if len(calls) != 1 || calls[0].ID != "c1" || calls[0].Name != "read" || calls[0].Arguments.Get("path").Str() != "p" {
		t.Errorf("ToolCallsOf = %+v, want the one call of read", calls)
	}
}
