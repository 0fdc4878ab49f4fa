package jsonl

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deeply arrays and objects may nest. Deeper text is not
// JSON for us: a reader must not die of a hostile line.
const maxDepth = 100_000

var (
	errSyntax = errors.New("not JSON")
	errShort  = errors.New("ends inside a value")
)

// Parse reads one JSON value, after white space, from the start of data and
// returns how many bytes it and the white space before it take. The grammar is
// ECMAScript's JSON.parse; bytes that are no UTF-8 read as U+FFFD, the way
// WHATWG decoders replace them. Only space, tab, CR and LF are white space.
// errors.Is(err, ErrShort) tells text that ends inside a value from a syntax
// error. Source: behaviour part 1.
func Parse(data []byte) (v Value, n int, err error) {
	p := parser{data: data}
	p.space()
	v, err = p.value(0)
	return v, p.pos, err
}

// ErrShort is text that ends inside a JSON value.
var ErrShort = errShort

// ParseString is Parse for text that holds one value and white space, nothing else.
func ParseString(text string) (Value, error) { return parseWhole([]byte(text)) }

func parseWhole(data []byte) (Value, error) {
	v, n, err := Parse(data)
	if err != nil {
		return Value{}, err
	}
	p := parser{data: data, pos: n}
	p.space()
	if p.pos != len(data) {
		return Value{}, errSyntax
	}
	return v, nil
}

type parser struct {
	data []byte
	pos  int
	buf  []byte
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if p.pos >= len(p.data) {
		return Value{}, errShort
	}
	switch c := p.data[p.pos]; c {
	case '{':
		if depth >= maxDepth {
			return Value{}, errSyntax
		}
		return p.object(depth + 1)
	case '[':
		if depth >= maxDepth {
			return Value{}, errSyntax
		}
		return p.array(depth + 1)
	case '"':
		s, err := p.string()
		return Value{kind: String, str: s}, err
	case 't':
		return Value{kind: Bool, flag: true}, p.literal("true")
	case 'f':
		return Value{kind: Bool}, p.literal("false")
	case 'n':
		return Value{kind: Null}, p.literal("null")
	default:
		if c == '-' || (c >= '0' && c <= '9') {
			return p.number()
		}
	}
	return Value{}, errSyntax
}

func (p *parser) literal(word string) error {
	for i := 0; i < len(word); i++ {
		if p.pos >= len(p.data) {
			return errShort
		}
		if p.data[p.pos] != word[i] {
			return errSyntax
		}
		p.pos++
	}
	return nil
}

// digits skips decimal digits; at least one is wanted.
func (p *parser) digits() error {
	start := p.pos
	for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
		p.pos++
	}
	if p.pos > start {
		return nil
	}
	if p.pos >= len(p.data) {
		return errShort
	}
	return errSyntax
}

func (p *parser) number() (Value, error) {
	start := p.pos
	if p.data[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.data) && p.data[p.pos] == '0' {
		p.pos++
	} else if err := p.digits(); err != nil {
		return Value{}, err
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		p.pos++
		if err := p.digits(); err != nil {
			return Value{}, err
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		if err := p.digits(); err != nil {
			return Value{}, err
		}
	}
	// A number out of range is ±Inf with an error we want to ignore.
	f, _ := strconv.ParseFloat(string(p.data[start:p.pos]), 64)
	return Value{kind: Number, num: f}, nil
}

func (p *parser) array(depth int) (Value, error) {
	p.pos++
	items := []Value{}
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == ']' {
		p.pos++
		return Value{kind: Array, arr: &items}, nil
	}
	for {
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		items = append(items, v)
		p.space()
		if p.pos >= len(p.data) {
			return Value{}, errShort
		}
		switch p.data[p.pos] {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return Value{kind: Array, arr: &items}, nil
		default:
			return Value{}, errSyntax
		}
	}
}

func (p *parser) object(depth int) (Value, error) {
	p.pos++
	o := &Obj{}
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == '}' {
		p.pos++
		return Value{kind: Object, obj: o}, nil
	}
	for {
		p.space()
		if p.pos >= len(p.data) {
			return Value{}, errShort
		}
		if p.data[p.pos] != '"' {
			return Value{}, errSyntax
		}
		key, err := p.string()
		if err != nil {
			return Value{}, err
		}
		if err := p.colon(); err != nil {
			return Value{}, err
		}
		v, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		o.Set(key, v)
		p.space()
		if p.pos >= len(p.data) {
			return Value{}, errShort
		}
		switch p.data[p.pos] {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return Value{kind: Object, obj: o}, nil
		default:
			return Value{}, errSyntax
		}
	}
}

func (p *parser) colon() error {
	p.space()
	if p.pos >= len(p.data) {
		return errShort
	}
	if p.data[p.pos] != ':' {
		return errSyntax
	}
	p.pos++
	p.space()
	return nil
}

// string reads a string literal; plain ASCII without escapes costs one copy.
func (p *parser) string() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		if c == '"' {
			s := string(p.data[start:p.pos])
			p.pos++
			return s, nil
		}
		if c < 0x20 {
			return "", errSyntax
		}
		if c == '\\' || c >= utf8.RuneSelf {
			return p.stringSlow(start)
		}
		p.pos++
	}
	return "", errShort
}

func (p *parser) stringSlow(start int) (string, error) {
	p.buf = append(p.buf[:0], p.data[start:p.pos]...)
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		switch {
		case c == '"':
			p.pos++
			return string(p.buf), nil
		case c < 0x20:
			return "", errSyntax
		case c == '\\':
			if err := p.escape(); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			p.buf = append(p.buf, c)
			p.pos++
		default:
			r, size := decodeRune(p.data[p.pos:])
			p.buf = utf8.AppendRune(p.buf, r)
			p.pos += size
		}
	}
	return "", errShort
}

func (p *parser) escape() error {
	if p.pos+1 >= len(p.data) {
		return errShort
	}
	c := p.data[p.pos+1]
	p.pos += 2
	switch c {
	case '"', '\\', '/':
		p.buf = append(p.buf, c)
	case 'b':
		p.buf = append(p.buf, '\b')
	case 'f':
		p.buf = append(p.buf, '\f')
	case 'n':
		p.buf = append(p.buf, '\n')
	case 'r':
		p.buf = append(p.buf, '\r')
	case 't':
		p.buf = append(p.buf, '\t')
	case 'u':
		u, err := p.hex4()
		if err != nil {
			return err
		}
		p.buf = appendUnit(p.buf, u)
	default:
		return errSyntax
	}
	return nil
}

func (p *parser) hex4() (uint16, error) {
	var u uint16
	for i := 0; i < 4; i++ {
		if p.pos >= len(p.data) {
			return 0, errShort
		}
		d, ok := hexDigit(p.data[p.pos])
		if !ok {
			return 0, errSyntax
		}
		u = u<<4 | uint16(d)
		p.pos++
	}
	return u, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// appendUnit appends one UTF-16 code unit to WTF-8 text: a low surrogate joins
// a high one that stands right before it.
func appendUnit(buf []byte, u uint16) []byte {
	if u < 0xD800 || u > 0xDFFF {
		return utf8.AppendRune(buf, rune(u))
	}
	if u >= 0xDC00 && len(buf) >= 3 {
		if high, ok := surrogateAt(buf[len(buf)-3:]); ok && high < 0xDC00 {
			r := utf16.DecodeRune(rune(high), rune(u))
			return utf8.AppendRune(buf[:len(buf)-3], r)
		}
	}
	return append(buf, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0xBF, 0x80|byte(u)&0xBF)
}

// surrogateAt reads a surrogate's three WTF-8 bytes at the start of b.
func surrogateAt[T string | []byte](b T) (uint16, bool) {
	if len(b) < 3 || b[0] != 0xED || b[1] < 0xA0 || b[1] > 0xBF || b[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | uint16(b[1]&0x3F)<<6 | uint16(b[2]&0x3F), true
}

// decodeRune is utf8.DecodeRune, but a broken sequence takes as many bytes as
// the WHATWG decoder replaces by one U+FFFD (its longest valid beginning).
func decodeRune(b []byte) (rune, int) {
	r, size := utf8.DecodeRune(b)
	if r != utf8.RuneError || size != 1 {
		return r, size
	}
	need, low, high := 0, byte(0x80), byte(0xBF)
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return utf8.RuneError, n
}
