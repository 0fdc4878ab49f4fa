package jsonl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resumedWith is the context of a session that recorded selections.
func resumedWith(t *testing.T, texts ...string) *Context {
	t.Helper()
	return BuildContext(parseEntries(t, texts...))
}

// Each row is one sentence of "Discovery selection authority"; in brackets
// what the row adds where the sentence says several things.
func TestInitialSelection(t *testing.T) {
	domainOf := func(name string) ToolDomain {
		switch {
		case strings.Contains(name, "."):
			return ToolMCP
		case name == "read" || name == "edit":
			return ToolEssential
		}
		return ToolBuiltin
	}
	setup := ToolSetup{DomainOf: domainOf, MCP: []string{"conf.tool"}, Builtin: []string{"base"}}
	chosen := func(names ...string) ToolSelection {
		return ToolSelection{Names: names, Authoritative: true, Persist: true}
	}
	kept := func(names ...string) ToolSelection { return ToolSelection{Names: names, Authoritative: true} }
	stands := func(names ...string) ToolSelection { return ToolSelection{Names: names} }
	tests := []struct {
		name    string
		names   []string
		resumed *Context
		want    InitialTools
	}{
		{
			name:  "MCP and discovered built-in authority are independent",
			names: []string{"srv.a", "grep"},
			want:  InitialTools{MCP: chosen("srv.a"), Builtin: chosen("grep")},
		},
		{
			name:  "toolNames establishes authority only for the domain it names",
			names: []string{"srv.a"},
			want:  InitialTools{MCP: chosen("srv.a"), Builtin: stands("base")},
		},
		{
			name:  "essential built-ins never become discovered-built-in authority",
			names: []string{"read", "edit"},
			want:  InitialTools{MCP: stands("conf.tool"), Builtin: stands("base")},
		},
		{
			name:  "essential built-ins never become discovered-built-in authority [beside one that does]",
			names: []string{"read", "grep"},
			want:  InitialTools{MCP: stands("conf.tool"), Builtin: chosen("grep")},
		},
		{
			name:  "only non-essential built-ins does not suppress MCP defaults",
			names: []string{"grep", "find"},
			want:  InitialTools{MCP: stands("conf.tool"), Builtin: chosen("grep", "find")},
		},
		{
			name:  "only MCP tools does not suppress built-in baselines",
			names: []string{"srv.a", "srv.b"},
			want:  InitialTools{MCP: chosen("srv.a", "srv.b"), Builtin: stands("base")},
		},
		{
			name:  "an explicit empty list clears both applicable domains",
			names: []string{},
			want:  InitialTools{MCP: chosen(), Builtin: chosen()},
		},
		{
			name: "omitted selections and baselines are not authoritative and are not persisted",
			want: InitialTools{MCP: stands("conf.tool"), Builtin: stands("base")},
		},
		{
			name: "resume reconstructs state without appending authority entries",
			resumed: resumedWith(t,
				`{"type":"mcp_tool_selection","selectedToolNames":["old.a"]}`,
				`{"type":"discovered_builtin_tool_selection","selectedToolNames":[]}`),
			want: InitialTools{MCP: kept("old.a"), Builtin: kept()},
		},
		{
			name:    "resume reconstructs state [nothing was selected]",
			resumed: resumedWith(t, userOne),
			want:    InitialTools{MCP: stands("conf.tool"), Builtin: stands("base")},
		},
		{
			name:    "resume reconstructs state [names of the constructor are not appended]",
			names:   []string{"srv.a", "grep"},
			resumed: resumedWith(t, `{"type":"mcp_tool_selection","selectedToolNames":["old.a"]}`),
			want:    InitialTools{MCP: kept("old.a"), Builtin: kept("grep")},
		},
		{
			name: "the combined field of version 4 remains readable",
			resumed: resumedWith(t,
				`{"type":"mcp_tool_selection","selectedToolNames":["old.a"],"selectedDiscoveredBuiltinToolNames":["grep"]}`),
			want: InitialTools{MCP: kept("old.a"), Builtin: kept("grep")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := setup
			s.Names, s.Resumed = tt.names, tt.resumed
			if diff := cmp.Diff(tt.want, InitialSelection(s)); diff != "" {
				t.Errorf("InitialSelection (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a domain that does not apply has no selection", func(t *testing.T) {
		s := setup
		s.Names, s.NoMCP = []string{}, true
		if diff := cmp.Diff(InitialTools{Builtin: chosen()}, InitialSelection(s)); diff != "" {
			t.Errorf("InitialSelection (-want +got):\n%s", diff)
		}
	})
}

func TestSelectionEntries(t *testing.T) {
	setup := ToolSetup{DomainOf: func(string) ToolDomain { return ToolBuiltin }, MCP: []string{"conf.tool"}}
	named, cleared := setup, setup
	named.Names, cleared.Names = []string{"grep"}, []string{}
	resumed := named
	resumed.Resumed = BuildContext(nil)
	tests := []struct {
		name string
		make func(next func() Base) []*Obj
		want []string
	}{
		{
			name: "explicit names are persisted for their domain alone",
			make: func(next func() Base) []*Obj { return InitialSelection(named).Entries("", next) },
			want: []string{`{"type":"discovered_builtin_tool_selection","id":"1","parentId":null,"timestamp":"t","selectedToolNames":["grep"]}`},
		},
		{
			name: "an explicit empty list is persisted as separate domain entries",
			make: func(next func() Base) []*Obj { return InitialSelection(cleared).Entries("", next) },
			want: []string{
				`{"type":"mcp_tool_selection","id":"1","parentId":null,"timestamp":"t","selectedToolNames":[]}`,
				`{"type":"discovered_builtin_tool_selection","id":"11","parentId":"1","timestamp":"t","selectedToolNames":[]}`,
			},
		},
		{
			name: "resume appends nothing",
			make: func(next func() Base) []*Obj { return InitialSelection(resumed).Entries("", next) },
		},
		{
			name: "a combined activation appends MCP first, both with one correlation id",
			make: func(next func() Base) []*Obj { return SelectTools([]string{"a.b"}, []string{"grep"}, "c-1", next) },
			want: []string{
				`{"type":"mcp_tool_selection","id":"1","parentId":null,"timestamp":"t","selectedToolNames":["a.b"],"mutationCorrelationId":"c-1"}`,
				`{"type":"discovered_builtin_tool_selection","id":"11","parentId":"1","timestamp":"t","selectedToolNames":["grep"],"mutationCorrelationId":"c-1"}`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := Base{Timestamp: "t"}
			var got []string
			for _, o := range tt.make(func() Base {
				b.Parent, b.ID = b.ID, b.ID+"1"
				return b
			}) {
				got = append(got, ObjectValue(o).JSON())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
