package session

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// TitleSource says who chose a title.
type TitleSource string

// The sources of a title. An automatic one never replaces the user's.
const (
	TitleByUser TitleSource = "user"
	TitleAuto   TitleSource = "auto"
)

// maxTitle is how long a title may be, in UTF-16 units.
const maxTitle = 1000

// CleanTitle is a title as it is stored: control characters are spaces, runs
// of spaces one, and what is past 1000 UTF-16 units is cut. Source: behaviour
// part 6, decision 15.
func CleanTitle(title string) string {
	title = strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r <= 0x9f) {
			return ' '
		}
		return r
	}, keepSurrogates(title))
	var b strings.Builder
	space := false
	for _, r := range []byte(title) {
		if r == ' ' && space {
			continue
		}
		space = r == ' '
		b.WriteByte(r)
	}
	return jsonl.Cut16(strings.TrimFunc(b.String(), isTrimmed), maxTitle)
}

// keepSurrogates is title if every rune of it can be mapped without loss, else
// with what can't shown as U+FFFD.
func keepSurrogates(title string) string {
	if utf8.ValidString(title) {
		return title
	}
	return jsonl.Display(title)
}

// isTrimmed tells the white space of ECMAScript's String.prototype.trim.
func isTrimmed(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// SetTitle gives the session a title, cleaned. It reports false, and changes
// nothing, if nothing is left of the title or an automatic one would replace
// the user's.
//
// Errors: those of AppendBatch. A failed automatic title does not stop the
// session.
func (s *Session) SetTitle(ctx context.Context, title string, source TitleSource) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return false, err
	}
	if s.partial {
		if err := s.loadLocked(ctx); err != nil {
			return false, err
		}
	}
	title = CleanTitle(title)
	if title == "" || (source == TitleAuto && s.titledLocked().TitleSource() == string(TitleByUser)) {
		return false, nil
	}
	patch := jsonl.HeaderPatch{Title: jsonl.StringValue(title), TitleSource: jsonl.StringValue(string(source))}
	err := s.patchHeaderLocked(ctx, patch)
	if err == nil {
		return true, s.writeLeafLocked(ctx)
	}
	if source == TitleAuto {
		s.st.opt.Log.Warn("write automatic title", "path", s.path, "cause", err)
		return false, err
	}
	_, err = s.failed(err)
	return false, err
}

// patchHeaderLocked changes the header in memory and on disk, or neither.
func (c *core) patchHeaderLocked(ctx context.Context, p jsonl.HeaderPatch) error {
	if c.latched != nil {
		return c.latchedError()
	}
	old := c.header
	c.header = jsonl.NewHeader(old.Value().Clone())
	for _, m := range jsonl.HeaderPatchRecord(p).Get("patch").Obj().Members() {
		c.header.Set(m.Key, m.Value)
	}
	err := c.persistPatch(ctx, jsonl.HeaderPatchRecord(p))
	if err != nil {
		c.header = old
	} else if !p.Title.Is(jsonl.Absent) {
		c.title = nil
	}
	return err
}

// persistPatch writes one patch record, unless the header and the entries are
// to be written whole anyway.
func (c *core) persistPatch(ctx context.Context, patch *jsonl.Obj) error {
	switch {
	case c.memory, !c.onDisk:
		return nil
	case c.rewrite:
		return c.rewriteLocked(ctx, nil)
	}
	v := jsonl.ObjectValue(patch)
	if err := c.writeLocked(ctx, v); err != nil {
		return err
	}
	c.rememberPatch()
	return nil
}

// rememberPatch knows the patch just written again when the file is read before a rewrite.
func (c *core) rememberPatch() {
	if c.patched == nil {
		c.patched = map[string]int{}
	}
	c.patched[string(c.buf[:len(c.buf)-1])]++
}
