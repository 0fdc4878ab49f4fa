package index

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// prefilter finds the lines of raw JSON that may hold a text that matches a
// query. A line is passed over only if one piece of one term can't be in it: it
// has the piece in neither case, and no rune or escape that could be a part of
// it in another spelling. So the lines found are decoded, folded and judged,
// and no other has to be.
type prefilter struct {
	all    bool   // every line may match
	needle []byte // folded; one of the query's pieces
	rare   int    // offset in needle of the byte looked for
	low    byte   // it, in both cases
	high   byte
	*spelling
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
	p := &prefilter{needle: best, rare: newFinder(best).rare, spelling: spellingOf(best)}
	p.low = best[p.rare]
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
type cursors struct {
	needleLow, needleHigh, odd, escape int
}

// next is the first place from pos on that makes its line worth looking at, or
// none. c keeps what is known of the chunk between calls with rising pos; it
// begins as {-1, -1, -1, -1}. pos is 0 or the beginning of a line.
func (p *prefilter) next(data []byte, pos int, c *cursors) int {
	if p.all {
		return pos
	}
	if c.needleLow < pos {
		c.needleLow = p.nextNeedle(data, pos, p.low)
	}
	if p.high == p.low {
		c.needleHigh = none
	} else if c.needleHigh < pos {
		c.needleHigh = p.nextNeedle(data, pos, p.high)
	}
	if c.odd < pos {
		c.odd = p.nextOdd(data, pos)
	}
	if c.escape < pos {
		c.escape = p.nextEscape(data, pos)
	}
	return min(c.needleLow, c.needleHigh, c.odd, c.escape)
}

// nextNeedle finds the needle in either case with its rarest byte as given.
func (p *prefilter) nextNeedle(data []byte, pos int, rare byte) int {
	n, r := len(p.needle), p.rare
	for from := pos + r; from < len(data); {
		i := bytes.IndexByte(data[from:], rare)
		if i < 0 {
			break
		}
		from += i + 1
		start := from - 1 - r
		if start+n > len(data) {
			break
		}
		if sameFold(data[start:start+n], p.needle) {
			return start
		}
	}
	return none
}

// sameFold reports whether raw is the folded needle, but for ASCII case.
func sameFold(raw, needle []byte) bool {
	for i, c := range needle {
		d := raw[i]
		if d != c && (d|0x20 != c || d < 'A' || d > 'Z') {
			return false
		}
	}
	return true
}

// nextOdd finds a rune from U+0080 that may spell a part of the needle.
func (p *prefilter) nextOdd(data []byte, pos int) int {
	for pos < len(data) {
		pos = nextHigh(data, pos)
		for pos < len(data) && data[pos] >= utf8.RuneSelf {
			r, size := decodeHigh(data[pos:])
			if p.odd.has(r) || p.marks && isMarkFast(r) && p.afterBase(data, pos) {
				return pos
			}
			pos += size
		}
	}
	return none
}

// nextHigh is the offset of the next byte from 0x80, or the length.
func nextHigh(data []byte, pos int) int {
	for ; pos+32 <= len(data); pos += 32 {
		b := data[pos : pos+32 : pos+32]
		x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if x&highBits != 0 {
			break
		}
	}
	for pos < len(data) && data[pos] < utf8.RuneSelf {
		pos++
	}
	return pos
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

// isMarkFast is isMark with the blocks that have none taken out first.
func isMarkFast(r rune) bool {
	switch {
	case r < 0x300, r >= 0x3400 && r < 0xA600, r >= 0xAC00 && r < 0xFB00, r >= 0x2010 && r < 0x20D0, r >= 0x2100 && r < 0x2C00:
		return false
	}
	return isMark(r)
}

// afterBase reports whether the mark at data[at] may belong to a rune of the
// needle.
func (p *prefilter) afterBase(data []byte, at int) bool {
	if at == 0 {
		return true
	}
	if at >= 6 && data[at-6] == '\\' && data[at-5] == 'u' {
		return true
	}
	r, _ := utf8.DecodeLastRune(data[:at])
	return p.bases.has(r) || isMark(r) || r == utf8.RuneError
}

// nextEscape finds a \u escape of a rune that may spell a part of the needle.
// data[pos] is not within an escape.
func (p *prefilter) nextEscape(data []byte, pos int) int {
	for pos < len(data) {
		i := bytes.IndexByte(data[pos:], '\\')
		if i < 0 || pos+i+1 >= len(data) {
			break
		}
		pos += i
		if data[pos+1] != 'u' {
			pos += 2
			continue
		}
		r, size := escapedRune(data[pos:])
		if p.escaped.has(r) || p.marks && isMarkFast(r) || r >= 0xD7B0 && r < 0xD800 {
			return pos
		}
		pos += size
	}
	return none
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
