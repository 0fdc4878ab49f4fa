package index

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// prefilter finds the lines of raw JSON that may hold a text that matches a
// query; these are decoded, folded and judged, and no others have to be.
//
// It looks for one rune, the pivot, of one piece of one term: in either case,
// with what stands around it in the piece as far as ASCII tells, or in another
// spelling, or as an escape.
type prefilter struct {
	all         bool   // every line may match
	piece       []byte // folded
	pivot       int    // offset in piece of the rune looked for
	pivotBytes  []byte
	rare        int  // offset in pivotBytes of the byte looked for
	low, high   byte // it, in both cases
	pivotOthers *spelling
	pieceOthers *spelling
}

func newPrefilter(q Query) *prefilter {
	var best []byte
	bestScore := -1
	for _, term := range q.Terms {
		for _, piece := range bytes.FieldsFunc(term, splitsPiece) {
			if score := pieceScore(piece); score > bestScore {
				best, bestScore = piece, score
			}
		}
	}
	if best == nil {
		return &prefilter{all: true}
	}
	p := &prefilter{piece: best, pieceOthers: spellingOf(string(best))}
	p.pivot = newFinder(best).rare
	for !utf8.RuneStart(best[p.pivot]) {
		p.pivot--
	}
	_, size := utf8.DecodeRune(best[p.pivot:])
	p.pivotBytes = best[p.pivot : p.pivot+size]
	p.rare = newFinder(p.pivotBytes).rare
	p.pivotOthers = spellingOf(string(p.pivotBytes))
	p.low = p.pivotBytes[p.rare]
	p.high = p.low
	if 'a' <= p.low && p.low <= 'z' {
		p.high -= 'a' - 'A'
	}
	return p
}

// splitsPiece reports whether r may be written as an escape, or be the blank
// between the blocks of a message's text.
func splitsPiece(r rune) bool {
	return r <= ' ' || r == '"' || r == '\\' || r == '/'
}

// pieceScore is how few places of a file look like the piece: by its rarest
// byte first.
func pieceScore(piece []byte) int {
	f := newFinder(piece)
	return (255-byteRank(piece[f.rare]))*64 + min(len(piece), 63)
}

// none is a place after every other one.
const none = int(^uint(0) >> 1)

// cursors are the next places of a chunk that make a line worth looking at, by
// the way in which they do.
type cursors struct{ low, high, other int }

// newCursors is where a chunk begins.
func newCursors() cursors { return cursors{-1, -1, -1} }

// next is the first place from pos on that makes its line worth looking at, or
// none. c keeps what is known of the chunk between calls with rising pos. pos is
// the beginning of a line.
func (p *prefilter) next(data []byte, pos int, c *cursors) int {
	if p.all {
		return pos
	}
	if c.low < pos {
		c.low = p.nextPivot(data, pos, p.low)
	}
	if p.high == p.low {
		c.high = none
	} else if c.high < pos {
		c.high = p.nextPivot(data, pos, p.high)
	}
	if c.other < pos {
		c.other = p.nextOther(data, pos)
	}
	return min(c.low, c.high, c.other)
}

// nextPivot finds the pivot with its rarest byte as given, where what stands
// around it may be the piece.
func (p *prefilter) nextPivot(data []byte, pos int, rare byte) int {
	for from := pos; from < len(data); {
		i := bytes.IndexByte(data[from:], rare)
		if i < 0 {
			break
		}
		from += i + 1
		at := from - 1 - p.rare
		if len(p.pivotBytes) > 1 && (at < pos || !bytes.HasPrefix(data[at:], p.pivotBytes)) {
			continue
		}
		if p.mayFollow(data, at+len(p.pivotBytes)) && p.mayPrecede(data, at) {
			return at
		}
	}
	return none
}

// mayFollow reports whether what stands from data[at] on may be the rest of the
// piece after the pivot.
func (p *prefilter) mayFollow(data []byte, at int) bool {
	for _, c := range p.piece[p.pivot+len(p.pivotBytes):] {
		if at >= len(data) {
			return false
		}
		d := data[at]
		if d != c && (d|0x20 != c || d < 'A' || d > 'Z') {
			return d >= utf8.RuneSelf && p.mayBeOther(data, at) || bytes.HasPrefix(data[at:], []byte(`\u`))
		}
		at++
	}
	return true
}

// mayPrecede reports whether what stands before data[at] may be the beginning
// of the piece before the pivot.
func (p *prefilter) mayPrecede(data []byte, at int) bool {
	for i := p.pivot - 1; i >= 0; i-- {
		at--
		if at < 0 {
			return false
		}
		c, d := p.piece[i], data[at]
		if d != c && (d|0x20 != c || d < 'A' || d > 'Z') {
			return d >= utf8.RuneSelf && p.mayBeOther(data, at) ||
				bytes.Contains(data[max(0, at-5):at+1], []byte(`\u`)) // perhaps within an escape
		}
	}
	return true
}

// mayBeOther reports whether the rune that data[at] is a byte of may spell a
// part of the piece, or vanish.
func (p *prefilter) mayBeOther(data []byte, at int) bool {
	for n := 0; n < utf8.UTFMax-1 && at > 0 && !utf8.RuneStart(data[at]); n++ {
		at--
	}
	r, _ := utf8.DecodeRune(data[at:])
	return p.pieceOthers.escaped.has(r) || isMark(r) || r == utf8.RuneError
}

// nextOther finds a rune from U+0080, or an escape, that may spell the pivot.
func (p *prefilter) nextOther(data []byte, pos int) int {
	high := uint64(0)
	if p.pivotOthers.any {
		high = highBits
	}
	for pos < len(data) {
		pos = nextStrange(data, pos, high)
		if pos == len(data) {
			break
		}
		if data[pos] == '\\' {
			if beginsEscape(data, pos) {
				if r, _ := escapedRune(data[pos:]); p.pivotOthers.escaped.has(r) {
					return pos
				}
			}
			pos += 2
			continue
		}
		for pos < len(data) && data[pos] >= utf8.RuneSelf {
			r, size := decodeHigh(data[pos:])
			if p.pivotOthers.odd.has(r) {
				return pos
			}
			pos += size
		}
	}
	return none
}

// nextStrange is the offset of the next \u or byte with one of the bits of
// high, which are the same for each byte; the length if there is none.
func nextStrange(data []byte, pos int, high uint64) int {
	const backslashes, us = '\\' * eachByte, 'u' * eachByte
	for ; pos+33 <= len(data); pos += 32 {
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
