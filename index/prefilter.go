package index

import (
	"bytes"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
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

	// A pivot of three bytes, where one alone is too common: what they are
	// once the bits that tell cases apart are set.
	triple     bool
	set, want  [3]uint64
	markBreaks bool // a mark may stand among them
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
	p.pivot = jsonl.NewFinder(best).Rarest()
	for !utf8.RuneStart(best[p.pivot]) {
		p.pivot--
	}
	_, size := utf8.DecodeRune(best[p.pivot:])
	p.pivotBytes = best[p.pivot : p.pivot+size]
	p.rare = jsonl.NewFinder(p.pivotBytes).Rarest()
	if n := chooseTriple(best, p.pivot); n >= 0 {
		p.useTriple(n)
		return p
	}
	p.pivotOthers = spellingOf(string(p.pivotBytes))
	p.low = p.pivotBytes[p.rare]
	p.high = p.low
	if 'a' <= p.low && p.low <= 'z' {
		p.high -= 'a' - 'A'
	}
	return p
}

// commonByte is the first byte that is too common to be looked for alone.
const commonByte = 'b'

// chooseTriple is the offset of the three neighbours of a piece to be looked for
// if the byte at pivot alone is too common; -1 if it is not, or there are none.
func chooseTriple(piece []byte, pivot int) int {
	if jsonl.ByteRank(piece[pivot]) <= jsonl.ByteRank(commonByte) {
		return -1
	}
	best, bestRank := -1, 0
	for i := range len(piece) - 2 {
		rank := 1
		for _, c := range piece[i : i+3] {
			rank *= jsonl.ByteRank(c)
			if c >= utf8.RuneSelf {
				rank = 0
				break
			}
		}
		if rank > 0 && (best < 0 || rank < bestRank) {
			best, bestRank = i, rank
		}
	}
	return best
}

// useTriple makes the three bytes at n the pivot.
func (p *prefilter) useTriple(n int) {
	p.triple, p.pivot, p.pivotBytes = true, n, p.piece[n:n+3]
	for i, c := range p.pivotBytes {
		p.set[i], p.want[i] = eachCase(c)
		p.markBreaks = p.markBreaks || p.set[i] != 0
	}
	p.pivotOthers = spellingOf(string(p.pivotBytes))
	if p.markBreaks {
		p.pivotOthers.any = true
	}
}

// eachCase is what to set in eight bytes, and what they then are, if they are c
// in either case.
func eachCase(c byte) (set, want uint64) {
	if 'a' <= c && c <= 'z' {
		set = 0x20 * eachByte
	}
	return set, uint64(c) * eachByte
}

// splitsPiece reports whether r may be written as an escape, be the blank
// between the blocks of a message's text, or stand elsewhere among the marks of
// its base.
func splitsPiece(r rune) bool {
	return r <= ' ' || r == '"' || r == '\\' || r == '/' || isMark(r)
}

// pieceScore is how few places of a file look like the piece: by its rarest
// byte first.
func pieceScore(piece []byte) int {
	f := jsonl.NewFinder(piece)
	return (255-jsonl.ByteRank(piece[f.Rarest()]))*64 + min(len(piece), 63)
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
		if p.triple {
			c.low = p.nextTriple(data, pos)
		} else {
			c.low = p.nextPivot(data, pos, p.low)
		}
	}
	if p.triple || p.high == p.low {
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
		if p.mayFollow(data, at+len(p.pivotBytes), p.pivot+len(p.pivotBytes)) && p.mayPrecede(data, at, p.pivot) {
			return at
		}
	}
	return none
}

// mayFollow reports whether what stands from data[at] on may be piece[n:].
func (p *prefilter) mayFollow(data []byte, at, n int) bool {
	for _, c := range p.piece[n:] {
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

// mayPrecede reports whether what stands before data[at] may be piece[:n].
func (p *prefilter) mayPrecede(data []byte, at, n int) bool {
	for i := n - 1; i >= 0; i-- {
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
				r, size := escapedRune(data[pos:])
				if p.pivotOthers.escaped.has(r) && p.fits(data, pos, size, r) || p.markBreaks && isMark(r) {
					return pos
				}
			}
			pos += 2
			continue
		}
		for pos < len(data) && data[pos] >= utf8.RuneSelf {
			r, size := decodeHigh(data[pos:])
			if p.pivotOthers.odd.has(r) && p.fits(data, pos, size, r) || p.markBreaks && r >= 0x300 && p.breaks(data, pos, r) {
				return pos
			}
			pos += size
		}
	}
	return none
}

// fits reports whether the piece may stand where r, written in size bytes at
// data[at], is a part of the pivot.
func (p *prefilter) fits(data []byte, at, size int, r rune) bool {
	var room [16]byte
	fold := utf8.AppendRune(room[:0], r)
	if r >= utf8.RuneSelf {
		fold = Fold(room[:0], string(r))
	}
	if len(fold) != 1 {
		return true
	}
	for n := p.pivot; n < p.pivot+len(p.pivotBytes); n++ {
		if p.piece[n] == fold[0]|0x20 || p.piece[n] == fold[0] {
			if p.mayFollow(data, at+size, n+1) && p.mayPrecede(data, at, n) {
				return true
			}
		}
	}
	return false
}

// breaks reports whether r at data[at] is a mark after one of the pivot's first
// bytes.
func (p *prefilter) breaks(data []byte, at int, r rune) bool {
	if at == 0 || !isMark(r) {
		return false
	}
	// Other letters that spell them are found by themselves, and so is an
	// escape.
	c := data[at-1]
	for i := range 2 {
		if c|byte(p.set[i]) == byte(p.want[i]) && p.mayPrecede(data, at-1, p.pivot+i) {
			return true
		}
	}
	return c >= utf8.RuneSelf && isMarkBefore(data, at)
}

// isMarkBefore reports whether a mark ends before data[at].
func isMarkBefore(data []byte, at int) bool {
	r, _ := utf8.DecodeLastRune(data[:at])
	return isMark(r) || r == utf8.RuneError
}
