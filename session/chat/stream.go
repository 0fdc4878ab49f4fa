package chat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// A message names the display that its pieces were streamed to: by displayId
// (or display) of the message or its entry, or of a tool result's details, or
// else the display bears the entry's own id.

// finish drops the pieces of the displays that a final message names.
func (c *Chat) finish(e *jsonl.Entry, v, message jsonl.Value) {
	id, _ := e.ID()
	c.drop(id)
	for _, from := range []jsonl.Value{v, message, message.Get("details")} {
		for _, key := range []string{"displayId", "display"} {
			c.drop(from.Get(key).Str())
		}
	}
	c.drop(message.Get("toolCallId").Str())
}

// drop forgets the pieces of a display, and those that come late.
func (c *Chat) drop(display string) {
	if display == "" {
		return
	}
	c.final[display] = true
	delete(c.streams, display)
}

// chunk takes a piece. Of two with one number the first counts.
func (c *Chat) chunk(e *jsonl.Entry, d *jsonl.OutputChunk) {
	if c.final[d.Display] {
		return
	}
	s := c.streams[d.Display]
	if s == nil {
		s = &stream{display: d.Display, seen: make(map[int64]bool)}
		c.streams[d.Display] = s
		at := c.put(e, Assistant, 0)
		at.item.ID = "display:" + d.Display
		at.item.Partial = true
		at.stream = s
	}
	if s.seen[d.Seq] {
		return
	}
	s.seen[d.Seq] = true
	s.pieces = append(s.pieces, d)
	s.size += len(d.Text)
}

// show is the pieces in their order.
func (s *stream) show(o *Options) (text string, cut bool) {
	if s.shown == len(s.pieces) {
		return s.text, s.cut
	}
	slices.SortStableFunc(s.pieces, func(a, b *jsonl.OutputChunk) int { return cmp.Compare(a.Seq, b.Seq) })
	var b strings.Builder
	b.Grow(min(s.size, maxStream))
	for _, p := range s.pieces {
		if b.Len()+len(p.Text) > maxStream {
			break
		}
		b.WriteString(p.Text)
	}
	s.text, s.cut = o.show(b.String())
	s.cut = s.cut || b.Len() < s.size
	s.shown = len(s.pieces)
	return s.text, s.cut
}
