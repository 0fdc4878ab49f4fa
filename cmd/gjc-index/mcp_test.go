package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gajae-code/gjc-index/storage"
)

// connected is a client of a server that answers in this process.
func connected(t *testing.T, home string, flags ...string) *mcp.ClientSession {
	t.Helper()
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	a.home = home
	if len(flags) > 0 {
		a.sessionDir, a.home = flags[0], ""
	}
	server, client := mcp.NewInMemoryTransports()
	if _, err := a.mcpServer().Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	return joinedTo(t, client)
}

func joinedTo(t *testing.T, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool and gives its text.
func call(t *testing.T, c *mcp.ClientSession, tool string, args any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s %v: %d contents", tool, args, len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// told calls a tool and gives its answer, which must be a bounded object.
func told(t *testing.T, c *mcp.ClientSession, tool string, args any) map[string]any {
	t.Helper()
	text, failed := call(t, c, tool, args)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil || failed {
		t.Fatalf("%s %v: %v: %s", tool, args, err, text)
	}
	if len(text) > maxAnswerBytes+maxOneText {
		t.Errorf("%s %v: %d bytes", tool, args, len(text))
	}
	if strings.Contains(text, "event_id") || strings.Contains(text, "00000000000000") {
		t.Errorf("%s %v: has an event id: %s", tool, args, text)
	}
	if strings.Contains(text, secretText) {
		t.Errorf("%s %v: has a secret: %s", tool, args, text)
	}
	return out
}

type args = map[string]any

const secretText = "sk-test-EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0"

// recalled is a session with all that an agent may ask for.
func recalled(id string) string {
	line := func(n int, parent, message string) string {
		return fmt.Sprintf(`{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-03-01T09:00:%02d.000Z","message":%s,"event_id":"%016x"}`+"\n", n, parent, n, message, n)
	}
	return `{"type":"session","version":5,"id":"` + id + `","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo","title":"with ` + secretText + `"}` + "\n" +
		line(1, "null", `{"role":"user","content":"my key is `+secretText+`, fix the parser"}`) +
		line(2, `"e1"`, `{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"echo `+secretText+`"}}],"provider":"p","model":"m","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"total":0.5}},"stopReason":"toolUse"}`) +
		line(3, `"e2"`, `{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"`+secretText+`"}],"isError":false}`) +
		line(4, `"e3"`, `{"role":"assistant","content":[{"type":"text","text":"Fixed: `+strings.Repeat("long words ", 8000)+`END"}],"provider":"p","model":"m","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"total":0.25}},"stopReason":"stop"}`)
}

func recallHome(t *testing.T) string {
	t.Helper()
	return makeHome(t, map[string]string{"p/aone.jsonl": recalled("aone"), "p/atwo.jsonl": small("atwo", "/proj/other", "hello there", 5)})
}

func TestToolsRecallThePast(t *testing.T) {
	c := connected(t, recallHome(t))
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint || tool.Description == "" {
			t.Errorf("tool %s: %+v", tool.Name, tool)
		}
	}
	if diff := cmp.Diff([]string{"context", "list", "search", "show", "usage"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}

	out := told(t, c, "list", nil)
	rows := out["sessions"].([]any)
	if len(rows) != 2 || out["total"] != 2.0 || rows[1].(args)["id"] != "atwo" || rows[0].(args)["title"] != "with [redacted]" {
		t.Errorf("list: %v", out)
	}
	out = told(t, c, "list", args{"limit": 1, "sort": "created"})
	if out["next"] != 1.0 || len(out["sessions"].([]any)) != 1 {
		t.Errorf("list, the first: %v", out)
	}
	out = told(t, c, "list", args{"limit": 1, "offset": 1, "cwd": "/proj/demo", "since": "2026-01-01"})
	if out["total"] != 1.0 || len(out["sessions"].([]any)) != 0 || out["next"] != nil {
		t.Errorf("list, past the end: %v", out)
	}

	out = told(t, c, "search", args{"query": "parser"})
	hits := out["hits"].([]any)
	if len(hits) != 1 || hits[0].(args)["session"] != "aone" || hits[0].(args)["entry"] != "e1" || hits[0].(args)["text"] != "my key is [redacted], fix the parser" {
		t.Errorf("search: %v", out)
	}
	out = told(t, c, "search", args{"query": "END", "role": "any", "session": "ao"})
	if hit := out["hits"].([]any)[0].(args); hit["role"] != "assistant" || hit["cut"] != true || !strings.Contains(hit["snippet"].(string), "END") {
		t.Errorf("search --role any: %v", out)
	}
	if out = told(t, c, "search", args{"query": "", "limit": 1}); out["next"] != 1.0 {
		t.Errorf("search, the newest: %v", out)
	}

	out = told(t, c, "usage", args{"by": "model"})
	if row := out["rows"].([]any)[0].(args); row["key"] != "m" || row["cost"] != 0.75 || row["requests"] != 2.0 {
		t.Errorf("usage: %v", out)
	}
}

func TestToolsReadASession(t *testing.T) {
	home := recallHome(t)
	c := connected(t, home)
	out := told(t, c, "show", args{"session": "aone"})
	items := out["items"].([]any)
	if out["total"] != 4.0 || len(items) != 4 {
		t.Fatalf("show: %v", out)
	}
	last := items[3].(args)
	if last["kind"] != "assistant" || last["cut"] != true || last["entry"] != "e4" || len(last["text"].(string)) > maxToolText {
		t.Errorf("show, the last item: %v", last)
	}
	if tool := items[2].(args); tool["tool"] != "bash" || tool["state"] != "done" {
		t.Errorf("show, a tool: %v", tool)
	}
	// All of a long text can be read, piece by piece.
	var text strings.Builder
	for ask := (args{"session": "aone", "entry": "e4", "limit": 1}); ; {
		one := told(t, c, "show", ask)["items"].([]any)[0].(args)
		text.WriteString(one["text"].(string))
		if one["cut"] == nil {
			break
		}
		ask["skip"] = one["skip"]
	}
	if want := "Fixed: " + strings.Repeat("long words ", 8000) + "END"; text.String() != want {
		t.Errorf("the long text has %d bytes, want %d", text.Len(), len(want))
	}
	out = told(t, c, "show", args{"session": "aone", "from": -3, "limit": 2})
	if out["from"] != 1.0 || out["next"] != 3.0 {
		t.Errorf("show from the end: %v", out)
	}
	out = told(t, c, "context", args{"session": "aone", "limit": 2})
	messages := out["messages"].([]any)
	if out["total"] != 4.0 || out["next"] != 2.0 || messages[0].(args)["message"].(args)["role"] != "user" {
		t.Errorf("context: %v", out)
	}
	out = told(t, c, "context", args{"session": "aone", "from": 2, "leaf": "e4"})
	if m := out["messages"].([]any)[1].(args); m["cut"] != true || out["next"] != nil {
		t.Errorf("context, the end: %v", m)
	}
	// What is written between two calls is in the second.
	grown := `{"type":"message","id":"e5","parentId":"e4","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"and now"}}` + "\n"
	f, err := os.OpenFile(filepath.Join(home, "sessions", "p", "aone.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(grown)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if out = told(t, c, "show", args{"session": "aone", "from": -1}); out["total"] != 5.0 || out["items"].([]any)[0].(args)["text"] != "and now" {
		t.Errorf("show of what was just written: %v", out)
	}
}

func TestToolsSayWhatIsWrong(t *testing.T) {
	home := recallHome(t)
	c := connected(t, home)
	outside := filepath.Join(t.TempDir(), "x.jsonl")
	writeFile(t, outside, recalled("out"))
	for _, tt := range []struct {
		tool string
		args any
		want string
	}{
		{"list", args{"limit": 0}, "limit 0: it is a number from 1 to 100"},
		{"list", args{"limit": 101}, "limit 101: it is a number from 1 to 100"},
		{"list", args{"limit": "ten"}, "limit must be a whole number"},
		{"list", args{"limit": 1.5}, "limit must be a whole number"},
		{"list", args{"offset": -1}, "offset -1: it is a number from 0 to 1073741824"},
		{"list", args{"where": "x"}, `there is no argument "where"; the tool's schema shows all`},
		{"list", args{"sort": "luck"}, `can't sort by "luck": active, created, modified, title, messages or size`},
		{"list", args{"since": "soon"}, `"soon" is no time: give a day (2026-03-01), a time (2026-03-01T12:00) or an age (12h, 7d, 2w)`},
		{"list", []int{1}, "the arguments are no JSON object of the tool's schema"},
		{"search", args{"role": "them"}, `no role "them": user, assistant, tool or any`},
		{"search", args{"query": strings.Repeat("x", maxArguments)}, "the arguments of search are longer than any question needs"},
		{"search", args{"session": "nosuch"}, `no session "nosuch"; the tool list shows all`},
		{"show", nil, "which session? give its id; the tool list shows all"},
		{"show", args{"session": 7}, "session must be text"},
		{"show", args{"session": "aone", "skip": 1}, "skip is for one item: give limit 1 with it"},
		{"show", args{"session": "aone", "entry": "zz"}, `session aone shows no entry "zz"`},
		{"show", args{"session": outside}, "a session is named by its id, or a beginning of it, and not by a path; the tool list shows all"},
		{"show", args{"session": "../../x.jsonl"}, "a session is named by its id, or a beginning of it, and not by a path; the tool list shows all"},
		{"show", args{"session": "x.jsonl"}, "a session is named by its id, or a beginning of it, and not by a path; the tool list shows all"},
		{"show", args{"session": "a"}, "\"a\" could be any of 2 sessions: give more of the id\naone  with [redacted]\natwo  hello there"},
		{"context", args{"session": "aone", "leaf": "zz"}, `session aone has no entry "zz"`},
		{"usage", args{"by": "mood"}, `can't group by "mood": day, model, provider, project, session`},
		{"usage", args{"tz": "Berlin"}, `tz "Berlin" is no time zone: give a name such as Europe/Berlin, or UTC`},
	} {
		text, failed := call(t, c, tt.tool, tt.args)
		if !failed || text != tt.want {
			t.Errorf("%s %.60v: failed %v, %q, want %q", tt.tool, tt.args, failed, text, tt.want)
		}
	}
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete"}); err == nil {
		t.Error("there is a tool that deletes")
	}
	none := connected(t, filepath.Join(home, "none"))
	if out := told(t, none, "list", nil); out["total"] != 0.0 {
		t.Errorf("list without a home: %v", out)
	}
}

func TestToolsTellOfDamage(t *testing.T) {
	home := makeHome(t, map[string]string{
		"p/a.jsonl":   small("a", "/p", "one", 1) + "{torn\n",
		"p/bad.jsonl": "{\n",
	})
	c := connected(t, home)
	for tool, in := range map[string]args{"list": {}, "search": {}, "show": {"session": "a"}, "context": {"session": "a"}, "usage": {}} {
		out := told(t, c, tool, in)
		notes := fmt.Sprint(out["notes"])
		if want := "left out"; tool != "show" && tool != "context" && !strings.Contains(notes, want) {
			t.Errorf("%s: notes %s", tool, notes)
		}
		if tool == "show" && !strings.Contains(notes, "1 line") {
			t.Errorf("show: notes %s", notes)
		}
	}
	dir := connected(t, "", filepath.Join(home, "sessions", "p"))
	if out := told(t, dir, "list", nil); out["total"] != 1.0 {
		t.Errorf("list of a directory: %v", out)
	}
}

func TestToolsBoundWhatIsHuge(t *testing.T) {
	var big strings.Builder
	big.WriteString(`{"type":"session","version":5,"id":"big","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/p"}` + "\n")
	parent := "null"
	for i := range 3000 {
		id := fmt.Sprintf("%08x", i)
		fmt.Fprintf(&big, `{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"%s"}}`+"\n",
			id, parent, strings.Repeat("word ", 2000)+id)
		parent = `"` + id + `"`
	}
	home := makeHome(t, map[string]string{"p/big.jsonl": big.String()})
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	a.home, a.huge = home, 1<<20 // read line by line
	server, client := mcp.NewInMemoryTransports()
	if _, err := a.mcpServer().Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	c := joinedTo(t, client)
	for tool, in := range map[string]args{"list": {}, "search": {"query": "word", "limit": 100}, "show": {"session": "big", "limit": 100}, "context": {"session": "big", "limit": 100}} {
		out := told(t, c, tool, in)
		if tool != "list" && out["next"] == nil {
			t.Errorf("%s: doesn't say that there is more", tool)
		}
	}
	seen := 0
	for from := 2990.0; ; {
		out := told(t, c, "show", args{"session": "big", "from": from, "limit": 100})
		seen += len(out["items"].([]any))
		next, more := out["next"].(float64)
		if !more {
			break
		}
		from = next
	}
	if seen != 10 {
		t.Errorf("the last pages have %d items, want 10", seen)
	}
}

// held is a file system that holds the reader of session files up.
type held struct {
	storage.FS
	opened chan struct{} // gets one for each file that is opened
	goOn   chan struct{}
}

func (h *held) Open(name string) (storage.File, error) {
	if strings.HasSuffix(name, ".jsonl") {
		h.opened <- struct{}{}
		<-h.goOn
	}
	return h.FS.Open(name)
}

func TestToolsEndWhenACallIsGivenUp(t *testing.T) {
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	a.home = recallHome(t)
	told(t, connected(t, a.home), "list", nil) // so that nothing but the session is read below
	h := &held{FS: a.fsys, opened: make(chan struct{}, 100), goOn: make(chan struct{})}
	a.fsys = h
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() {
		text, _ := a.callTool(ctx, mcpTools()[2], json.RawMessage(`{"session":"aone"}`))
		ended <- text
	}()
	<-h.opened
	cancel()
	close(h.goOn)
	if text := <-ended; text != "interrupted" {
		t.Errorf("a call that is given up says %q", text)
	}

	c := connected(t, a.home)
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "show", Arguments: args{"session": "aone"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is given up: %v", err)
	}
	told(t, c, "list", nil)
}

func TestToolsAnswerSeveralAtOnce(t *testing.T) {
	c := connected(t, recallHome(t))
	var group sync.WaitGroup
	failures := make(chan string, 100)
	for i := range 24 {
		tool := []string{"list", "search", "show", "context", "usage"}[i%5]
		group.Go(func() {
			in := args{}
			if tool == "show" || tool == "context" {
				in["session"] = "aone"
			}
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
			if err != nil || r.IsError {
				failures <- fmt.Sprint(tool, err, r)
			}
		})
	}
	group.Wait()
	close(failures)
	for f := range failures {
		t.Error(f)
	}
}

func TestServerAsAProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := recallHome(t)
	before := everything(t, home)
	cmd := exec.Command(self, "mcp", "--home", home)
	cmd.Env = append(os.Environ(), "GJC_INDEX_MAIN=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	c := joinedTo(t, &mcp.CommandTransport{Command: cmd, TerminateDuration: 30 * time.Second})
	if got := c.InitializeResult().ServerInfo.Name; got != "gjc-index" {
		t.Errorf("the server is called %q", got)
	}
	if out := told(t, c, "search", args{"query": "parser"}); len(out["hits"].([]any)) != 1 {
		t.Errorf("search: %v", out)
	}
	if text, failed := call(t, c, "show", args{"session": "nosuch"}); !failed {
		t.Errorf("show of nothing: %s", text)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v, %s", err, stderr.String())
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 || stderr.Len() > 0 {
		t.Errorf("ended with %v, %q", cmd.ProcessState, stderr.String())
	}
	if diff := cmp.Diff(before, everything(t, home)); diff != "" {
		t.Errorf("what is in the home (-before +after):\n%s", diff)
	}
}

func FuzzToolArguments(f *testing.F) {
	home := f.TempDir()
	path := filepath.Join(home, "sessions", "p", "aone.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(recalled("aone")), 0o600)); err != nil {
		f.Fatal(err)
	}
	for i, text := range []string{`{}`, `{"query":"a \"b","limit":3}`, `{"session":"a","from":-2,"limit":1,"skip":5}`, `{"session":"aone","leaf":"e2"}`, `{"by":"day","tz":"UTC"}`, `[`, `{"session":"\u0000"}`} {
		f.Add(i%5, []byte(text))
	}
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{})
	a.home = home
	f.Fuzz(func(t *testing.T, tool int, in []byte) {
		tools := mcpTools()
		text, failed := a.callTool(t.Context(), tools[uint(tool)%uint(len(tools))], in)
		switch {
		case failed && (text == "" || !utf8.ValidString(text)):
			t.Errorf("%q: the error is %q", in, text)
		case !failed && !json.Valid([]byte(text)):
			t.Errorf("%q: the answer is %q", in, text)
		case len(text) > maxAnswerBytes+maxOneText:
			t.Errorf("%q: %d bytes", in, len(text))
		}
	})
}
