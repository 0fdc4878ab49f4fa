package redact

import (
	"sort"
	"strings"
)

// maxEscapes is how deep JSON may stand in JSON.
const maxEscapes = 3

// view is a text of which some bytes were replaced or left out, and where in
// the text that it was made from its bytes stand.
type view struct {
	text  string
	steps []step // by position
	base  *view  // nil: it was made from the source itself
	joins bool   // bytes were left out
}

// step says that from a position of the view on, text stands at another
// position of its base.
type step struct{ at, base int }

// source is where the byte at a position stands in the source.
func (v *view) source(at int) int {
	for ; v != nil; v = v.base {
		n := sort.Search(len(v.steps), func(i int) bool { return v.steps[i].at > at })
		if n > 0 {
			at += v.steps[n-1].base - v.steps[n-1].at
		}
	}
	return at
}

// end is where a piece that ends before a position, and is not empty, ends in
// the source. An escape belongs to its piece whole, what was left out to none.
func (v *view) end(at int) int {
	if v != nil && v.joins {
		return v.source(at-1) + 1
	}
	return v.source(at)
}

// unescaped is the text with JSON's escapes undone once; nil if it has none.
// Escapes that are none of JSON's, and those of characters beyond ASCII, which
// no secret has, stay.
func unescaped(base *view, s string) *view {
	var v *view
	var b []byte
	at := 0
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		c, size := escape(s[i:])
		if size == 0 {
			i++
			continue
		}
		if v == nil {
			v, b = &view{base: base}, make([]byte, 0, len(s))
		}
		b = append(append(b, s[at:i]...), c)
		i += size
		at = i
		v.steps = append(v.steps, step{len(b), at})
	}
	if v != nil {
		v.text = string(append(b, s[at:]...))
	}
	return v
}

// escape reads the escape at the beginning of s; size is 0 if it is none.
func escape(s string) (c byte, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return s[1], 2
	case 'n', 'r':
		return '\n', 2
	case 't', 'b', 'f':
		return ' ', 2
	case 'u':
		if len(s) < 6 || s[2:4] != "00" {
			return 0, 0
		}
		high, ok := hexDigit(s[4])
		low, ok2 := hexDigit(s[5])
		if !ok || !ok2 || high > 7 {
			return 0, 0
		}
		return high<<4 | low, 6
	}
	return 0, 0
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// joined is the text without its line breaks and the blanks around them; nil
// if it has none.
func joined(s string) *view {
	v := &view{joins: true}
	b := make([]byte, 0, len(s))
	at := 0
	for {
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			break
		}
		end := at + n
		for end > at && (s[end-1] == '\r' || s[end-1] == ' ') {
			end--
		}
		b = append(b, s[at:end]...)
		at += n + 1
		for at < len(s) && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r') {
			at++
		}
		v.steps = append(v.steps, step{len(b), at})
	}
	if len(v.steps) == 0 {
		return nil
	}
	v.text = string(append(b, s[at:]...))
	return v
}

// breaks are the steps, from and before to, at which lines were put together
// inside of a piece.
func (v *view) breaks(start, end int) (from, to int) {
	from = sort.Search(len(v.steps), func(i int) bool { return v.steps[i].at > start })
	to = sort.Search(len(v.steps), func(i int) bool { return v.steps[i].at >= end })
	return from, max(from, to)
}
