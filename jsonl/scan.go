package jsonl

import (
	"bytes"
	"strconv"
)

// maxScanDepth is how deep the field reader follows arrays and objects it
// skips. Deeper records go the slow way.
const maxScanDepth = 64

// Scan fills f from one line: a record object with nothing but white space
// around it. It looks at each byte once, allocates nothing (beyond what Texts
// and Refs grow to) and checks the whole line as strictly as Parse does.
//
// It returns false for a line that it doesn't vouch for: one that is no JSON
// object, but also one that is merely unusual (broken UTF-8, a wanted key
// twice or written with escapes, a patch record). Then f means nothing, and
// Parse and Of decide. Where Scan returns true, Of fills f alike.
func (f *Fields) Scan(line []byte) bool {
	f.reset()
	s := scanner{b: line, f: f}
	s.space()
	if s.at() != '{' || !s.record() {
		return false
	}
	s.space()
	return s.i == len(line)
}

// scanner walks over one line. Its methods return false to give the line up.
type scanner struct {
	b     []byte
	i     int
	f     *Fields
	spare Kind // takes the kinds nobody asks for
}

// at is the byte under the scanner, 0 at the end (no JSON text holds one).
func (s *scanner) at() byte {
	if uint(s.i) < uint(len(s.b)) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) space() {
	if uint(s.i) < uint(len(s.b)) && s.b[s.i] > ' ' {
		return
	}
	s.spaces()
}

func (s *scanner) spaces() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// key moves from the start of a member ('{' or ',' is behind) to its value and
// returns the key. An empty key with ok false: give up. Keys with escapes or
// characters past ASCII are given up, since they may spell a wanted one.
func (s *scanner) key() (key []byte, ok bool) {
	s.space()
	if s.at() != '"' {
		return nil, false
	}
	start := s.i + 1
	end := start
	for end < len(s.b) && isPlain[s.b[end]] {
		end++
	}
	if end >= len(s.b) || s.b[end] != '"' {
		return nil, false
	}
	s.i = end + 1
	return s.b[start:end], s.colon()
}

func (s *scanner) colon() bool {
	s.space()
	if s.at() != ':' {
		return false
	}
	s.i++
	s.space()
	return true
}

// enter steps into an object or array; empty tells that it ended at once.
func (s *scanner) enter(closing byte) (empty bool) {
	s.i++
	s.space()
	if s.at() == closing {
		s.i++
		return true
	}
	return false
}

// more steps over what follows a member or element: true for a comma; done
// tells that the object or array ended.
func (s *scanner) more(closing byte) (more, done bool) {
	s.space()
	switch s.at() {
	case ',':
		s.i++
		return true, false
	case closing:
		s.i++
		return false, true
	}
	return false, false
}

// string reads the literal under the scanner.
func (s *scanner) string() (Lit, bool) {
	start := s.i + 1
	end := stringEnd(s.b, start)
	if end < 0 {
		return Lit{}, false
	}
	s.i = end + 1
	l := Lit{raw: s.b[start:end]}
	if len(l.raw) >= refLen && l.isRef() {
		s.f.Refs = append(s.f.Refs, l)
	}
	return l, true
}

// literal reads any value and keeps it in to if it is a string.
func (s *scanner) literal(to *Lit) (Kind, bool) {
	if s.at() == '"' {
		l, ok := s.string()
		*to = l
		return String, ok
	}
	return s.skip()
}

// number reads any value and keeps it in to if it is a number.
func (s *scanner) number(to *float64) (Kind, bool) {
	start := s.i
	kind, ok := s.skip()
	if ok && kind == Number {
		*to = parseDouble(s.b[start:s.i])
	}
	return kind, ok
}

// parseDouble reads a valid JSON number.
func parseDouble(b []byte) float64 {
	if len(b) <= 15 {
		n := uint64(0)
		for _, c := range b {
			if c < '0' || c > '9' {
				n = 1 << 63
				break
			}
			n = n*10 + uint64(c-'0')
		}
		if n < 1<<53 {
			return float64(n)
		}
	}
	// A number out of range is ±Inf with an error we want to ignore.
	v, _ := strconv.ParseFloat(string(b), 64)
	return v
}

// skip reads any value and says its kind.
func (s *scanner) skip() (Kind, bool) {
	switch c := s.at(); c {
	case '"':
		_, ok := s.string()
		return String, ok
	case '{':
		return Object, s.skipNested()
	case '[':
		return Array, s.skipNested()
	case 't':
		return Bool, s.word("true")
	case 'f':
		return Bool, s.word("false")
	case 'n':
		return Null, s.word("null")
	}
	end := numberEnd(s.b, s.i)
	if end < 0 {
		return Absent, false
	}
	s.i = end
	return Number, true
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

// skipNested skips an object or array with all that is in it. What it is
// inside of stands in the bits of objects, the innermost lowest.
func (s *scanner) skipNested() bool {
	objects, depth := uint64(0), 0
	for {
		// Here a value begins.
		switch c := s.at(); c {
		case '{', '[':
			if depth == maxScanDepth {
				return false
			}
			depth++
			objects <<= 1
			if c == '{' {
				objects |= 1
			}
			if !s.enter(c + 2) { // '{'+2 is '}', '['+2 is ']'
				if c == '{' && !s.anyKey() {
					return false
				}
				continue
			}
			depth--
			objects >>= 1
		default:
			if _, ok := s.skip(); !ok {
				return false
			}
		}
		// Here a value has ended.
		for {
			if depth == 0 {
				return true
			}
			inObject := objects&1 != 0
			closing := byte(']')
			if inObject {
				closing = '}'
			}
			more, done := s.more(closing)
			if more {
				s.space()
				if inObject && !s.anyKey() {
					return false
				}
				break
			}
			if !done {
				return false
			}
			depth--
			objects >>= 1
		}
	}
}

// anyKey is key for an object in which no key is wanted.
func (s *scanner) anyKey() bool {
	s.space()
	if s.at() != '"' {
		return false
	}
	end := stringEnd(s.b, s.i+1)
	if end < 0 {
		return false
	}
	s.i = end + 1
	return s.colon()
}
