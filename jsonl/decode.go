package jsonl

import (
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader turns UTF-16LE, without its mark, into UTF-8. Lone surrogates
// and an odd last byte are U+FFFD.
type utf16Reader struct {
	src  io.Reader
	in   []byte // bytes read and not decoded
	out  []byte // UTF-8 not handed out
	err  error
	high uint16 // a high surrogate that waits for its low one
}

const utf16Chunk = 32 << 10

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.next()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) next() {
	odd := len(u.in)
	chunk := make([]byte, odd+utf16Chunk)
	copy(chunk, u.in)
	n, err := u.src.Read(chunk[odd:])
	chunk = chunk[:odd+n]
	u.out = u.out[:0]
	for ; len(chunk) >= 2; chunk = chunk[2:] {
		u.unit(uint16(chunk[0]) | uint16(chunk[1])<<8)
	}
	u.in = chunk
	if err == nil {
		return
	}
	u.err = err
	if errors.Is(err, io.EOF) {
		u.flush()
		if len(u.in) > 0 {
			u.out = utf8.AppendRune(u.out, utf8.RuneError)
		}
	}
}

func (u *utf16Reader) unit(c uint16) {
	if u.high != 0 && c >= 0xDC00 && c <= 0xDFFF {
		u.out = utf8.AppendRune(u.out, utf16.DecodeRune(rune(u.high), rune(c)))
		u.high = 0
		return
	}
	u.flush()
	if c >= 0xD800 && c <= 0xDBFF {
		u.high = c
		return
	}
	u.out = utf8.AppendRune(u.out, rune(c)) // a lone low surrogate becomes U+FFFD
}

func (u *utf16Reader) flush() {
	if u.high != 0 {
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
		u.high = 0
	}
}

// utf16Width is how many bytes UTF-8 text took as UTF-16.
func utf16Width(b []byte) int64 {
	units := 0
	for _, c := range b {
		switch {
		case c >= 0xF0:
			units += 2
		case c < 0x80 || c >= 0xC0:
			units++
		}
	}
	return int64(units) * 2
}
