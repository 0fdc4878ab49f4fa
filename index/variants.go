package index

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A file is searched in its raw bytes, and a text in them may be written in
// other ways than its fold: in capitals, with marks, full-width, decomposed.
// This file says which runes may stand for a part of a term.

// runeSet is a set of runes.
type runeSet []uint64

func newRuneSet() runeSet { return make(runeSet, (unicode.MaxRune+64)/64) }

func (s runeSet) add(r rune)      { s[r>>6] |= 1 << (r & 63) }
func (s runeSet) has(r rune) bool { return s[r>>6]&(1<<(r&63)) != 0 }

// variant is a rune that is not its own fold.
type variant struct {
	r    rune
	fold string
}

// variants are all of them from U+0080 but marks.
var variants = sync.OnceValue(func() []variant {
	var list []variant
	var buf []byte
	for _, span := range [...][2]rune{
		{utf8.RuneSelf, 0x33FF}, {0xA000, 0xABFF}, {0xF900, 0xFFFF}, {0x10400, 0x118FF}, {0x16E00, 0x16FFF},
		{0x1D100, 0x1D1FF}, {0x1E900, 0x1E9FF}, {0x2F800, 0x2FA1F},
	} {
		for r := span[0]; r <= span[1]; r++ {
			if !folds(r) || isMark(r) {
				continue
			}
			if buf = Fold(buf[:0], string(r)); string(buf) != string(r) {
				list = append(list, variant{r, string(buf)})
			}
		}
	}
	return list
})

// folds reports whether r may be another rune than its fold.
func folds(r rune) bool {
	if unicode.SimpleFold(r) != r || r == 'İ' || r == 'ı' || r == 'ß' || r == 'ẞ' || narrow(r) != r {
		return true
	}
	var b [utf8.UTFMax]byte
	n := utf8.EncodeRune(b[:], r)
	return norm.NFD.QuickSpan(b[:n]) < n
}

func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

// spelling says which runes of a raw line may stand for a part of a folded
// piece of a term, other than the piece's own runes.
type spelling struct {
	odd     runeSet // from U+0080: each makes a line worth decoding
	escaped runeSet // the same for runes written as \u escapes, ASCII too
	marks   bool    // a mark after a rune of bases does so too
	bases   runeSet
}

func spellingOf(piece []byte) *spelling {
	sp := &spelling{odd: newRuneSet(), escaped: newRuneSet(), bases: newRuneSet()}
	own := newRuneSet()
	parts := newRuneSet() // what the piece's runes decompose into
	for _, r := range string(piece) {
		own.add(r)
		sp.escaped.add(r)
		sp.bases.add(r)
		sp.marks = sp.marks || unicode.In(r, unicode.Latin, unicode.Greek) || r == 'е'
		for _, part := range norm.NFD.String(string(r)) {
			parts.add(part)
			if part != r {
				sp.marks = true
				sp.bases.add(part)
				sp.addPart(part)
			}
		}
		sp.marks = sp.marks || isMark(r)
	}
	for r := 'A'; r <= 'Z'; r++ {
		if own.has(r + 'a' - 'A') {
			sp.escaped.add(r)
			sp.bases.add(r)
		}
	}
	for _, v := range variants() {
		for _, r := range v.fold {
			if own.has(r) || parts.has(r) {
				sp.odd.add(v.r)
				sp.escaped.add(v.r)
				sp.bases.add(v.r)
				break
			}
		}
	}
	if own.has(utf8.RuneError) {
		sp.odd.add(utf8.RuneError)
	}
	return sp
}

// addPart takes a rune that joins others to make one of the piece's, unless it
// is one that stands alone as well: then the mark after it tells.
func (sp *spelling) addPart(part rune) {
	if isMark(part) {
		return
	}
	jamo := part >= 0x1100 && part < 0x1200
	if jamo || !norm.NFC.PropertiesString(string(part)).BoundaryBefore() {
		sp.odd.add(part)
	}
	sp.escaped.add(part)
}
