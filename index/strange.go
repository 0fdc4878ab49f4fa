package index

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// What JSON text has beside plain ASCII: bytes from 0x80 and \u escapes.

// nextStrange is the offset of the next \u or byte with one of the bits of
// high, which are the same for each byte; the length if there is none.
func nextStrange(data []byte, pos int, high uint64) int {
	const backslashes, us = '\\' * eachByte, 'u' * eachByte
	for pos = passStrange(data, pos, high); pos+33 <= len(data); pos += 32 {
		b := data[pos : pos+33 : pos+33]
		x0, x1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		x2, x3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		// A byte of these is 0 where a backslash stands before a u.
		v0 := (x0 ^ backslashes) | (binary.LittleEndian.Uint64(b[1:]) ^ us)
		v1 := (x1 ^ backslashes) | (binary.LittleEndian.Uint64(b[9:]) ^ us)
		v2 := (x2 ^ backslashes) | (binary.LittleEndian.Uint64(b[17:]) ^ us)
		v3 := (x3 ^ backslashes) | (binary.LittleEndian.Uint64(b[25:]) ^ us)
		zero := (v0-eachByte)&^v0 | (v1-eachByte)&^v1 | (v2-eachByte)&^v2 | (v3-eachByte)&^v3
		if zero&highBits|(x0|x1|x2|x3)&high != 0 {
			break
		}
	}
	for ; pos < len(data); pos++ {
		c := data[pos]
		if uint64(c)&high != 0 || c == '\\' && pos+1 < len(data) && data[pos+1] == 'u' {
			break
		}
	}
	return pos
}

// beginsEscape reports whether the backslash at data[at] is no escaped one.
func beginsEscape(data []byte, at int) bool {
	n := 0
	for n < at && data[at-1-n] == '\\' {
		n++
	}
	return n%2 == 0
}

// decodeHigh is utf8.DecodeRune for a first byte from 0x80.
func decodeHigh(b []byte) (rune, int) {
	if len(b) >= 3 && b[0]&0xF0 == 0xE0 && b[1]&0xC0 == 0x80 && b[2]&0xC0 == 0x80 {
		r := rune(b[0]&0x0F)<<12 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
		if r >= 0x800 && r&^0x7FF != 0xD800 {
			return r, 3
		}
	}
	return utf8.DecodeRune(b)
}

// escapedRune reads what stands at a \u: a rune, or U+FFFD for half a pair.
func escapedRune(b []byte) (rune, int) {
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		return max(r, 0), 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if both := utf16.DecodeRune(r, hex4(b[6:])); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads the four digits after \u; -1 if they are none.
func hex4(b []byte) rune {
	if len(b) < 6 {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
