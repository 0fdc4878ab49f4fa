package jsonl

import (
	"bytes"
)

// Finder looks for one byte string by its rarest byte: an IndexByte for a byte
// that comes often stops at every second word and is an eighth as fast.
type Finder struct {
	needle []byte
	rare   int // offset in needle of the byte looked for
}

// NewFinder is a finder of needle, which must not be empty and is kept.
func NewFinder(needle []byte) Finder {
	f := Finder{needle: needle}
	for i, c := range needle {
		if ByteRank(c) < ByteRank(needle[f.rare]) {
			f.rare = i
		}
	}
	return f
}

// Rarest is the offset in the needle of the byte that is looked for.
func (f Finder) Rarest() int { return f.rare }

// Index is bytes.Index(data, needle).
func (f Finder) Index(data []byte) int {
	for from := f.rare; ; {
		if from >= len(data) {
			return -1
		}
		i := bytes.IndexByte(data[from:], f.needle[f.rare])
		if i < 0 {
			return -1
		}
		start := from + i - f.rare
		if start+len(f.needle) > len(data) {
			return -1
		}
		if bytes.Equal(data[start:start+len(f.needle)], f.needle) {
			return start
		}
		from += i + 1
	}
}

// ByteRank orders bytes by how often they come in transcripts, the rarest
// first: letters by their use in English and in code, in either case.
func ByteRank(c byte) int {
	const common = ` etaoinsr"lhdcu,:mpfgyb./-wv_0k1\2n3}{x5846jq79=z()[]'*;+#<>|&!$%?@` + "`~^\n"
	if 'A' <= c && c <= 'Z' {
		return ByteRank(c+'a'-'A') / 3
	}
	if i := bytes.IndexByte([]byte(common), c); i >= 0 {
		return len(common) - i + 20
	}
	if c < 0x20 {
		return 0
	}
	// Leading bytes of a script come with every letter of it.
	if c >= 0xE0 {
		return 60
	}
	if c >= 0xC0 {
		return 40
	}
	return 15
}
