package index

import (
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// timeOf is a timestamp as ECMAScript's Date reads it.
func timeOf(l jsonl.Lit) millis {
	if !l.Ok() {
		return millis{}
	}
	if ms, ok := plainTime(l.Raw()); ok {
		return millis{ms, true}
	}
	ms, ok := jsonl.ParseDate(l.Text())
	if !ok {
		return millis{}
	}
	return millis{int64(ms), true}
}

// plainTime reads the form that writers use, 2026-03-01T12:00:00.000Z, without
// allocating. Whatever is odd about it is left to ParseDate.
func plainTime(b []byte) (int64, bool) {
	if len(b) != 24 || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[23] != 'Z' {
		return 0, false
	}
	var n [7]int
	for i, span := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}} {
		for _, c := range b[span[0]:span[1]] {
			if c < '0' || c > '9' {
				return 0, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	if n[0] < 1970 || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 28 || n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return 0, false
	}
	y, m := n[0], n[1]
	if m <= 2 {
		y, m = y-1, m+12
	}
	// Days since 1970-01-01 in the proleptic Gregorian calendar.
	days := 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + n[2] - 1 - 719468
	return ((int64(days)*24+int64(n[3]))*60+int64(n[4]))*60000 + int64(n[5])*1000 + int64(n[6]), true
}

// timeAt is Unix ms as a time; zero if unknown.
func timeAt(m millis) time.Time {
	if !m.known {
		return time.Time{}
	}
	return time.UnixMilli(m.ms).UTC()
}
