package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session/redact"
)

const (
	// maxAnswerBytes bounds what a tool answers, so that it fits beside the
	// rest of an agent's context.
	maxAnswerBytes = 48 << 10
	maxToolText    = 4 << 10  // of one text among others, in bytes
	maxArguments   = 64 << 10 // bytes of a call's arguments
	maxCalls       = 4        // calls at work at once; others wait
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Let an agent recall its past sessions: a Model Context Protocol server on stdio",
		Long: `Serve the Model Context Protocol on stdin and stdout, for an agent that is to
recall its own past. It has tools that read and none that write: list, search,
show, context and usage. Each call answers from what is on disk then.

Secrets are taken out of what is answered, and each answer is bounded: it says
when it was cut, and how to ask for the rest. What it says is JSON, with or
without --json. It ends with its input.`,
		Example: `  gjc-index mcp
  claude mcp add past -- gjc-index mcp
  codex mcp add past -- gjc-index mcp`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context()) },
	}
}

// mcpTool is one thing that an agent may ask. run answers with an object.
type mcpTool struct {
	name, what, schema string
	run                func(a *app, ctx context.Context, args json.RawMessage) (map[string]any, error)
}

func (a *app) serveMCP(ctx context.Context) error {
	if _, err := a.sessionsDir(); err != nil {
		return err
	}
	if a.stdinTerminal() {
		a.note("serves an agent on stdin and stdout, in JSON; docs/mcp.md says how to register it. Ctrl-D ends it")
	}
	out := &flushed{w: a.out}
	in := &messageLines{in: bufio.NewReaderSize(a.stdin, 64<<10), out: out}
	err := a.mcpServer().Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: out})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// mcpServer is the server with all its tools.
func (a *app) mcpServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "gjc-index", Title: "Past sessions", Version: version}, &mcp.ServerOptions{
		Instructions: "Recall past sessions of coding agents on this machine. search finds what was typed or said; list shows sessions; " +
			"show reads one as a chat; context is what its model would be sent; usage sums up tokens and money. All of them only read. " +
			`An answer that was cut has "next": ask again with offset (or from) set to it.`,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	slots := make(chan struct{}, maxCalls)
	no := false
	for _, tool := range mcpTools() {
		server.AddTool(&mcp.Tool{
			Name: tool.name, Description: tool.what, InputSchema: json.RawMessage(tool.schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			text, failed := a.callTool(ctx, tool, r.Params.Arguments)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}, ctx.Err()
		})
	}
	return server
}

// callTool answers one call: a JSON object, or in plain words why there is none.
func (a *app) callTool(ctx context.Context, tool mcpTool, args json.RawMessage) (text string, failed bool) {
	var notes callNotes
	var out map[string]any
	err := usagef("the arguments of %s are longer than any question needs", tool.name)
	if len(args) <= maxArguments {
		out, err = tool.run(a.forCall(&notes), ctx, args)
	}
	if err == nil {
		if said := notes.lines(); len(said) > 0 {
			out["notes"] = said
		}
		text, err = encodeJSON(out)
	}
	if err != nil {
		return failure(ctx, err), true
	}
	return strings.TrimSuffix(text, "\n"), false
}

// failure says what went wrong, and what an ambiguous id could mean.
func failure(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	text := redact.Text(plain(sentence(err)))
	text = strings.NewReplacer("gjc-index list shows", "the tool list shows", ": give more of the id, or the path", ": give more of the id").Replace(text)
	var several *index.AmbiguousError
	if errors.As(err, &several) {
		for _, r := range several.Candidates {
			text += "\n" + plain(r.ID) + "  " + redact.Text(titleOf(r))
		}
	}
	return text
}

// forCall is an app for one call: calls share no state, so that several can be
// at work at once.
func (a *app) forCall(notes io.Writer) *app {
	return &app{
		stdin: strings.NewReader(""), out: bufio.NewWriter(io.Discard), stderr: notes,
		fsys: a.fsys, now: a.now, env: a.env, screen: screen{width: defaultWidth},
		projects: map[string]string{}, noted: map[string]bool{}, huge: a.huge,
		home: a.home, sessionDir: a.sessionDir, config: a.config, noRefresh: a.noRefresh, maxLine: a.maxLine,
	}
}

// callNotes collects what a call notes.
type callNotes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes a note.
func (n *callNotes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

// maxNotes is how many notes an answer has.
const maxNotes = 10

func (n *callNotes) lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for line := range strings.Lines(n.text.String()) {
		if len(all) == maxNotes {
			return append(all, "and more")
		}
		all = append(all, preview(redact.Text(strings.TrimPrefix(strings.TrimSpace(line), "gjc-index: ")), 300))
	}
	return all
}

// flushed writes through a buffer at once, a message at a time.
type flushed struct {
	mu sync.Mutex
	w  *bufio.Writer
}

// Write writes and flushes.
func (f *flushed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.w.Write(b)
	if err == nil {
		err = f.w.Flush()
	}
	return n, err
}

// Close does nothing: stdout stays.
func (f *flushed) Close() error { return nil }
