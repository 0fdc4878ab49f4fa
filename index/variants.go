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
			} else if buf = Fold(buf[:0], "a"+string(r)); string(buf) != "a"+string(r) { // loses a mark after a Latin letter
				list = append(list, variant{r, string(buf[1:])})
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

// spelling says which runes of a raw line may stand for some runes of a folded
// text, other than these themselves.
type spelling struct {
	odd     runeSet // from U+0080, as they are
	any     bool    // odd is not empty
	escaped runeSet // as \u escapes, ASCII too
}

func spellingOf(text string) *spelling {
	sp := &spelling{odd: newRuneSet(), escaped: newRuneSet()}
	own := newRuneSet()
	for _, r := range text {
		own.add(r)
		sp.escaped.add(r)
		if 'a' <= r && r <= 'z' {
			sp.escaped.add(r - 'a' + 'A')
		}
		for _, part := range norm.NFD.String(string(r)) {
			if part != r {
				own.add(part)
				sp.addPart(part)
			}
		}
	}
	for _, v := range variants() {
		for _, r := range v.fold {
			if own.has(r) {
				sp.addOdd(v.r)
				break
			}
		}
	}
	if own.has(utf8.RuneError) {
		sp.addOdd(utf8.RuneError) // bytes that are no UTF-8
	}
	return sp
}

func (sp *spelling) addOdd(r rune) {
	sp.odd.add(r)
	sp.escaped.add(r)
	sp.any = true
}

// addPart takes a rune that joins others to make one of the text's. One that
// also stands alone tells nothing: the rune that joins it does.
func (sp *spelling) addPart(part rune) {
	sp.escaped.add(part)
	jamo := part >= 0x1100 && part < 0x1200
	if jamo || isMark(part) || !norm.NFC.PropertiesString(string(part)).BoundaryBefore() {
		sp.addOdd(part)
	}
}
