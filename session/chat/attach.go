package chat

import (
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
)

// attached is the attachment of a call; nil if there is none, or more than
// one.
func (c *Chat) attached(key AttachmentKey) *Attachment {
	list := c.attachments[key]
	if key.Call == "" || len(list) != 1 {
		return nil
	}
	a := list[0]
	return &Attachment{Key: key, Name: c.opt.line(a.Name, maxSummary), MIME: c.opt.line(a.MIME, maxSummary), Blob: a.Blob}
}

// OpenAttachment gives an attachment, its text redacted, if there is exactly
// one by that key and the tool that made it is the one asked for: same tells
// whether a saved name and a name of today are one tool's; nil compares them.
// All is checked before the caller replaces anything. Else ErrAttachment.
func (c *Chat) OpenAttachment(key AttachmentKey, tool string, same func(saved, live string) bool) (*jsonl.Attachment, error) {
	list := c.attachments[key]
	if same == nil {
		same = func(saved, live string) bool { return saved == live }
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("%w: the call has none", ErrAttachment)
	case len(list) > 1:
		return nil, fmt.Errorf("%w: the call has %d", ErrAttachment, len(list))
	case !same(list[0].Tool, tool):
		return nil, fmt.Errorf("%w: another tool made it", ErrAttachment)
	}
	a := *list[0]
	a.Text = c.opt.redact(a.Text)
	return &a, nil
}
