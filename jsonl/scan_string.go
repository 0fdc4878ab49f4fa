package jsonl

import (
	"encoding/binary"
	"math/bits"
)

// The inner loop of the field reader: where does a string literal end, and is
// every byte of it allowed. Eight bytes are looked at together.

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	spaces = 0x20 * ones
	quotes = '"' * ones
	slants = '\\' * ones
)

// special marks, by their high bits, the bytes of x that a string literal does
// not simply contain: control characters, quote, backslash and all of UTF-8
// past ASCII. The lowest mark is right; those above it may be false.
func special(x uint64) uint64 {
	return (x | (x - spaces) | ((x ^ quotes) - ones) | ((x ^ slants) - ones)) & highs
}

// stringEnd returns the index of the quote that closes the literal whose
// inside begins at b[i], or -1 if it isn't a whole, valid one.
func stringEnd(b []byte, i int) int {
	for {
		for uint(i)+16 <= uint(len(b)) {
			w := b[i : i+16 : len(b)]
			m := special(binary.LittleEndian.Uint64(w))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto found
			}
			m = special(binary.LittleEndian.Uint64(w[8:]))
			if m != 0 {
				i += 8 + bits.TrailingZeros64(m)>>3
				goto found
			}
			i += 16
		}
		for i < len(b) && isPlain[b[i]] {
			i++
		}
	found:
		if uint(i) >= uint(len(b)) {
			return -1
		}
		switch c := b[i]; {
		case c == '\\':
			i = escapeEnd(b, i)
		case c == '"':
			return i
		case c >= 0x80:
			i = wideEnd(b, i)
		default:
			return -1
		}
		if i < 0 {
			return -1
		}
	}
}

// escapeEnd returns the index after the escape that begins at b[i]; -1 if it
// is none.
func escapeEnd(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	if shortEscape[b[i+1]] != 0 {
		return i + 2
	}
	if b[i+1] != 'u' || i+6 > len(b) {
		return -1
	}
	for _, c := range b[i+2 : i+6] {
		if !isHex[c] {
			return -1
		}
	}
	return i + 6
}

// wideEnd returns the index after the run of characters past ASCII that begins
// at b[i]; -1 if it is no valid UTF-8.
func wideEnd(b []byte, i int) int {
	for i < len(b) && b[i] >= 0x80 {
		c := b[i]
		w := b[i:]
		switch {
		case c < 0xC2 || c > 0xF4:
			return -1
		case c < 0xE0:
			if len(w) < 2 || w[1]&0xC0 != 0x80 {
				return -1
			}
			i += 2
		case c < 0xF0:
			if len(w) < 3 || w[1]&0xC0 != 0x80 || w[2]&0xC0 != 0x80 ||
				(c == 0xE0 && w[1] < 0xA0) || (c == 0xED && w[1] > 0x9F) {
				return -1
			}
			i += 3
		default:
			if len(w) < 4 || w[1]&0xC0 != 0x80 || w[2]&0xC0 != 0x80 || w[3]&0xC0 != 0x80 ||
				(c == 0xF0 && w[1] < 0x90) || (c == 0xF4 && w[1] > 0x8F) {
				return -1
			}
			i += 4
		}
	}
	return i
}

// numberEnd returns the index after the number that begins at b[i]; -1 if it
// isn't one.
func numberEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digitsEnd(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digitsEnd(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digitsEnd(b, i)
	}
	return i
}

func digitsEnd(b []byte, i int) int {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// isPlain are the bytes that need no look inside a literal, isHex the digits
// of a \u escape.
var (
	isPlain = byteSet(func(c byte) bool { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' })
	isHex   = byteSet(func(c byte) bool { _, ok := hexDigit(c); return ok })
)

func byteSet(in func(byte) bool) (set [256]bool) {
	for c := range set {
		set[c] = in(byte(c))
	}
	return set
}
