package checkpoint

import (
	"bytes"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
)

// The bounds of Effects. What is beyond them is counted, not listed.
const (
	maxEffectPaths = 512
	maxEffectPath  = 1024 // bytes of one path
	maxOpenCalls   = 256
)

// Effects is the structured evidence of files that a session changed. It is
// only ever added to: a restore, a clean diff or a summary that says that
// nothing changed takes nothing away. The zero Effects is empty; as a
// jsonl.CustomData it is a checkpoint of the entries it was folded from.
type Effects struct {
	jsonl.ExecutionEffects // paths in the order in which they were first seen; Overflow counts changes, not paths

	places map[string]int       // path to its place in Paths
	calls  map[string]*openCall // calls that have no result yet
	order  []string             // their ids
	fields jsonl.Fields
	added  func(at int) // told of each path that got a change, by its place; may be nil
}

// openCall is as much of a tool call as its result may need.
type openCall struct {
	tool string
	path string
}

// FoldEffects adds what entries say to prev, which it changes and returns; nil
// is empty. Checkpoints among the entries are added as well.
func FoldEffects(prev *Effects, entries []*jsonl.Entry) *Effects {
	if prev == nil {
		prev = &Effects{}
	}
	// A result may stand before the checkpoint that keeps its call.
	for _, e := range entries {
		if e.Type() == "custom" {
			prev.note(e, nil)
		}
	}
	for _, e := range entries {
		prev.Add(e)
	}
	return prev
}

// Add takes the next entry. Where there are checkpoints, FoldEffects knows more.
func (x *Effects) Add(e *jsonl.Entry) { x.take(e, nil) }

// take is Add for an entry whose line has been scanned; fields are nil for any
// other.
func (x *Effects) take(e *jsonl.Entry, fields *jsonl.Fields) {
	switch role := e.Role(); role {
	case "assistant":
		x.note(e, fields)
	case "toolResult":
		if r, ok := x.plainResult(e, fields); ok {
			x.result(&r, e.Timestamp())
		} else if r, ok := jsonl.ToolResultOf(messageOf(e)); ok {
			x.result(&r, e.Timestamp())
		}
	case "bashExecution", "pythonExecution":
		x.UnprovenCalls++
	}
	if e.Type() != "custom" {
		return
	}
	if name, data := customOf(e); name == jsonl.KindExecutionEffects {
		x.checkpoint(data)
	}
}

// note takes the calls of an answer or a checkpoint, whose results may come.
func (x *Effects) note(e *jsonl.Entry, fields *jsonl.Fields) {
	if e.Type() == "custom" {
		if name, data := customOf(e); name == jsonl.KindExecutionEffects {
			x.carried(data)
		}
		return
	}
	if fields != nil {
		x.called(fields)
		return
	}
	if raw := e.Raw(); raw != nil && !bytes.Contains(raw, []byte("toolCall")) && !bytes.Contains(raw, []byte(`\u`)) {
		return
	}
	for _, call := range jsonl.ToolCallsOf(messageOf(e)) {
		x.call(call.ID, openCall{call.Name, jsonl.CallPath(call.Arguments)})
	}
}

// called takes the calls of an answer.
func (x *Effects) called(f *jsonl.Fields) {
	for i := range f.Calls {
		c := &f.Calls[i]
		x.call(c.ID.WTF8(), openCall{c.Name.WTF8(), c.Path.WTF8()})
	}
}

// plainResult is as much of a tool result as there is to know of one that has
// no details and comes from no tool that names its file in the call; ok is
// false for any other.
func (x *Effects) plainResult(e *jsonl.Entry, fields *jsonl.Fields) (r jsonl.ToolResult, ok bool) {
	if fields == nil {
		raw := e.Raw()
		if raw == nil || bytes.Contains(raw, []byte("details")) || bytes.Contains(raw, []byte(`\u`)) || !x.fields.Scan(raw) {
			return r, false
		}
		fields = &x.fields
	}
	if fields.Details != nil {
		return r, false
	}
	r.CallID, r.Tool = fields.ToolCallID.WTF8(), fields.ToolName.WTF8()
	return r, r.Tool != "write"
}

// messageOf is the message of an entry, which doesn't keep it parsed.
func messageOf(e *jsonl.Entry) jsonl.Value {
	if raw := e.Raw(); raw != nil {
		v, _, _ := jsonl.Parse(raw)
		return v.Get("message")
	}
	return e.Value().Get("message")
}

// call notes a call until its result comes. Too many of them: the oldest is
// forgotten, and a result that needed it makes the evidence incomplete.
func (x *Effects) call(id string, c openCall) {
	if id == "" || len(id) > maxEffectPath || len(c.path) > maxEffectPath || len(c.tool) > maxEffectPath {
		return
	}
	if x.calls == nil {
		x.calls = make(map[string]*openCall)
	}
	x.close(id)
	if len(x.order) == maxOpenCalls {
		x.close(x.order[0])
	}
	x.calls[id] = &c
	x.order = append(x.order, id)
}

// close forgets a call.
func (x *Effects) close(id string) {
	if x.calls[id] != nil {
		delete(x.calls, id)
		x.order = slices.DeleteFunc(x.order, func(o string) bool { return o == id })
	}
}

func (x *Effects) result(r *jsonl.ToolResult, timestamp string) {
	var call *jsonl.ToolCall
	if c := x.calls[r.CallID]; c != nil {
		path := jsonl.Member{Key: "path", Value: jsonl.StringValue(c.path)}
		call = &jsonl.ToolCall{ID: r.CallID, Name: c.tool, Arguments: jsonl.ObjectValue(jsonl.NewObj(path))}
		x.close(r.CallID)
	}
	changes, evidence := r.Changes(call)
	switch evidence {
	case jsonl.EvidenceMissing:
		x.Incomplete = true
	case jsonl.EvidenceUnproven:
		x.UnprovenCalls++
	case jsonl.EvidenceHarmless, jsonl.EvidenceChanges:
	}
	for _, c := range changes {
		p := jsonl.EffectPath{Path: c.Path, First: timestamp, Last: timestamp}
		switch c.Op {
		case jsonl.FileCreate:
			p.Ops.Create = 1
		case jsonl.FileWrite:
			p.Ops.Write = 1
		case jsonl.FileEdit:
			p.Ops.Edit = 1
		case jsonl.FileDelete:
			p.Ops.Delete = 1
		case jsonl.FileRename:
			p.Ops.Rename = 1
		}
		x.add(p)
		if c.Op == jsonl.FileRename && c.To != "" && c.To != c.Path {
			p.Path = c.To
			x.add(p)
		}
	}
}

// add adds the changes of one file.
func (x *Effects) add(p jsonl.EffectPath) {
	at, ok := x.places[p.Path]
	if !ok && (len(x.Paths) >= maxEffectPaths || len(p.Path) > maxEffectPath) {
		x.Overflow += p.Ops.Create + p.Ops.Write + p.Ops.Edit + p.Ops.Delete + p.Ops.Rename
		return
	}
	if !ok {
		if x.places == nil {
			x.places = make(map[string]int)
		}
		x.places[p.Path] = len(x.Paths)
		x.Paths = append(x.Paths, p)
		x.tell(len(x.Paths) - 1)
		return
	}
	x.tell(at)
	have := &x.Paths[at]
	have.Ops.Create += p.Ops.Create
	have.Ops.Write += p.Ops.Write
	have.Ops.Edit += p.Ops.Edit
	have.Ops.Delete += p.Ops.Delete
	have.Ops.Rename += p.Ops.Rename
	// Timestamps of the format sort as text.
	if have.First == "" || (p.First != "" && p.First < have.First) {
		have.First = p.First
	}
	have.Last = max(have.Last, p.Last)
}

func (x *Effects) tell(at int) {
	if x.added != nil {
		x.added(at)
	}
}

// Empty reports whether there is nothing to keep.
func (x *Effects) Empty() bool {
	return len(x.Paths) == 0 && x.Overflow == 0 && x.UnprovenCalls == 0 && !x.Incomplete && len(x.order) == 0
}

// Data is the checkpoint's data: that of jsonl.ExecutionEffects and, where
// there are some, the calls whose results are still to come.
func (x *Effects) Data() *jsonl.Obj {
	o := x.ExecutionEffects.Data()
	if len(x.order) == 0 {
		return o
	}
	calls := make([]jsonl.Value, len(x.order))
	for i, id := range x.order {
		c := x.calls[id]
		calls[i] = jsonl.ObjectValue(jsonl.NewObj(
			jsonl.Member{Key: "id", Value: jsonl.StringValue(id)},
			jsonl.Member{Key: "tool", Value: jsonl.StringValue(c.tool)},
			jsonl.Member{Key: "path", Value: jsonl.StringValue(c.path)}))
	}
	o.Set("calls", jsonl.ArrayValue(calls...))
	return o
}

// checkpoint adds what an older checkpoint keeps. One whose shape is wrong
// stands for entries that nobody can tell of any more.
func (x *Effects) checkpoint(data jsonl.Value) {
	d, ok := jsonl.ParseCustom(jsonl.KindExecutionEffects, data)
	if !ok {
		x.Incomplete = true
		return
	}
	old := d.(*jsonl.ExecutionEffects)
	for _, p := range old.Paths {
		x.add(p)
	}
	x.Overflow += old.Overflow
	x.UnprovenCalls += old.UnprovenCalls
	x.Incomplete = x.Incomplete || old.Incomplete
	x.carried(data)
}

// carried takes the calls that a checkpoint keeps.
func (x *Effects) carried(data jsonl.Value) {
	for _, c := range data.Get("calls").Items() {
		x.call(c.Get("id").Str(), openCall{c.Get("tool").Str(), c.Get("path").Str()})
	}
}
