package jsonl

import (
	"strings"
	"testing"
)

func TestInspectIsStrict(t *testing.T) {
	user, answer := msg("a", "", "user", "q"), msg("b", "a", "assistant", "x")
	entry := func(kind, rest string) string {
		return `{"type":"` + kind + `","id":"k","parentId":null,"timestamp":"t"` + rest + `}` + "\n"
	}
	tests := []struct {
		name, in string
		want     Verdict
		tail     bool
	}{
		{"an answer last", head + user + answer, Terminal, false},
		{"a prompt last", head + user, Resumable, false},
		{"no message", head, Terminal, false},
		{"empty lines and CRLF", "\n" + strings.ReplaceAll(head, "\n", "\r\n") + "\r\n" + user, Resumable, false},
		{"a byte order mark", "\xef\xbb\xbf" + head + user, Resumable, false},
		{"white space alone on a line", head + " \n" + user, Malformed, false},
		{"a torn tail", head + user + `{"type":"mess`, Malformed, true},
		{"a torn tail with a line end", head + user + "{\"type\":\"mess\n\n", Malformed, true},
		{"a last record of the wrong shape", head + user + entry("label", ""), Malformed, true},
		{"a null tail", head + user + "null\n", Malformed, true},
		{"two faults", head + "x\n" + user + "y", Malformed, false},
		{"broken UTF-8", head + strings.Replace(user, "q", "\xff", 1) + answer, Malformed, false},
		{"two records on a line", head + strings.TrimSpace(user) + answer, Malformed, true},
		{"a value over lines", head + "{\n" + user[1:], Malformed, false},
		{"only a header without cwd", `{"type":"session","version":5,"id":"s","timestamp":"t"}`, Malformed, false},
		{"a second header", head + head + user, Resumable, false},
		{"empty", "", Malformed, false},
		{"an unknown type", head + user + entry("news", ""), Terminal, false},
		{"an unknown type without id", head + `{"type":"news","parentId":null,"timestamp":"t"}` + "\n" + user, Malformed, false},
		{"a label cleared", head + entry("label", `,"targetId":"x"`), Terminal, false},
		{"a label that is a number", head + entry("label", `,"targetId":"x","label":1`) + user, Malformed, false},
		{"the old model shape", head + entry("model_change", `,"provider":"p","modelId":"m"`), Terminal, false},
		{"a model without a name", head + entry("model_change", `,"provider":"p"`) + user, Malformed, false},
		{"a compaction", head + entry("compaction", `,"summary":"s","firstKeptEntryId":"x","tokensBefore":1`), Resumable, false},
		{"a compaction without count", head + entry("compaction", `,"summary":"s","firstKeptEntryId":"x"`) + user, Malformed, false},
		{"a custom message", head + entry("custom_message", `,"customType":"c","content":[],"display":true`), Resumable, false},
		{"tools", head + entry("mcp_tool_selection", `,"selectedToolNames":["a"]`), Terminal, false},
		{"tools that are numbers", head + entry("mcp_tool_selection", `,"selectedToolNames":[1]`) + user, Malformed, false},
		{"thinking without a level", head + entry("thinking_level_change", ""), Terminal, false},
		{"a tier without a value", head + entry("service_tier_change", "") + user, Malformed, false},
		{"a chain", head + entry("configured_model_chain", `,"role":"r","entries":["","m"]`), Terminal, false},
		{"a chain of nothing", head + entry("configured_model_chain", `,"role":"r","entries":[""]`) + user, Malformed, false},
		{"version 1", `{"type":"session","id":"s","cwd":"/","timestamp":"t"}` + "\n" + `{"type":"message","timestamp":"t","message":{"role":"user","content":"x"}}`, Resumable, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := InspectBytes(t.Context(), []byte(tt.in), LoadOptions{})
			if in.Verdict != tt.want || in.OnlyTail != tt.tail {
				t.Errorf("InspectBytes(%q) = %s, only tail %v (%v), want %s, %v", tt.in, in.Verdict, in.OnlyTail, in.Cause, tt.want, tt.tail)
			}
			if (in.Transcript != nil) != (in.Verdict.Openable() || in.OnlyTail) {
				t.Errorf("InspectBytes(%q) with %s has transcript %v", tt.in, in.Verdict, in.Transcript)
			}
		})
	}
}

func TestInspectWarnsOfUnknownTypes(t *testing.T) {
	in := InspectBytes(t.Context(), []byte(head+msg("a", "", "user", "q")+`{"type":"news","id":"n","parentId":"a","timestamp":"t"}`), LoadOptions{})
	if len(in.Warnings) != 1 || in.Warnings[0] != (Warning{Line: 3, Kind: UnknownType}) {
		t.Errorf("InspectBytes warns %v, want line 3 of an unknown type", in.Warnings)
	}
}
