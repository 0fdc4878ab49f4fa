package jsonl

import (
	"strings"
	"unicode/utf8"
)

// Lengths are UTF-16 code units throughout the format, since that is how
// ECMAScript counts. Text here is WTF-8: a surrogate that stands alone takes
// three bytes and counts as one unit.

// Len16 is the length of s in UTF-16 code units.
func Len16(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		n += unitsAt(s[i])
	}
	return n
}

// unitsAt is how many code units begin with the character whose first byte is
// c; 0 for a byte inside a character.
func unitsAt(c byte) int {
	switch {
	case c < 0x80:
		return 1
	case c < 0xC0:
		return 0
	case c < 0xF0:
		return 1
	}
	return 2
}

// longer16 reports whether s has more than n code units. It looks at the bytes
// only where their number leaves it open.
func longer16(s string, n int) bool {
	return len(s) > n && Len16(s) > n
}

// Cut16 is s up to n UTF-16 code units. A text that had to be cut never ends
// in a high surrogate: neither in half of a pair nor in one that stood alone.
func Cut16(s string, n int) string {
	if len(s) <= n {
		return s
	}
	units := 0
	for i := 0; i < len(s); i++ {
		units += unitsAt(s[i])
		if units > n {
			return trimHighSurrogate(s[:i])
		}
	}
	return s
}

func trimHighSurrogate(s string) string {
	if len(s) < 3 {
		return s
	}
	if u, ok := surrogateAt(s[len(s)-3:]); ok && u < 0xDC00 {
		return s[:len(s)-3]
	}
	return s
}

// hasSurrogate reports whether WTF-8 text holds a surrogate that stands alone:
// such text has no UTF-8 form that says the same.
func hasSurrogate(s string) bool {
	return strings.IndexByte(s, 0xED) >= 0 && !utf8.ValidString(s)
}
