package jsonl

import "strings"

// This file has the decoded shapes of what tools and subagents answer. It
// reads whatever it finds and runs nothing: a property that is missing or of
// another kind is as if it were empty.

// ToolCall is a toolCall block of an answer.
type ToolCall struct {
	ID        string
	Name      string
	Arguments Value
}

// ToolCallsOf are the tool calls of a message, in order.
func ToolCallsOf(message Value) []ToolCall {
	var calls []ToolCall
	for _, block := range message.Get("content").Items() {
		if block.Get("type").Str() == "toolCall" {
			calls = append(calls, ToolCall{
				ID:        block.Get("id").Str(),
				Name:      block.Get("name").Str(),
				Arguments: block.Get("arguments"),
			})
		}
	}
	return calls
}

// ToolResult is a message of role toolResult.
type ToolResult struct {
	CallID  string
	Tool    string
	IsError bool
	Text    string // the text blocks, a line end between two
	Images  int
	Details Value // what the tool says in a structured way; Absent if it says nothing
}

// ToolResult is the tool result that the entry holds; ok is false if it holds
// none.
func (e *Entry) ToolResult() (r ToolResult, ok bool) {
	if e.Role() != "toolResult" {
		return ToolResult{}, false
	}
	return ToolResultOf(e.Value().Get("message"))
}

// ToolResultOf decodes a message; ok is false if it is no tool result.
func ToolResultOf(message Value) (r ToolResult, ok bool) {
	if message.Get("role").Str() != "toolResult" {
		return ToolResult{}, false
	}
	r = ToolResult{
		CallID:  message.Get("toolCallId").Str(),
		Tool:    message.Get("toolName").Str(),
		IsError: message.Get("isError").Bool(),
		Details: message.Get("details"),
	}
	content := message.Get("content")
	if content.Is(String) {
		r.Text = content.Str()
		return r, true
	}
	var texts []string
	for _, block := range content.Items() {
		switch block.Get("type").Str() {
		case "text":
			texts = append(texts, block.Get("text").Str())
		case "image":
			r.Images++
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r, true
}

// DisplayID names the result for what is shown of it elsewhere; "" without one.
func (r *ToolResult) DisplayID() string {
	return orElse(r.Details.Get("displayId"), r.Details.Get("display")).Str()
}

// FileOp is a way to change a file.
type FileOp string

// The ways to change a file.
const (
	FileCreate FileOp = "create"
	FileWrite  FileOp = "write"
	FileEdit   FileOp = "edit"
	FileDelete FileOp = "delete"
	FileRename FileOp = "rename"
)

// FileChange is one change that a result gives evidence of.
type FileChange struct {
	Op   FileOp
	Path string
	To   string // of a rename: the new path
}

// Evidence says what a tool result lets one conclude about changed files.
type Evidence uint8

// The kinds of Evidence.
const (
	EvidenceMissing Evidence = iota // it may have changed files and doesn't say
	EvidenceHarmless
	EvidenceUnproven // a shell or the like: it may have changed anything
	EvidenceChanges  // the changes it lists
)

// Changes reads what the result says of changed files. call is the tool call
// that it answers; with nil, a path that stands only there is not known. A
// result that failed can still list changes.
func (r *ToolResult) Changes(call *ToolCall) ([]FileChange, Evidence) {
	changes := r.listed()
	if len(changes) == 0 {
		changes = r.single(call)
	}
	switch {
	case len(changes) > 0:
		return changes, EvidenceChanges
	case isWord(r.Tool, "bash shell exec python eval ssh"):
		return nil, EvidenceUnproven
	case isWord(r.Tool, "read grep find ls glob search fetch web_search todo todo_write ask task search_tool_bm25"):
		return nil, EvidenceHarmless
	}
	return nil, EvidenceMissing
}

// listed are the changes of a result that lists them file by file.
func (r *ToolResult) listed() []FileChange {
	var changes []FileChange
	for _, key := range []string{"mutations", "perFileResults"} {
		for _, item := range r.Details.Get(key).Items() {
			if item.Get("isError").Bool() {
				continue
			}
			if c, ok := changeOf(item, ""); ok {
				changes = append(changes, c)
			}
		}
	}
	return changes
}

// single is the change of a result about one file.
func (r *ToolResult) single(call *ToolCall) []FileChange {
	if r.IsError {
		return nil
	}
	path := ""
	if call != nil {
		path = orElse(call.Arguments.Get("path"), call.Arguments.Get("file_path")).Str()
	}
	if c, ok := changeOf(r.Details, path); ok {
		return []FileChange{c}
	}
	if r.Tool == "write" && path != "" {
		return []FileChange{{Op: FileWrite, Path: path}}
	}
	return nil
}

// changeOf reads one change; path is used where the item names none. An item
// that neither names an operation nor has a diff is no evidence.
func changeOf(item Value, path string) (FileChange, bool) {
	c := FileChange{Path: path, To: orElse(item.Get("to"), item.Get("move")).Str()}
	if p := item.Get("path").Str(); p != "" {
		c.Path = p
	}
	switch op := item.Get("op").Str(); {
	case op == "update":
		c.Op = FileEdit
	case isWord(op, "create write edit delete rename"):
		c.Op = FileOp(op)
	case op == "" && item.Get("diff").Str() != "":
		c.Op = FileEdit
	default:
		return FileChange{}, false
	}
	if c.To != "" {
		c.Op = FileRename
	}
	return c, c.Path != ""
}

// isWord reports whether w is one of words, which blanks separate.
func isWord(w, words string) bool {
	for _, have := range strings.Fields(words) {
		if have == w {
			return true
		}
	}
	return false
}

// SubagentResult is what one subagent answered.
type SubagentResult struct {
	ID, Agent, Task string
	Output          string
	Error           string
	ExitCode        float64
	Aborted         bool
	OutputPath      string // of its whole output; "" if it was not kept
	DurationMS      float64
	Usage           Value // as of a message; Absent if it is not known
}

// Subagents are the answers that the result of a delegation holds, in order.
func (r *ToolResult) Subagents() []SubagentResult {
	var results []SubagentResult
	for _, item := range r.Details.Get("results").Items() {
		agent := item.Get("agent").Str()
		if agent == "" {
			continue
		}
		results = append(results, SubagentResult{
			ID:         item.Get("id").Str(),
			Agent:      agent,
			Task:       item.Get("task").Str(),
			Output:     item.Get("output").Str(),
			Error:      item.Get("error").Str(),
			ExitCode:   item.Get("exitCode").Num(),
			Aborted:    item.Get("aborted").Bool(),
			OutputPath: item.Get("outputPath").Str(),
			DurationMS: item.Get("durationMs").Num(),
			Usage:      item.Get("usage"),
		})
	}
	return results
}
