package jsonl

// What a reference to a blob looks like in a record. Package blob parses it;
// the field reader only has to know one when it sees one.
const (
	refPrefix = "blob:sha256:"
	refLen    = len(refPrefix) + 64
)

// isRef reports whether s is blob:sha256:<64 lower-case hex> and nothing else.
func isRef(s string) bool {
	if len(s) != refLen || s[:len(refPrefix)] != refPrefix {
		return false
	}
	for i := len(refPrefix); i < refLen; i++ {
		if !isRefByte(i, s[i]) {
			return false
		}
	}
	return true
}

// isRefByte reports whether c may stand at place i of a reference.
func isRefByte(i int, c byte) bool {
	if i < len(refPrefix) {
		return c == refPrefix[i]
	}
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
}

// isRef reports whether the literal says a reference; any character of it may
// be written as an escape.
func (l Lit) isRef() bool {
	if len(l.raw) < refLen || len(l.raw) > 6*refLen {
		return false
	}
	n := 0
	for i := 0; i < len(l.raw); n++ {
		c := l.raw[i]
		i++
		if c == '\\' {
			if i+5 > len(l.raw) || l.raw[i] != 'u' || l.raw[i+1] != '0' || l.raw[i+2] != '0' {
				return false
			}
			high, _ := hexDigit(l.raw[i+3])
			low, _ := hexDigit(l.raw[i+4])
			c = high<<4 | low
			i += 5
		}
		if n >= refLen || !isRefByte(n, c) {
			return false
		}
	}
	return n == refLen
}
