package jsonl

import (
	"bytes"
	"unicode/utf8"
)

// Lit is the inside of a JSON string literal, escapes and all: a slice of the
// line it was found in, not a copy, so it is valid only as long as the line's
// bytes. The zero Lit stands for a property that is absent or no string.
type Lit struct{ raw []byte }

// literal is a Lit that says s (WTF-8).
func literal(s string) Lit {
	b := appendString(make([]byte, 0, len(s)+2), s)
	return Lit{raw: b[1 : len(b)-1]}
}

func litOf(v Value) Lit {
	if v.kind != String {
		return Lit{}
	}
	return literal(v.str)
}

// Ok reports whether there is a string, be it empty.
func (l Lit) Ok() bool { return l.raw != nil }

// Raw is the literal as it stands in the line, between the quotes. The caller
// must not change it.
func (l Lit) Raw() []byte { return l.raw }

// Text is the string for people: lone surrogates and broken bytes are U+FFFD,
// so the result is valid UTF-8.
func (l Lit) Text() string {
	if l.plain() {
		return string(l.raw)
	}
	return string(l.AppendText(make([]byte, 0, len(l.raw))))
}

// AppendText appends what Text returns to dst.
func (l Lit) AppendText(dst []byte) []byte {
	start := len(dst)
	dst = l.appendWTF8(dst)
	return replaceSurrogates(dst, start)
}

// WTF8 is the string as ECMAScript holds it: lone surrogates stay, as the
// three bytes that UTF-8 would give them.
func (l Lit) WTF8() string {
	if l.plain() {
		return string(l.raw)
	}
	return string(l.appendWTF8(make([]byte, 0, len(l.raw))))
}

// Equal reports whether the literal is there and says s (WTF-8).
func (l Lit) Equal(s string) bool {
	if l.raw == nil || len(l.raw) < len(s) {
		return false
	}
	if string(l.raw) == s && bytes.IndexByte(l.raw, '\\') < 0 {
		return true
	}
	return !l.plain() && len(l.raw) <= 6*len(s) && string(l.appendWTF8(nil)) == s
}

// plain reports whether the literal is its own text: ASCII without escapes.
func (l Lit) plain() bool {
	if bytes.IndexByte(l.raw, '\\') >= 0 {
		return false
	}
	for _, c := range l.raw {
		if c >= utf8.RuneSelf {
			return utf8.Valid(l.raw)
		}
	}
	return true
}

func (l Lit) appendWTF8(dst []byte) []byte {
	p := parser{data: l.raw, buf: dst}
	for p.pos < len(p.data) {
		rest := p.data[p.pos:]
		run := bytes.IndexByte(rest, '\\')
		if run < 0 {
			run = len(rest)
		}
		p.buf = appendDecoded(p.buf, rest[:run])
		p.pos += run
		if p.pos < len(p.data) {
			if err := p.escape(); err != nil {
				return p.buf // no literal of a parsed line gets here
			}
		}
	}
	return p.buf
}

// appendDecoded appends bytes of a file as text: broken UTF-8 is U+FFFD.
func appendDecoded(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, size := decodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[size:]
	}
	return dst
}

// replaceSurrogates makes the lone surrogates of b[start:] U+FFFD, in place:
// both take three bytes.
func replaceSurrogates(b []byte, start int) []byte {
	for i := start; i < len(b); i++ {
		at := bytes.IndexByte(b[i:], 0xED)
		if at < 0 {
			break
		}
		i += at
		if _, ok := surrogateAt(b[i:]); ok {
			b[i], b[i+1], b[i+2] = 0xEF, 0xBF, 0xBD
			i += 2
		}
	}
	return b
}
