package jsonl

// EventID is the number that every entry written by this program carries as
// event_id: 16 lower-case hexadecimal digits, unique in a home.
type EventID uint64

// ParseEventID reads exactly 16 lower-case hexadecimal digits.
func ParseEventID(s string) (EventID, bool) { return parseEventID(s) }

func parseEventID[T string | []byte](s T) (id EventID, ok bool) {
	if len(s) != 16 {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		d, ok := hexDigit(s[i])
		if !ok || (s[i] >= 'A' && s[i] <= 'F') {
			return 0, false
		}
		id = id<<4 | EventID(d)
	}
	return id, true
}

// String is the id as 16 lower-case hexadecimal digits.
func (id EventID) String() string { return hexString(uint64(id), 16) }

// hexString writes the lowest digits hexadecimal digits of n.
func hexString(n uint64, digits int) string {
	var b [16]byte
	for i := digits - 1; i >= 0; i-- {
		b[i] = hexDigits[n&15]
		n >>= 4
	}
	return string(b[:digits])
}
