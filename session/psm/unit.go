package psm

import (
	"github.com/gajae-code/gjc-index/jsonl"
)

// Input is one record that is summed up.
type Input struct {
	Role    string // user, assistant or toolResult
	Tool    string // of a result
	Text    string // redacted; long ones are cut
	Error   bool   // of a result: it failed
	Changes []jsonl.FileChange

	ref InputRef
}

// Unit is what led to one answer: a prompt, the work on it, the answer.
type Unit struct {
	Inputs []Input

	response string // entry id
	size     int    // bytes of text
}

const (
	maxInputText  = 64 << 10  // bytes of one input
	maxUnitText   = 256 << 10 // a longer unit is cut after an answer
	maxUnitInputs = 200
	maxBatchText  = 512 << 10
	maxBatchUnits = 16
)

// unitsOf groups the entries that are not done into units, in order. What waits
// for more is left out: results without a record of a person or a model, and a
// prompt at the very end whose answer is still to come.
func unitsOf(entries []*jsonl.Entry, done map[string]bool, redact jsonl.Redactor) []Unit {
	g := grouping{calls: map[string]jsonl.ToolCall{}}
	seen := map[string]bool{}
	for _, e := range entries {
		id, ok := e.ID()
		if !ok || id == "" || seen[id] {
			continue
		}
		seen[id] = true
		if parent, _ := e.Parent(); parent != g.last {
			g.close() // another branch
		}
		g.last = id
		g.add(e, id, done[id], redact)
	}
	return g.units
}

type grouping struct {
	units []Unit
	open  Unit
	said  bool   // the open unit has a record of a person or a model
	last  string // id of the entry before
	calls map[string]jsonl.ToolCall
}

func (g *grouping) add(e *jsonl.Entry, id string, done bool, redact jsonl.Redactor) {
	if e.Type() != "message" {
		return
	}
	m := e.Value().Get("message")
	role := m.Get("role").Str()
	for _, call := range jsonl.ToolCallsOf(m) {
		g.calls[call.ID] = call
	}
	if role != "user" && role != "assistant" && role != "toolResult" {
		return
	}
	if role == "user" {
		g.close() // what was asked before got no answer that ends it
	}
	if done {
		return
	}
	in := g.input(e, m, role, redact)
	in.ref.Entry = id
	if event, ok := e.EventID(); ok {
		in.ref.Event = event.String()
	}
	g.open.Inputs = append(g.open.Inputs, in)
	g.open.size += len(in.Text)
	g.said = g.said || role != "toolResult"
	if role == "assistant" {
		g.open.response = id
		if len(jsonl.ToolCallsOf(m)) == 0 || g.open.size > maxUnitText || len(g.open.Inputs) > maxUnitInputs {
			g.close()
		}
	}
}

// close ends the open unit, if it can be one; results alone stay for the next.
func (g *grouping) close() {
	if !g.said {
		return
	}
	g.units = append(g.units, g.open)
	g.open, g.said = Unit{}, false
}

func (g *grouping) input(e *jsonl.Entry, m jsonl.Value, role string, redact jsonl.Redactor) Input {
	in := Input{Role: role}
	in.Text = jsonl.MessageText(m)
	if r, ok := e.ToolResult(); ok {
		in.Tool, in.Error, in.Text = r.Tool, r.IsError, jsonl.Display(r.Text)
		if call, ok := g.calls[r.CallID]; ok {
			in.Changes, _ = r.Changes(&call)
		}
	} else if reason := m.Get("errorMessage").Str(); reason != "" {
		in.Text += "\n" + jsonl.Display(reason)
	}
	if redact != nil {
		in.Text = redact(in.Text)
		for i, c := range in.Changes {
			in.Changes[i].Path, in.Changes[i].To = redact(c.Path), redact(c.To)
		}
	}
	in.Text = cut(in.Text, maxInputText)
	return in
}

// cut is text up to so many bytes, never through a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}

// batchOf is how many of the units go into the next batch.
func batchOf(units []Unit) int {
	n, size := 0, 0
	for n < len(units) && n < maxBatchUnits {
		size += units[n].size
		if n > 0 && size > maxBatchText {
			break
		}
		n++
	}
	return n
}
