package session

import (
	"bytes"
	"encoding/hex"
)

// RefSearch finds the references to blobs in bytes that are written to it,
// whatever these are: the digits of a sum after its name, which may be escaped
// as JSON. What it finds is more than what a reader of records does. The zero
// value with Found is ready. Not safe for several goroutines.
type RefSearch struct {
	Found func(sum [32]byte) // told of each, perhaps more than once

	kept []byte // the end of what was written before
	both []byte
}

// refOverlap is how many bytes are looked at again with the next ones: more than
// a reference.
const refOverlap = 1 << 10

// Write searches p, and what stands where it joins what was written before. It
// never fails.
func (s *RefSearch) Write(p []byte) (int, error) {
	if len(p) <= refOverlap {
		s.both = append(append(s.both[:0], s.kept...), p...)
		s.take(s.both)
		s.kept = append(s.kept[:0], s.both[max(0, len(s.both)-refOverlap):]...)
		return len(p), nil
	}
	s.both = append(append(s.both[:0], s.kept...), p[:refOverlap]...)
	s.take(s.both)
	s.take(p)
	s.kept = append(s.kept[:0], p[len(p)-refOverlap:]...)
	return len(p), nil
}

var (
	sumName    = []byte("sha")  // before the part of a reference that is looked for
	sumSize    = []byte("256:") // that part: its first byte is rarer than a letter
	escapeMark = []byte(`\u00`) // begins the escape of an ASCII character
)

// take finds the references in a text.
func (s *RefSearch) take(text []byte) {
	s.plain(text)
	// Of a reference's characters the escapes begin so; those of control
	// characters, of which terminals' output is full, do not.
	for rest := text; ; {
		i := bytes.Index(rest, escapeMark)
		if i < 0 || i+len(escapeMark) == len(rest) {
			return
		}
		rest = rest[i+len(escapeMark):]
		if c := rest[0]; c == '3' || c == '6' || c == '7' {
			s.plain(unescaped(text))
			return
		}
	}
}

func (s *RefSearch) plain(text []byte) {
	for {
		i := bytes.Index(text, sumSize)
		if i < 0 {
			return
		}
		named := bytes.HasSuffix(text[:i], sumName)
		text = text[i+len(sumSize):]
		if !named || len(text) < 64 {
			continue
		}
		var sum [32]byte
		digits := text[:64]
		if bytes.ContainsAny(digits, "ABCDEF") {
			continue
		}
		if _, err := hex.Decode(sum[:], digits); err == nil {
			s.Found(sum)
		}
	}
}

// unescaped is text with the JSON escapes of ASCII characters read.
func unescaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		i := bytes.Index(text, []byte(`\u00`))
		if i < 0 || i+6 > len(text) {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		high, low := fromHex(text[i+4]), fromHex(text[i+5])
		if high < 2 || high > 7 || low < 0 {
			out = append(out, text[i:i+len(escapeMark)]...) // behind it may be another
			text = text[i+len(escapeMark):]
			continue
		}
		out = append(out, byte(high<<4|low))
		text = text[i+6:]
	}
	return out
}

func fromHex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
