package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// Effects can also be fed message by message, by a reader that keeps neither
// entries nor texts, and go on from where another reader stopped.

// Effect is a file that was changed, and the entry that shows it.
type Effect struct {
	jsonl.EffectPath
	Entry string // id of the last entry that shows a change; "" if it has none
}

// EffectCall is a tool call that has no result yet.
type EffectCall struct {
	ID, Tool string
	Path     string // "" if it names none
}

// Feed folds effects of messages. The zero Feed is empty. Not safe for several
// goroutines.
type Feed struct {
	effects Effects
	by      []string // by place in Paths
}

// ResumeFeed is a feed that has seen what gave these effects and left these
// calls open.
func ResumeFeed(effects []Effect, calls []EffectCall) *Feed {
	f := &Feed{}
	for _, e := range effects {
		f.watch(e.Entry, func() { f.effects.add(e.EffectPath) })
	}
	for _, c := range calls {
		f.effects.call(c.ID, openCall{c.Tool, c.Path})
	}
	return f
}

// watch runs add and notes which paths it changed.
func (f *Feed) watch(entry string, add func()) {
	f.effects.added = func(at int) {
		if at == len(f.by) {
			f.by = append(f.by, "")
		}
		f.by[at] = entry
	}
	add()
	f.effects.added = nil
}

// Message takes the message of the next entry. Only messages of roles assistant
// and toolResult say anything of files.
func (f *Feed) Message(entry, timestamp string, message jsonl.Value) {
	switch message.Get("role").Str() {
	case "assistant":
		for _, call := range jsonl.ToolCallsOf(message) {
			f.effects.call(call.ID, openCall{call.Name, jsonl.CallPath(call.Arguments)})
		}
	case "toolResult":
		if r, ok := jsonl.ToolResultOf(message); ok {
			f.watch(entry, func() { f.effects.result(&r, timestamp) })
		}
	}
}

// Fold takes whole entries, all that there are.
func (f *Feed) Fold(entries []*jsonl.Entry) {
	for _, e := range entries {
		if e.Type() == "custom" {
			f.effects.note(e, nil)
		}
	}
	for _, e := range entries {
		id, _ := e.ID()
		f.watch(id, func() { f.effects.Add(e) })
	}
}

// Called takes the calls of an answer whose line has been scanned.
func (f *Feed) Called(answer *jsonl.Fields) { f.effects.called(answer) }

// Answered takes a tool result that is known to prove no change.
func (f *Feed) Answered(call string) { f.effects.close(call) }

// Carry takes the calls that a checkpoint keeps. The calls of all checkpoints
// come before the first message, since a result may stand before its call's
// checkpoint.
func (f *Feed) Carry(data jsonl.Value) { f.effects.carried(data) }

// Checkpoint takes the data of an execution_effects checkpoint.
func (f *Feed) Checkpoint(entry string, data jsonl.Value) {
	f.watch(entry, func() { f.effects.checkpoint(data) })
}

// Effects are the files that were changed, in the order in which they were
// first seen.
func (f *Feed) Effects() []Effect {
	all := make([]Effect, len(f.effects.Paths))
	for i, p := range f.effects.Paths {
		all[i] = Effect{p, f.by[i]}
	}
	return all
}

// Calls are the tool calls that have no result yet, the oldest first.
func (f *Feed) Calls() []EffectCall {
	all := make([]EffectCall, len(f.effects.order))
	for i, id := range f.effects.order {
		c := f.effects.calls[id]
		all[i] = EffectCall{id, c.tool, c.path}
	}
	return all
}
