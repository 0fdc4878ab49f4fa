package chat

import (
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// The bounds of previews, in bytes.
const (
	MaxPreview     = 64 << 10 // of one preview's lines
	MaxAllPreviews = 4 << 20  // of a session's; the oldest become unavailable
	maxPath        = 4 << 10  // of a path as it is shown
)

// displayKey is what a preview is joined to its result by, and nothing else:
// where it stands says nothing.
type displayKey struct {
	display, session, parent string
	seq                      int64
	anySeq                   bool // the result doesn't number its previews
}

// displayOf is the key of a result. A result that names no session is of this
// one.
func (c *Chat) displayOf(r *jsonl.ToolResult) displayKey {
	d := r.Details
	k := displayKey{display: r.DisplayID(), session: c.opt.Session, parent: d.Get("parent").Str()}
	if s := d.Get("session").Str(); s != "" {
		k.session = s
	}
	seq := d.Get("seq")
	k.seq, k.anySeq = int64(seq.Num()), !seq.Is(jsonl.Number)
	return k
}

// previews are the previews of a path, in order.
type previews struct {
	list    []*jsonl.AppliedPreview
	by      map[string][]int // by display id: places in list
	broken  map[string]bool  // display ids of which a preview is damaged or came too early
	results map[string]int   // by display id: how many results bear it
	shown   map[int]*Preview // by place: as it is shown
}

func (p *previews) result(display string) {
	if p.results == nil {
		p.results = make(map[string]int)
	}
	p.results[display]++
}

// add takes a preview; nil is one whose data has the wrong shape.
func (p *previews) add(d *jsonl.AppliedPreview, data jsonl.Value) {
	display := data.Get("display").Str()
	if d == nil || p.results[display] == 0 || !isPlain(d) || previewSize(d) > MaxPreview {
		if p.broken == nil {
			p.broken = make(map[string]bool)
		}
		p.broken[display] = true
		return
	}
	if p.by == nil {
		p.by = make(map[string][]int)
	}
	p.by[display] = append(p.by[display], len(p.list))
	p.list = append(p.list, d)
}

// isPlain reports whether a preview has no control characters but tabs.
func isPlain(d *jsonl.AppliedPreview) bool {
	for _, s := range append([]string{d.Path}, d.Lines...) {
		if strings.ContainsFunc(s, isControl) {
			return false
		}
	}
	return true
}

func isControl(r rune) bool { return r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }

func previewSize(d *jsonl.AppliedPreview) int {
	n := len(d.Path)
	for _, line := range d.Lines {
		n += len(line) + 1
	}
	return n
}

// available is the place of the oldest preview that is within the bound of
// all.
func (p *previews) available() (first int) {
	size := 0
	for first = len(p.list); first > 0; first-- {
		if size += previewSize(p.list[first-1]); size > MaxAllPreviews {
			return first
		}
	}
	return 0
}

// find is the preview of a result; nil if none was recorded. One that can't be
// told for sure is unavailable.
func (p *previews) find(key displayKey, first int, o *Options) *Preview {
	places := p.by[key.display]
	if len(places) == 0 && !p.broken[key.display] {
		return nil
	}
	if p.broken[key.display] || p.results[key.display] != 1 || key.session != o.Session {
		return &Preview{}
	}
	found := -1
	for _, i := range places {
		d := p.list[i]
		if d.Session != key.session || d.Parent != key.parent || (d.Seq != key.seq && !key.anySeq) {
			continue
		}
		if found >= 0 {
			return &Preview{}
		}
		found = i
	}
	if found < first {
		return &Preview{}
	}
	return p.show(found, o)
}

// show is a preview as it is shown: redacted as one text, not line by line.
func (p *previews) show(place int, o *Options) *Preview {
	if shown := p.shown[place]; shown != nil {
		return shown
	}
	d := p.list[place]
	lines := d.Lines
	if len(lines) > 0 {
		lines = strings.Split(o.redact(strings.Join(lines, "\n")), "\n")
	}
	if p.shown == nil {
		p.shown = make(map[int]*Preview)
	}
	shown := &Preview{Available: true, Path: o.line(d.Path, maxPath), Lines: lines, Truncated: d.Truncated}
	p.shown[place] = shown
	return shown
}

// NewPreview makes the preview of a change for its transcript, after its
// result was appended: key says what it joins (its Lines and Truncated are
// ignored), text is the whole of what could be shown. It is redacted before
// lines are taken from its beginning, up to the bound, and control characters
// are left out.
func NewPreview(key jsonl.AppliedPreview, text string, redact jsonl.Redactor) *jsonl.AppliedPreview {
	o := Options{Redact: redact}
	p := key
	p.Path = strings.Map(plainRune, o.redact(key.Path))
	p.Lines, p.Truncated = []string{}, false
	size := len(p.Path)
	for line := range strings.SplitSeq(strings.TrimSuffix(o.redact(text), "\n"), "\n") {
		line = strings.Map(plainRune, line)
		if size+len(line)+1 > MaxPreview {
			p.Truncated = true
			break
		}
		size += len(line) + 1
		p.Lines = append(p.Lines, line)
	}
	return &p
}

func plainRune(r rune) rune {
	if isControl(r) {
		return -1
	}
	return r
}
