package export

import (
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// voice is who speaks in an item; each looks its own way.
type voice string

const (
	user      voice = "user"
	assistant voice = "assistant"
	tool      voice = "tool"
	note      voice = "note" // of the program: a summary, a custom message
	aside     voice = "aside"
)

// item is one entry for people.
type item struct {
	n     int // number in the output
	voice voice
	who   string
	model string
	when  time.Time // zero if the entry doesn't say
	label string
	parts []part
	step  step
}

type partKind uint8

const (
	prose    partKind = iota // Markdown
	plain                    // text as it was typed or said
	thinking                 // prose of a model to itself
	call                     // what a tool is asked for
	output                   // what a tool answered
	picture
	failure // what went wrong
)

// part is one piece of an item.
type part struct {
	kind  partKind
	title string // of a call or an output: the tool and what it is about
	text  string
	lang  string // name or file name to highlight by
	mime  string // of a picture; text is its base64
}

// items calls yield with each entry that people are shown, in order, and
// returns how many entries that were.
func (d *document) items(yield func(item) error) (shown int, err error) {
	d.paths = map[string]string{}
	for st := range d.steps() {
		shown++
		e, err := d.load(st.entry)
		if err != nil {
			return shown, err
		}
		it, ok := d.item(e)
		if !ok && st.branch == 0 {
			continue
		}
		it.n, it.step, it.label = shown-1, st, d.clean.line(st.label)
		if err := yield(it); err != nil {
			return shown, err
		}
	}
	d.report.Shown = shown
	return shown, nil
}

// item makes an entry what people are shown of it; ok is false for an entry
// that they are not.
func (d *document) item(e *jsonl.Entry) (it item, ok bool) {
	it.voice = aside
	it.when, _ = e.Time()
	if e.Kind().Local {
		return it, false
	}
	v := e.Value()
	say := func(who, text string) bool {
		it.who = who
		if text = d.clean.text(text); text != "" {
			it.parts = []part{{kind: plain, text: text}}
		}
		return text != ""
	}
	switch e.Type() {
	case "message":
		return d.message(it, v.Get("message"))
	case "custom_message":
		if d := v.Get("display"); d.Is(jsonl.Bool) && !d.Bool() {
			return it, false // meant for the model alone
		}
		it.voice, it.who = note, "Note: "+d.clean.line(v.Get("customType").Str())
		it.parts = d.content(v.Get("content"), prose)
		return it, len(it.parts) > 0
	case "compaction":
		ok = say("Summary of what came before", v.Get("summary").Str())
		it.voice = note
	case "branch_summary":
		ok = say("Summary of another branch", v.Get("summary").Str())
		it.voice = note
	case "session_init":
		ok = say("Task", v.Get("task").Str())
		it.voice = note
	case "model_change":
		ok = say("Model", v.Get("model").Str())
	case "thinking_level_change":
		ok = say("Thinking", v.Get("thinkingLevel").Str())
	case "mode_change":
		ok = say("Mode", v.Get("mode").Str())
	case "custom":
		if e.Kind().Name == "context_clear" {
			ok = say("Context", "cleared: a new thread begins")
		}
	}
	if it.voice == note {
		for i := range it.parts {
			it.parts[i].kind = prose
		}
	}
	return it, ok
}

func (d *document) message(it item, m jsonl.Value) (item, bool) {
	switch role := m.Get("role").Str(); role {
	case "user":
		it.voice, it.who = user, "You"
		it.parts = d.content(m.Get("content"), plain)
	case "assistant":
		it.voice, it.who, it.model = assistant, "Assistant", d.clean.line(m.Get("model").Str())
		it.parts = d.content(m.Get("content"), prose)
		if text := d.clean.text(m.Get("errorMessage").Str()); text != "" {
			it.parts = append(it.parts, part{kind: failure, text: text})
		}
	case "toolResult":
		return d.result(it, m)
	default:
		it.voice, it.who = note, d.clean.line(role)
		it.parts = d.content(m.Get("content"), prose)
		if command := d.clean.text(m.Get("command").Str()); command != "" {
			it.parts = append(it.parts, part{kind: call, title: role, text: command, lang: "bash"})
		}
		if text := d.clean.text(m.Get("output").Str()); text != "" {
			it.parts = append(it.parts, part{kind: output, title: "output", text: text})
		}
	}
	return it, len(it.parts) > 0
}

// content are the parts of a message; texts are of the kind.
func (d *document) content(c jsonl.Value, kind partKind) []part {
	if c.Is(jsonl.String) {
		if text := d.clean.text(c.Str()); strings.TrimSpace(text) != "" {
			return []part{{kind: kind, text: text}}
		}
		return nil
	}
	var parts []part
	for _, block := range c.Items() {
		switch block.Get("type").Str() {
		case "text":
			if text := d.clean.text(block.Get("text").Str()); strings.TrimSpace(text) != "" {
				parts = append(parts, part{kind: kind, text: text})
			}
		case "thinking":
			if text := d.clean.text(block.Get("thinking").Str()); strings.TrimSpace(text) != "" {
				parts = append(parts, part{kind: thinking, text: text})
			}
		case "image":
			parts = append(parts, part{kind: picture, mime: block.Get("mimeType").Str(), text: block.Get("data").Str()})
		case "toolCall":
			parts = append(parts, d.call(block))
		}
	}
	return parts
}

// result is the answer of a tool.
func (d *document) result(it item, m jsonl.Value) (item, bool) {
	r, _ := jsonl.ToolResultOf(m)
	it.voice, it.who = tool, "Result of "+d.clean.line(r.Tool)
	file := d.paths[r.CallID]
	for _, p := range d.content(m.Get("content"), output) {
		if p.kind == output {
			p.title = strings.TrimRight(it.who+" "+file, " ")
			if r.Tool == "read" && !r.IsError {
				p.lang = file
			}
			if r.IsError {
				p.title += " (error)"
			}
			if looksLikeDiff(p.text) {
				p.lang = "diff"
			}
		}
		it.parts = append(it.parts, p)
	}
	if diff := d.clean.text(r.Details.Get("diff").Str()); diff != "" {
		it.parts = append(it.parts, part{kind: output, title: "Changes " + file, text: diff, lang: "diff"})
	}
	return it, len(it.parts) > 0
}

// call is what a tool was asked for: one text if the arguments are little more
// than that, else JSON.
func (d *document) call(block jsonl.Value) part {
	args := block.Get("arguments")
	p := part{kind: call, title: d.clean.line(block.Get("name").Str())}
	file := d.clean.line(firstText(args, "path", "file_path", "filePath", "file", "filename"))
	if file != "" {
		d.paths[block.Get("id").Str()] = file
		p.title += " " + file
	}
	for _, key := range []string{"command", "content", "diff", "patch", "code", "query", "pattern"} {
		if text := args.Get(key).Str(); text != "" && args.Get("edits").Kind() == jsonl.Absent {
			p.text, p.lang = d.clean.text(text), languageOf(key, file)
			if key == "command" || key == "query" || key == "pattern" {
				p.title += " " + firstLine(p.text)
			}
			return p
		}
	}
	if args.Kind() != jsonl.Absent {
		p.text, p.lang = d.clean.text(indented(args)), "json"
	}
	return p
}

func languageOf(key, file string) string {
	switch key {
	case "command":
		return "bash"
	case "diff", "patch":
		return "diff"
	}
	return file
}

func firstText(v jsonl.Value, keys ...string) string {
	for _, key := range keys {
		if text := v.Get(key).Str(); text != "" {
			return text
		}
	}
	return ""
}

// titleBytes is about how much of a text stands in a title.
const titleBytes = 96

// firstLine is the beginning of a text, on one line.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	line, _, more := strings.Cut(text, "\n")
	if len(line) > titleBytes {
		cut := titleBytes
		for cut > 0 && line[cut]&0xc0 == 0x80 {
			cut--
		}
		line, more = line[:cut], true
	}
	line = strings.Join(strings.Fields(line), " ")
	if more {
		line += " …"
	}
	return line
}

func looksLikeDiff(text string) bool {
	return strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "--- ") && strings.Contains(text[:min(len(text), 2000)], "\n+++ ")
}
