package jsonl

// ToolDomain says who has authority over a tool.
type ToolDomain uint8

// The domains of tools. An essential tool is always there: no selection is
// about it.
const (
	ToolEssential ToolDomain = iota
	ToolBuiltin              // discovered built-in tools
	ToolMCP                  // tools of MCP servers
)

// ToolSetup is what is known of a session's tools when it is opened.
type ToolSetup struct {
	Names     []string                     // the tools asked for by name; nil if nobody asked, empty to ask for none
	DomainOf  func(name string) ToolDomain // of each of Names; needed only if there are any
	MCP       []string                     // the configured or exactly named MCP tools that stand in where nobody chose
	Builtin   []string                     // the same for discovered built-in tools
	NoMCP     bool                         // the session can have no MCP tools
	NoBuiltin bool                         // the session can have no discovered built-in tools
	Resumed   *Context                     // the context of a session that exists; nil for a new one
}

// ToolSelection is what one domain starts with.
type ToolSelection struct {
	Names         []string
	Authoritative bool // chosen, and not stood in for
	Persist       bool // to be recorded as an entry of its own
}

// InitialTools is what both domains start with.
type InitialTools struct {
	MCP, Builtin ToolSelection
}

// InitialSelection decides what tools a session starts with. Each domain is
// decided alone: names of the one say nothing about the other. Source:
// session-storage, "Discovery selection authority".
func InitialSelection(s ToolSetup) InitialTools {
	mcp := domain{kind: ToolMCP, stand: s.MCP, never: s.NoMCP}
	builtin := domain{kind: ToolBuiltin, stand: s.Builtin, never: s.NoBuiltin}
	if c := s.Resumed; c != nil {
		if c.HasMCPSelection {
			mcp.stored, mcp.has = stringsOf(c.MCPTools), true
		}
		if c.HasBuiltinSelection {
			builtin.stored, builtin.has = stringsOf(c.BuiltinTools.Items()), true
		}
	}
	return InitialTools{MCP: mcp.decide(&s), Builtin: builtin.decide(&s)}
}

type domain struct {
	kind   ToolDomain
	stand  []string
	stored []string
	has    bool // stored is what an earlier choice left
	never  bool
}

func (d *domain) decide(s *ToolSetup) ToolSelection {
	if d.never {
		return ToolSelection{}
	}
	if d.has {
		return ToolSelection{Names: d.stored, Authoritative: true}
	}
	var named []string
	for _, name := range s.Names {
		if s.DomainOf(name) == d.kind {
			named = append(named, name)
		}
	}
	if len(named) > 0 || (s.Names != nil && len(s.Names) == 0) {
		return ToolSelection{Names: named, Authoritative: true, Persist: s.Resumed == nil}
	}
	return ToolSelection{Names: d.stand}
}

// Entries makes the entries that record the selection: none, one or two, the
// MCP entry first. next gives the base of each in turn; correlation ties two
// of one change together and is "" where nothing is to be tied.
func (t InitialTools) Entries(correlation string, next func() Base) []*Obj {
	var entries []*Obj
	if t.MCP.Persist {
		entries = append(entries, MCPSelectionEntry(next(), t.MCP.Names, correlation))
	}
	if t.Builtin.Persist {
		entries = append(entries, BuiltinSelectionEntry(next(), t.Builtin.Names, correlation))
	}
	return entries
}

// SelectTools makes the two entries of a change in both domains: the MCP entry
// first, both with the same correlation.
func SelectTools(mcp, builtin []string, correlation string, next func() Base) []*Obj {
	return InitialTools{
		MCP:     ToolSelection{Names: mcp, Persist: true},
		Builtin: ToolSelection{Names: builtin, Persist: true},
	}.Entries(correlation, next)
}

// stringsOf are the strings among values.
func stringsOf(values []Value) []string {
	var out []string
	for _, v := range values {
		if v.Is(String) {
			out = append(out, v.Str())
		}
	}
	return out
}
