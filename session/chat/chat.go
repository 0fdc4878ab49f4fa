package chat

import (
	"slices"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Chat is the items of one path, kept up as entries are added. It is not safe
// for several goroutines.
type Chat struct {
	opt      Options
	revision int64

	slots   []slot
	turn    string
	calls   map[string]int // by call id: the slot of the latest call
	streams map[string]*stream
	final   map[string]bool // display ids whose final message has come

	previews    previews
	attachments map[AttachmentKey][]*jsonl.Attachment

	items []Item // as resolved; nil after a change
}

// slot is an item and what is not resolved of it.
type slot struct {
	item    Item
	stream  *stream
	display *displayKey // of a tool's result
}

// stream is pieces of a message that is not final.
type stream struct {
	display string
	pieces  []*jsonl.OutputChunk
	seen    map[int64]bool
	size    int
	text    string // redacted; valid while shown is len(pieces)
	cut     bool
	shown   int
}

// New begins a chat without entries.
func New(opt Options) *Chat {
	c := &Chat{opt: opt, revision: opt.Revision}
	c.clear()
	return c
}

// Project is the items of a path.
func Project(path []*jsonl.Entry, opt Options) []Item {
	c := New(opt)
	for _, e := range path {
		c.add(e)
	}
	return c.Items()
}

// Add takes the next entry of the path, once it is committed.
func (c *Chat) Add(e *jsonl.Entry) {
	c.revision++
	c.add(e)
}

// Reset begins anew with another path: after a branch, a rewrite, or a patch of
// an entry.
func (c *Chat) Reset(path []*jsonl.Entry) {
	c.revision++
	c.clear()
	for _, e := range path {
		c.add(e)
	}
}

func (c *Chat) clear() {
	c.slots, c.items, c.turn = nil, nil, ""
	c.calls = make(map[string]int)
	c.streams = make(map[string]*stream)
	c.final = make(map[string]bool)
	c.previews = previews{}
	c.attachments = make(map[AttachmentKey][]*jsonl.Attachment)
}

func (c *Chat) add(e *jsonl.Entry) {
	c.items = nil
	switch e.Type() {
	case "message":
		c.message(e, record(e))
	case "custom_message":
		if v := record(e); v.Get("display").Bool() {
			c.text(e, Note, v.Get("content"))
		}
	case "compaction":
		v := record(e)
		text := v.Get("shortSummary")
		if text.Str() == "" {
			text = v.Get("summary")
		}
		c.text(e, Summary, text)
	case "branch_summary":
		c.text(e, Summary, record(e).Get("summary"))
	case "custom":
		c.custom(e, record(e))
	}
}

// put appends an item and returns its slot.
func (c *Chat) put(e *jsonl.Entry, kind Kind, n int) *slot {
	id, _ := e.ID()
	item := Item{ID: id, Entry: id, Kind: kind, Turn: c.turn, Time: e.Timestamp()}
	if n > 0 {
		item.ID += "#" + strconv.Itoa(n)
	}
	c.slots = append(c.slots, slot{item: item})
	return &c.slots[len(c.slots)-1]
}

// text appends an item of a message's content, unless it shows nothing.
func (c *Chat) text(e *jsonl.Entry, kind Kind, content jsonl.Value) {
	text, images := contentText(content)
	if text == "" && images == 0 {
		return
	}
	s := c.put(e, kind, 0)
	s.item.Text, s.item.Cut = c.opt.show(text)
	s.item.Images = images
}

func (c *Chat) message(e *jsonl.Entry, v jsonl.Value) {
	m := v.Get("message")
	c.finish(e, v, m)
	switch e.Role() {
	case "user":
		if m.Get("synthetic").Bool() || m.Get("attribution").Str() == "agent" {
			return // a program wrote it
		}
		c.turn, _ = e.ID()
		c.text(e, User, m.Get("content"))
	case "assistant":
		c.answer(e, m)
	case "toolResult":
		if r, ok := jsonl.ToolResultOf(m); ok {
			c.result(e, &r)
		}
	case "bashExecution", "pythonExecution":
		s := c.put(e, Command, 0)
		command := m.Get("command")
		if command.Str() == "" {
			command = m.Get("code")
		}
		s.item.Text = c.opt.line(command.Str(), maxSummary)
	case "custom", "hookMessage":
		if m.Get("display").Bool() {
			c.text(e, Note, m.Get("content"))
		}
	}
}

// answer appends what an answer says and the tools that it calls, in order.
func (c *Chat) answer(e *jsonl.Entry, m jsonl.Value) {
	if m.Get("content").Is(jsonl.String) {
		c.text(e, Assistant, m.Get("content"))
		return
	}
	n, calls := 0, jsonl.ToolCallsOf(m)
	for _, b := range m.Get("content").Items() {
		kind, text := Assistant, ""
		switch b.Get("type").Str() {
		case "text":
			text = b.Get("text").Str()
		case "thinking":
			if kind = Thinking; c.opt.Thinking {
				text = b.Get("thinking").Str()
			}
		case "toolCall":
			c.call(e, calls[0], n)
			calls = calls[1:]
			n++
			continue
		}
		if text == "" {
			continue
		}
		// Blocks of one kind are one text: a secret may go over their border.
		if last := len(c.slots) - 1; n > 0 && c.slots[last].item.Kind == kind && c.slots[last].stream == nil {
			c.slots[last].item.Text += "\n\n" + text
			continue
		}
		c.put(e, kind, n).item.Text = text
		n++
	}
	for i := len(c.slots) - n; i < len(c.slots); i++ {
		if s := &c.slots[i]; s.item.Kind != ToolUse {
			s.item.Text, s.item.Cut = c.opt.show(s.item.Text)
		}
	}
}

func (c *Chat) call(e *jsonl.Entry, call jsonl.ToolCall, n int) {
	s := c.put(e, ToolUse, n)
	s.item.Tool = &Tool{Call: call.ID, Name: c.opt.line(call.Name, maxSummary), Summary: c.opt.summary(call.Arguments), State: Running}
	if call.ID != "" {
		c.calls[call.ID] = len(c.slots) - 1
		c.drop(call.ID)
	}
}

// result finishes the latest call that it answers; one without a call is an
// item of its own.
func (c *Chat) result(e *jsonl.Entry, r *jsonl.ToolResult) {
	at, ok := c.calls[r.CallID]
	if !ok {
		c.put(e, ToolUse, 0).item.Tool = &Tool{Call: r.CallID, Name: c.opt.line(r.Tool, maxSummary)}
		at = len(c.slots) - 1
	}
	delete(c.calls, r.CallID)
	s := &c.slots[at]
	s.item.Tool.State = Done
	if r.IsError {
		s.item.Tool.State = Failed
	}
	s.item.Tool.Parent = r.Details.Get("parent").Str()
	if key := c.displayOf(r); key.display != "" {
		s.display = &key
		c.previews.result(key.display)
	}
}

func (c *Chat) custom(e *jsonl.Entry, v jsonl.Value) {
	name, data := v.Get("customType").Str(), v.Get("data")
	d, ok := jsonl.ParseCustom(name, data)
	if c.opt.Public && jsonl.KindOf("custom", name).Local {
		return
	}
	if name == jsonl.KindToolAppliedPreview {
		p, _ := d.(*jsonl.AppliedPreview)
		c.previews.add(p, data)
		return
	}
	if !ok {
		return
	}
	switch d := d.(type) {
	case *jsonl.OutputChunk:
		c.chunk(e, d)
	case *jsonl.Attachment:
		key := AttachmentKey{d.Turn, d.Parent, d.Call}
		c.attachments[key] = append(c.attachments[key], d)
	case *jsonl.Diagnostic:
		c.text(e, Note, jsonl.StringValue(d.Text))
	}
}

// Items are the chat so far. The caller must not change them.
func (c *Chat) Items() []Item {
	if c.items != nil {
		return c.items
	}
	items := make([]Item, 0, len(c.slots))
	available := c.previews.available()
	for i := range c.slots {
		s := &c.slots[i]
		item := s.item
		if s.stream != nil {
			if c.streams[s.stream.display] != s.stream {
				continue // a final message has come
			}
			item.Text, item.Cut = s.stream.show(&c.opt)
		}
		if item.Tool != nil {
			tool := *item.Tool
			if s.display != nil {
				tool.Preview = c.previews.find(*s.display, available, &c.opt)
			}
			tool.Attachment = c.attached(AttachmentKey{item.Turn, tool.Parent, tool.Call})
			item.Tool = &tool
		}
		items = append(items, item)
	}
	c.items = slices.Clip(items)
	return c.items
}
