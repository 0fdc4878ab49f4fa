package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gajae-code/gjc-index/session/redact"
)

// mcpTools are the tools in the order in which they are offered.
func mcpTools() []mcpTool {
	return []mcpTool{
		{"list", "List past sessions, the last active first: id, title, first prompt, directory, times, size. offset pages.",
			toolSchema(`"sort":{"type":"string","enum":["active","created","modified","title","messages","size"],"description":"default active"}`, placeSchema, pageSchema),
			(*app).toolList},
		{"search", `Find prompts that were typed, the newest first; every word must occur, in any part of a word, "two words" in quotes are one term. ` +
			`role assistant, tool or any searches all that was said or printed, which takes longer. Without a query: the newest prompts.`,
			toolSchema(`"query":{"type":"string"}`, `"role":{"type":"string","enum":["user","assistant","tool","any"],"description":"default user"}`,
				`"session":{"type":"string","description":"only in the session with this id"}`, placeSchema, pageSchema),
			(*app).toolSearch},
		{"show", "Read one session as a chat: what was said, each tool in one line. from pages; a negative from counts from the end; " +
			"entry begins at an entry that search named. One item alone (limit 1) is shown with more of its text; skip leaves out its beginning.",
			toolSchema(sessionSchema, `"from":{"type":"integer","description":"number of the first item, from 0; default 0"}`,
				`"entry":{"type":"string","description":"begin at this entry, instead of from"}`,
				`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"at most so many items; default 20"}`,
				`"skip":{"type":"integer","minimum":0,"description":"with limit 1: bytes of the item's text to leave out"}`),
			(*app).toolShow},
		{"context", "Read what the model of a session would be sent next: its messages after compactions and on the last branch. from pages.",
			toolSchema(sessionSchema, `"leaf":{"type":"string","description":"the entry where the context ends; default the last"}`,
				`"from":{"type":"integer","description":"number of the first message, from 0; a negative one counts from the end; default 0"}`,
				`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"at most so many messages; default 20"}`),
			(*app).toolContext},
		{"usage", "Sum up what all sessions have used, in tokens and money. Cost is null where no price is known.",
			toolSchema(`"by":{"type":"string","enum":["day","model","provider","project","session"],"description":"a row for each; without it one sum"}`,
				`"since":{"type":"string","description":"a day (2026-03-01), a time, or an age (12h, 7d, 2w)"}`,
				`"tz":{"type":"string","description":"time zone of days, such as Europe/Berlin; default this machine's"}`, pageSchema),
			(*app).toolUsage},
	}
}

// The parts of schemas that tools share.
const (
	sessionSchema = `"session":{"type":"string","description":"a session's id, or a unique beginning of it"}`
	placeSchema   = `"cwd":{"type":"string","description":"only from this working directory"},` +
		`"project":{"type":"string","description":"only from the project of this directory, all its worktrees counted"},` +
		`"since":{"type":"string","description":"a day (2026-03-01), a time, or an age (12h, 7d, 2w)"},` +
		`"until":{"type":"string","description":"before this time"}`
	pageSchema = `"limit":{"type":"integer","minimum":1,"maximum":100,"description":"at most so many; default 20"},` +
		`"offset":{"type":"integer","minimum":0,"description":"leave out so many, as the answer before said in next"}`
)

func toolSchema(properties ...string) string {
	required := ""
	if properties[0] == sessionSchema {
		required = `"required":["session"],`
	}
	return `{"type":"object","additionalProperties":false,` + required + `"properties":{` + strings.Join(properties, ",") + `}}`
}

const (
	toolLimit     = 20
	mostToolLimit = 100
	mostOffset    = 1 << 30
)

// readArgs reads the arguments of a call into a struct.
func readArgs(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return usagef("the arguments are no single JSON object")
		}
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		kind := map[string]string{"int": "a whole number", "string": "text"}[wrong.Type.String()]
		return usagef("%s must be %s", wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], kind)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return usagef("there is no argument %s; the tool's schema shows all", redact.Text(name))
	}
	return usagef("the arguments are no JSON object of the tool's schema")
}

// pageArgs say which part of an answer is asked for.
type pageArgs struct {
	Limit  *int `json:"limit"`
	Offset int  `json:"offset"`
}

func (p pageArgs) limit() (int, error) {
	switch {
	case p.Limit != nil && (*p.Limit < 1 || *p.Limit > mostToolLimit):
		return 0, usagef("limit %d: it is a number from 1 to %d", *p.Limit, mostToolLimit)
	case p.Offset < 0 || p.Offset > mostOffset:
		return 0, usagef("offset %d: it is a number from 0 to %d", p.Offset, mostOffset)
	case p.Limit != nil:
		return *p.Limit, nil
	}
	return toolLimit, nil
}

// placeArgs say where and when.
type placeArgs struct {
	Cwd     string `json:"cwd"`
	Project string `json:"project"`
	Since   string `json:"since"`
	Until   string `json:"until"`
}

func (p placeArgs) flags() scopeFlags { return scopeFlags{p.Cwd, p.Project, p.Since, p.Until} }

// budget is what is left of an answer's bytes.
type budget int

// takes reports whether a part still fits in, and counts it. The first always
// does.
func (b *budget) takes(part any, first bool) bool {
	text, err := encodeJSON(part)
	if err != nil || !first && len(text) > int(*b) {
		return false
	}
	*b -= budget(len(text))
	return true
}

// shorten takes the secrets out of a text, and then all but its beginning.
func shorten(text string, most int) (short string, cut bool) {
	text = strings.ToValidUTF8(redact.Text(text), "\ufffd")
	if len(text) <= most {
		return text, false
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most], true
}
