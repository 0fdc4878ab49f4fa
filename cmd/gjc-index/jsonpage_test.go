package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// The page docs/json.md has a section for each command and a row for each
// field. Here the commands run, and what they print is compared with it.

const (
	answerLine = `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"done"},{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"a.txt"}}],"provider":"acme","model":"large","usage":{"input":5,"output":2,"cacheRead":1,"cacheWrite":0,"cost":{"total":0.5}}}}`
	resultLine = `{"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"ok"}],"details":{"path":"a.txt"},"isError":false}}`
	askedLine  = `{"type":"message","message":{"role":"user","content":"write a file"}}`
)

// jsonSteps are command lines that together print every field there is. What
// $X stands for is kept from what an earlier one printed.
var jsonSteps = []struct {
	args  string
	stdin string
	keep  string // X=field
	later bool   // a year from now
}{
	{args: "new --cwd $WORK --title first", keep: "ID=id"},
	{args: "append $ID", stdin: askedLine + "\n" + answerLine + "\n" + resultLine + "\n", keep: "ENTRY=ids"},
	{args: "label set $ID $ENTRY good"},
	{args: "label list $ID"}, {args: "labels"}, {args: "label clear $ID $ENTRY"}, {args: "title $ID second"},
	{args: "list --children"}, {args: "list --damaged"}, {args: "search write"}, {args: "search --role any done"},
	{args: "show $ID"}, {args: "tree $ID"}, {args: "context $ID"}, {args: "chat $ID"}, {args: "chat files001"}, {args: "files $ID"}, {args: "files files001"},
	{args: "touched /proj/demo"}, {args: "usage"}, {args: "usage --by model"}, {args: "usage --by day"}, {args: "usage --by provider"},
	{args: "usage --by project"}, {args: "usage --by session"}, {args: "stats"}, {args: "stats --html $WORK/stats.html"},
	{args: "prompts $ID"}, {args: "prompts $ID 1"}, {args: "resolve $ID"}, {args: "continue --cwd $WORK"}, {args: "inventory"},
	{args: "fork $ID", keep: "FORK=id"}, {args: "branch $FORK $ENTRY"}, {args: "rewind $ID --list"}, {args: "rewind $ID 1"},
	{args: "pin $ID"}, {args: "pins"}, {args: "unpin $ID"}, {args: "archive $FORK --dry-run"}, {args: "archive $FORK"}, {args: "archive $WORK/long.jsonl"},
	{args: "unarchive $WORK/long.jsonl"},
	{args: "new --cwd $WORK", keep: "LONG=id"},
	{args: "append $LONG", stdin: strings.Repeat(askedLine+"\n"+answerLine+"\n", 40)}, {args: "psm run $LONG"}, {args: "psm show $LONG"}, {args: "psm status $ID"},
	{args: "export $ID --out $WORK/a.html"}, {args: "export $ID --out $WORK/a.tar.zst"}, {args: "import $WORK/a.tar.zst --cwd $OTHER --force"},
	{args: "export $ID --format json --out -"},
	{args: "scope $WORK"}, {args: "migrate --all --dry-run"}, {args: "rebind $FORK --to $OTHER --dry-run"}, {args: "rebind $FORK --to $OTHER"},
	{args: "prune --older-than 1h --dry-run", later: true}, {args: "delete $FORK --yes"}, {args: "restore"}, {args: "restore $FORK"}, {args: "gc --grace 1h", later: true},
	{args: "history add typed --cwd $WORK"}, {args: "history recent"}, {args: "history search typed"}, {args: "history export"},
	{args: "history import --transcripts"}, {args: "history delete --text typed"},
	{args: "reindex"}, {args: "reindex --full"}, {args: "status"}, {args: "verify"}, {args: "verify $WORK/odd.jsonl"}, {args: "version"}, {args: "config"}, {args: "doctor"}, {args: "repair $WORK/odd.jsonl"},
	{args: "show nosuch"}, {args: "show f"},
}

// seenFields is what was printed: by command the fields with their types.
type seenFields map[string]map[string]map[string]bool

func (s seenFields) add(command, field, kind string) {
	if s[command] == nil {
		s[command] = map[string]map[string]bool{}
	}
	if s[command][field] == nil {
		s[command][field] = map[string]bool{}
	}
	s[command][field][kind] = true
}

// value notes a value and what is in it. open are the fields whose inside is
// whatever a file says.
func (s seenFields) value(command, field string, v any, open func(string) bool) {
	kind := "null"
	switch v := v.(type) {
	case bool:
		kind = "bool"
	case float64:
		kind = "number"
	case string:
		kind = "text"
	case []any:
		kind = "list"
		for _, item := range v {
			if o, ok := item.(map[string]any); ok && !open(field) {
				for key, in := range o {
					s.value(command, field+"[]."+key, in, open)
				}
			}
		}
	case map[string]any:
		kind = "object"
		for key, in := range v {
			if field == "" {
				s.value(command, key, in, open)
			} else if !open(field) {
				s.value(command, field+"."+key, in, open)
			}
		}
	}
	if field != "" {
		s.add(command, field, kind)
	}
}

func TestJSONIsAsThePageSays(t *testing.T) {
	page := readJSONPage(t)
	seen := seenFields{}
	home := t.TempDir()
	vars := map[string]string{"WORK": filepath.Join(home, "work"), "OTHER": filepath.Join(home, "other")}
	makeJSONHome(t, home)
	for _, step := range jsonSteps {
		line := os.Expand(step.args, func(name string) string { return vars[name] })
		args := append(strings.Fields(line), "--json", "--home", filepath.Join(home, "home"))
		var out, errs bytes.Buffer
		a := newApp(strings.NewReader(step.stdin), &out, &errs)
		if step.later {
			a.now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
		}
		status := a.run(context.Background(), args)
		if status != exitDone && status != exitPart && status != exitMissing {
			t.Fatalf("%q: status %d, stderr %s", args, status, errs.String())
		}
		c, _, err := newApp(strings.NewReader(""), &out, &errs).command().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(c.CommandPath(), "gjc-index ")
		lines := out.String()
		if strings.HasPrefix(name, "show") || strings.HasPrefix(step.args, "export $ID --format json") {
			lines = "" // what a file says
		}
		note(t, seen, page, name, lines)
		note(t, seen, page, "stderr", errs.String())
		if step.keep != "" {
			name, key, _ := strings.Cut(step.keep, "=")
			vars[name] = lastOf(t, out.String(), key)
		}
	}
	page.compare(t, seen)
}

func note(t *testing.T, seen seenFields, page jsonPage, name, lines string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s printed %q: %v", name, line, err)
		}
		seen.value(name, "", v, func(field string) bool { return page.open(name, field) })
	}
}

// lastOf is a text of the last line, or the last text of a list.
func lastOf(t *testing.T, lines, key string) string {
	t.Helper()
	all := strings.Split(strings.TrimSpace(lines), "\n")
	var o map[string]any
	if err := json.Unmarshal([]byte(all[len(all)-1]), &o); err != nil {
		t.Fatal(err)
	}
	if list, ok := o[key].([]any); ok {
		return list[len(list)-1].(string)
	}
	return o[key].(string)
}

// makeJSONHome makes a home in which there is something of everything.
func makeJSONHome(t *testing.T, dir string) {
	t.Helper()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	head := func(id, more string) string {
		return `{"type":"session","version":5,"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/proj/demo"` + more + "}\n"
	}
	entry := func(id, parent, at, message string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T` + at + `Z","message":` + message + "}\n"
	}
	write("home/sessions/p/files001.jsonl", head("files001", `,"title":"files"`)+
		entry("u1", "null", "00:01:00.000", `{"role":"user","content":"go"}`)+
		entry("a1", `"u1"`, "00:02:00.000", `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"edit","arguments":{"path":"/proj/demo/x.go"}}],"provider":"p","model":"m"}`)+
		entry("t1", `"a1"`, "00:03:00.000", `{"role":"toolResult","toolCallId":"c1","toolName":"edit","content":[{"type":"text","text":"ok"}],"details":{"diff":"+1 x","path":"/proj/demo/x.go","op":"update"}}`))
	write("home/sessions/p/files001/child01.jsonl", head("child01", ""))
	write("home/sessions/p/files002.jsonl", head("files002", "")+"{\n")
	write("home/sessions/p/broken.jsonl", "no session\n")
	write("work/odd.jsonl", head("odd00001", "")+"{\n"+entry("u1", `"nowhere"`, "00:01:00.000", `{"role":"user","content":"go"}`))
	write("other/x", "")
	write("home/sessions/--proj-demo--/2026-01-01T00-00-00-000Z_older001.jsonl", head("older001", ""))
	write("home/blobs/9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0", "aaa")
	long := head("long0001", "")
	for i := range 40 {
		long += fmt.Sprintf(`{"type":"message","id":"u%d","timestamp":"2026-01-01T00:00:00.000Z","parentId":%s,"message":{"role":"user","content":"prompt"}}`+"\n", i, before(i))
	}
	write("work/long.jsonl", long+`{"type":"compaction","id":"c1","parentId":"u39","timestamp":"2026-01-02T20:00:00.000Z","summary":"s","firstKeptEntryId":"u38","tokensBefore":1}`+"\n")
}

// before is the parent of the entry number i.
func before(i int) string {
	if i == 0 {
		return "null"
	}
	return fmt.Sprintf(`"u%d"`, i-1)
}

// jsonPage is the page: by command the fields with their types.
type jsonPage map[string]map[string]string

var (
	pageHead  = regexp.MustCompile("^## (.+)$")
	pageField = regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\|")
)

func readJSONPage(t *testing.T) jsonPage {
	t.Helper()
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	page := jsonPage{}
	var at []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := pageHead.FindStringSubmatch(line); m != nil {
			at = nil
			for name := range strings.SplitSeq(m[1], ", ") {
				name = strings.Trim(name, "`")
				at = append(at, name)
				page[name] = map[string]string{}
			}
		}
		if m := pageField.FindStringSubmatch(line); m != nil {
			for _, name := range at {
				for field := range strings.SplitSeq(m[1], " ") {
					page[name][field] = strings.TrimSpace(m[2])
				}
			}
		}
	}
	return page
}

// open reports a field whose inside the page leaves open.
func (p jsonPage) open(command, field string) bool { return strings.Contains(p[command][field], "any") }

// compare wants each field printed on the page, with its type, and each field
// of the page printed unless it says that it is seldom there.
func (p jsonPage) compare(t *testing.T, seen seenFields) {
	t.Helper()
	for _, command := range slices.Sorted(maps.Keys(seen)) {
		for _, field := range slices.Sorted(maps.Keys(seen[command])) {
			says, ok := p[command][field]
			kinds := slices.Sorted(maps.Keys(seen[command][field]))
			if !ok {
				t.Errorf("docs/json.md: %s prints %s (%s)", command, field, strings.Join(kinds, " or "))
			}
			for _, kind := range kinds {
				if ok && !strings.Contains(says, kind) && !strings.Contains(says, "any") {
					t.Errorf("docs/json.md: %s: %s is %s, not %s", command, field, kind, says)
				}
			}
		}
	}
	for _, command := range slices.Sorted(maps.Keys(p)) {
		for field, says := range p[command] {
			if seen[command][field] == nil && !strings.Contains(says, "seldom") {
				t.Errorf("docs/json.md: %s did not print %s", command, field)
			}
		}
	}
}

// TestEveryCommandSaysWhatItPrintsAsJSON: on the page, or in its own help.
func TestEveryCommandSaysWhatItPrintsAsJSON(t *testing.T) {
	page := readJSONPage(t)
	none := []string{"help", "completion bash", "completion zsh", "completion fish", "completion powershell", "history shell", "man"}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(sub)
		}
		name := strings.TrimPrefix(c.CommandPath(), "gjc-index ")
		if c.HasSubCommands() || slices.Contains(none, name) || strings.Contains(c.Long, "JSON") {
			return
		}
		if _, ok := page[name]; !ok {
			t.Errorf("gjc-index %s: neither docs/json.md nor its help says what --json prints", name)
		}
	}
	each(newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}).command())
	if len(page) == 0 {
		t.Error("docs/json.md has no section")
	}
}
