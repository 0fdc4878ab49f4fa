package jsonl

// AppliedPreview is what a person is shown of a change that a tool has made.
// It is no evidence of the change.
type AppliedPreview struct {
	Display   string // id of the result's display
	Session   string
	Parent    string // "" for a call that stands in no other
	Seq       int64
	Path      string
	Lines     []string
	Truncated bool
}

// Kind is KindToolAppliedPreview.
func (p *AppliedPreview) Kind() string { return KindToolAppliedPreview }

// Data is the entry's data.
func (p *AppliedPreview) Data() *Obj {
	return data(textMember("display", p.Display), textMember("session", p.Session),
		textMember("parent", p.Parent), countMember("seq", p.Seq), textMember("path", p.Path),
		Member{"lines", textValues(p.Lines)}, Member{"truncated", BoolValue(p.Truncated)})
}

func parsePreview(s *shape) *AppliedPreview {
	return &AppliedPreview{
		Display:   s.name("display"),
		Session:   s.name("session"),
		Parent:    s.text("parent"),
		Seq:       s.count("seq"),
		Path:      s.text("path"),
		Lines:     s.texts("lines"),
		Truncated: s.flag("truncated"),
	}
}

// Attachment is a file or a text that a call produced for the chat.
type Attachment struct {
	Turn, Parent, Call string // what keys it; Parent is "" for a call that stands in no other
	Tool               string // name of the tool
	Name               string // shown to the person
	MIME               string
	Blob               string // a blob reference; "" if Text holds the content
	Text               string
}

// Kind is KindAttachment.
func (a *Attachment) Kind() string { return KindAttachment }

// Data is the entry's data.
func (a *Attachment) Data() *Obj {
	o := data(textMember("turn", a.Turn), textMember("parent", a.Parent), textMember("call", a.Call),
		textMember("tool", a.Tool), textMember("name", a.Name), textMember("mime", a.MIME))
	if a.Blob != "" {
		o.Set("blob", StringValue(a.Blob))
	} else {
		o.Set("text", StringValue(a.Text))
	}
	return o
}

func parseAttachment(s *shape) *Attachment {
	// Exactly one of the two holds the content.
	if s.o.Has("blob") == s.o.Has("text") {
		s.wrong = true
	}
	a := &Attachment{
		Turn:   s.text("turn"),
		Parent: s.text("parent"),
		Call:   s.name("call"),
		Tool:   s.text("tool"),
		Name:   s.text("name"),
		MIME:   s.text("mime"),
		Text:   s.optional("text"),
	}
	if s.o.Has("blob") {
		a.Blob = s.name("blob")
	}
	return a
}

// OutputChunk is a piece of text that a person was shown before the message
// that it belongs to was final.
type OutputChunk struct {
	Display string // id of the display that it adds to
	Seq     int64
	Text    string
}

// Kind is KindOutputChunk.
func (c *OutputChunk) Kind() string { return KindOutputChunk }

// Data is the entry's data.
func (c *OutputChunk) Data() *Obj {
	return data(textMember("display", c.Display), countMember("seq", c.Seq), textMember("text", c.Text))
}
