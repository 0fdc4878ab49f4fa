package jsonl

import "strconv"

// EventID is the number that every entry written by this program carries as
// event_id: 16 lower-case hexadecimal digits, unique in a home.
type EventID uint64

// ParseEventID reads exactly 16 lower-case hexadecimal digits.
func ParseEventID(s string) (EventID, bool) {
	if len(s) != 16 {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(s, 16, 64)
	return EventID(n), err == nil
}

// String is the id as 16 lower-case hexadecimal digits.
func (id EventID) String() string { return hexString(uint64(id), 16) }

// hexString writes the lowest digits hexadecimal digits of n.
func hexString(n uint64, digits int) string {
	b := make([]byte, digits)
	for i := digits - 1; i >= 0; i-- {
		b[i] = hexDigits[n&15]
		n >>= 4
	}
	return string(b)
}
