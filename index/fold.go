package index

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

// Fold appends to dst the form of s in which texts and queries are compared,
// valid UTF-8 whatever s holds (bytes that are none, and lone surrogates, read
// as U+FFFD). Folding what is folded changes nothing.
//
// The form is NFC. Marks are dropped on letters whose base is Latin or Greek,
// and the two dots of Cyrillic ё; in every other script they stay, since there
// they make other letters or vowels. Full-width ASCII becomes ASCII. Letters
// are folded by the simple case folding, with ß as ss and İ and ı as i.
func Fold(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		n := 0
		dst, n = appendLowerASCII(dst, s[i:])
		i += n
		if i == len(s) {
			break
		}
		r, size := decodeRune(s[i:])
		if !plain(r) {
			if n > 0 {
				// The letter before may be this mark's base.
				i--
				dst = dst[:len(dst)-1]
			}
			dst, i = foldCluster(dst, s, i)
			continue
		}
		if next := i + size; next < len(s) && s[next] >= utf8.RuneSelf {
			if f, _ := decodeRune(s[next:]); !plain(f) {
				dst, i = foldCluster(dst, s, i)
				continue
			}
		}
		dst = appendPlain(dst, r)
		i += size
	}
	return dst
}

// foldBytes is Fold for bytes, which it does not keep.
func foldBytes(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return Fold(dst, unsafe.String(&b[0], len(b)))
}

const (
	highBits = 0x8080808080808080
	eachByte = 0x0101010101010101
)

// appendLowerASCII appends the ASCII bytes s begins with, in lower case, and
// says how many there were.
func appendLowerASCII(dst []byte, s string) ([]byte, int) {
	src := unsafe.Slice(unsafe.StringData(s), len(s))
	i := 0
	for ; i+8 <= len(src); i += 8 {
		x := binary.LittleEndian.Uint64(src[i:])
		if x&highBits != 0 {
			break
		}
		// Bit 7 of each byte: at least 'A', and above 'Z'.
		fromA := x + (0x80-'A')*eachByte
		aboveZ := x + (0x7f-'Z')*eachByte
		x |= ((fromA ^ aboveZ) & highBits) >> 2
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	for ; i < len(src) && src[i] < utf8.RuneSelf; i++ {
		c := src[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst, i
}

// decodeRune reads one rune; a lone surrogate in three bytes is one U+FFFD.
func decodeRune(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && len(s) >= 3 && s[0] == 0xED &&
		s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		size = 3
	}
	return r, size
}

// plain reports whether r is no mark, never joins the rune before it, and is
// folded by appendPlain where another plain rune or the end follows.
func plain(r rune) bool {
	switch {
	case r < smallRunes:
		return r < utf8.RuneSelf || smallFolds()[r-utf8.RuneSelf].plain
	case r < 0x3000:
		return r >= 0x2010 && r <= 0x2027 || r >= 0x2030 && r <= 0x205E || r >= 0x2500 && r <= 0x27BF
	case r < 0xD7A4:
		return r <= 0x3020 || r >= 0x3041 && r <= 0x3096 || r >= 0x30A1 && r <= 0x30FA ||
			r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00
	}
	return r >= 0xFF01 && r <= 0xFFDC || r == utf8.RuneError || r >= 0x1F000 && r <= 0x1FAFF
}

func appendPlain(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return utf8.AppendRune(dst, foldRune(r))
	case r < smallRunes:
		return append(dst, smallFolds()[r-utf8.RuneSelf].text...)
	}
	return utf8.AppendRune(dst, foldRune(narrow(r)))
}

// narrow is the ASCII of a full-width rune.
func narrow(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case r == 0x3000:
		return ' '
	}
	return r
}

// foldCluster folds from s[i] up to the next plain rune and says where that is.
func foldCluster(dst []byte, s string, i int) ([]byte, int) {
	var room, other [128]byte
	text := room[:0]
	for first := true; i < len(s); first = false {
		r, size := decodeRune(s[i:])
		if !first && plain(r) {
			break
		}
		text = utf8.AppendRune(text, narrow(r))
		i += size
	}
	text = norm.NFD.Append(other[:0], text...)
	return norm.NFC.Append(dst, foldDecomposed(nil, text)...), i
}

// foldDecomposed folds NFD text, leaving it decomposed.
func foldDecomposed(dst, text []byte) []byte {
	bare := false // the base loses its marks
	ie := false   // the base is Cyrillic е, which loses its two dots
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if !bare && !(ie && r == 0x0308) {
				dst = utf8.AppendRune(dst, r)
			}
			continue
		}
		if r == 'ß' || r == 'ẞ' {
			dst = append(dst, "ss"...)
			bare, ie = true, false
			continue
		}
		r = foldRune(r)
		bare = unicode.In(r, unicode.Latin, unicode.Greek)
		ie = r == 'е'
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// foldRune gives all runes that differ in case only the same rune.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if unicode.SimpleFold(r) == r && r != 'İ' && r != 'ı' {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// smallRunes bounds the scripts with case that are looked up in a table.
const smallRunes = 0x0530

type smallFold struct {
	plain bool
	text  string
}

// smallFolds are the folds of U+0080 to smallRunes, by rune.
var smallFolds = sync.OnceValue(func() []smallFold {
	table := make([]smallFold, smallRunes-utf8.RuneSelf)
	for i := range table {
		r := rune(i + utf8.RuneSelf)
		s := string(r)
		text := foldDecomposed(nil, norm.NFD.Bytes([]byte(s)))
		table[i] = smallFold{
			plain: !unicode.In(r, unicode.Mn, unicode.Me) && norm.NFC.PropertiesString(s).BoundaryBefore(),
			text:  string(norm.NFC.Bytes(text)),
		}
	}
	return table
})
