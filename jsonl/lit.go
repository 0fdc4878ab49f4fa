package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
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
func (l Lit) Raw() []byte { return slices.Clip(l.raw) }

// In is where the literal begins in the line that was scanned for it; ok is
// false if it is a copy, as of a line that had to be parsed.
func (l Lit) In(line []byte) (at int, ok bool) {
	at = cap(line) - cap(l.raw) // slices of one array end with it
	if len(l.raw) == 0 || at < 0 || at > len(line)-len(l.raw) || &line[at] != &l.raw[0] {
		return 0, false
	}
	return at, true
}

// Text is the string for people: lone surrogates are U+FFFD, so the result is
// valid UTF-8.
func (l Lit) Text() string {
	if l.plain() {
		return string(l.raw)
	}
	return string(l.AppendText(make([]byte, 0, len(l.raw))))
}

// AppendText appends what Text returns to dst.
func (l Lit) AppendText(dst []byte) []byte {
	start := len(dst)
	dst, surrogates := l.unescape(dst)
	if surrogates {
		replaceSurrogates(dst[start:])
	}
	return dst
}

// WTF8 is the string as ECMAScript holds it: lone surrogates stay, as the
// three bytes that UTF-8 would give them.
func (l Lit) WTF8() string {
	if l.plain() {
		return string(l.raw)
	}
	wtf8, _ := l.unescape(make([]byte, 0, len(l.raw)))
	return string(wtf8)
}

// Equal reports whether the literal is there and says s (WTF-8).
func (l Lit) Equal(s string) bool {
	switch {
	case l.raw == nil, len(l.raw) < len(s), len(l.raw) > 6*len(s):
		return false // a byte of s takes six at most
	case l.plain():
		return string(l.raw) == s
	}
	wtf8, _ := l.unescape(nil)
	return string(wtf8) == s
}

// plain reports whether the literal is its own text.
func (l Lit) plain() bool { return bytes.IndexByte(l.raw, '\\') < 0 }

// unescape appends the literal's WTF-8 to dst and tells whether a surrogate
// was escaped in it. The text never takes more bytes than the literal, which
// is valid UTF-8: the line was checked, or the literal made, before.
func (l Lit) unescape(dst []byte) (out []byte, surrogates bool) {
	start := len(dst)
	dst = slices.Grow(dst, len(l.raw))
	out = dst[:start+len(l.raw)]
	in, i, o := l.raw, 0, start
	for i < len(in) {
		if i+8 <= len(in) {
			x := binary.LittleEndian.Uint64(in[i:])
			binary.LittleEndian.PutUint64(out[o:], x)
			m := backslashes(x)
			k := bits.TrailingZeros64(m) >> 3 // 8 if there is none
			i, o = i+k, o+k
			if m == 0 {
				continue
			}
		} else if in[i] != '\\' {
			out[o] = in[i]
			i, o = i+1, o+1
			continue
		}
		if c := shortEscape[in[i+1]]; c != 0 {
			out[o] = c
			i, o = i+2, o+1
			continue
		}
		u := unit(in[i+2:])
		surrogates = surrogates || u&0xF800 == 0xD800
		o = start + len(appendUnit(out[start:o], u))
		i += 6
	}
	return out[:o], surrogates
}

// backslashes marks, by its high bit, the lowest backslash of x.
func backslashes(x uint64) uint64 {
	x ^= slants
	return (x - ones) &^ x & highs
}

// unit reads the four digits of a \u escape.
func unit(b []byte) (u uint16) {
	for _, c := range b[:4] {
		d, _ := hexDigit(c)
		u = u<<4 | uint16(d)
	}
	return u
}

// shortEscape gives what stands for \n and its like; 0 for anything else.
var shortEscape = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// replaceSurrogates makes the lone surrogates of b U+FFFD, in place: both take
// three bytes.
func replaceSurrogates(b []byte) {
	for i := 0; i < len(b); i++ {
		at := bytes.IndexByte(b[i:], 0xED)
		if at < 0 {
			return
		}
		i += at
		if _, ok := surrogateAt(b[i:]); ok {
			b[i], b[i+1], b[i+2] = 0xEF, 0xBF, 0xBD
			i += 2
		}
	}
}
