package jsonl

import (
	"math"
	"time"
)

// maxDate is the greatest distance from 1970, in ms, that ECMAScript's Date holds.
const maxDate = 8.64e15

// ParseDate reads a timestamp as ECMAScript's Date does and returns Unix
// milliseconds; ok is false where Date would be invalid. It takes the ISO
// forms (years of four digits or a sign and six, each part optional from the
// right, any number of digits after the point, Z or an offset) and the
// commonest older ones. One thing differs: a time without an offset is UTC
// and not the machine's zone, so that two machines agree on a file. Source:
// behaviour parts 8, 13 and 15.
func ParseDate(s string) (ms float64, ok bool) {
	p := dateParser{s: s}
	if ms, ok = p.iso(); ok {
		return ms, true
	}
	return parseOldDate(s)
}

// DateOf is ECMAScript's `new Date(v).getTime()`: strings are parsed, numbers
// are milliseconds already; NaN stands for an invalid date.
func DateOf(v Value) float64 {
	switch v.Kind() {
	case String:
		if ms, ok := ParseDate(v.Str()); ok {
			return ms
		}
	case Number:
		return timeClip(v.Num())
	case Null:
		return 0
	case Bool:
		if v.Bool() {
			return 1
		}
		return 0
	}
	return math.NaN()
}

func timeClip(ms float64) float64 {
	if !(math.Abs(ms) <= maxDate) {
		return math.NaN()
	}
	return math.Trunc(ms) + 0
}

type dateParser struct {
	s   string
	pos int
}

// digits reads exactly n decimal digits.
func (p *dateParser) digits(n int) (int, bool) {
	if p.pos+n > len(p.s) {
		return 0, false
	}
	v := 0
	for _, c := range []byte(p.s[p.pos : p.pos+n]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	p.pos += n
	return v, true
}

// take skips c, if it is next.
func (p *dateParser) take(c byte) bool {
	if p.pos < len(p.s) && p.s[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// pair reads c and two digits, if c is next; missing means value as given.
func (p *dateParser) pair(c byte, missing int) (v int, there, ok bool) {
	if !p.take(c) {
		return missing, false, true
	}
	v, ok = p.digits(2)
	return v, true, ok
}

func (p *dateParser) iso() (float64, bool) {
	year, ok := p.year()
	if !ok {
		return 0, false
	}
	month, there, ok := p.pair('-', 1)
	if !ok {
		return 0, false
	}
	day := 1
	if there {
		if day, _, ok = p.pair('-', 1); !ok {
			return 0, false
		}
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	ms := float64(daysSince1970(year, month, day)) * 86_400_000
	if p.take('T') || p.take('t') {
		inDay, ok := p.clock()
		if !ok {
			return 0, false
		}
		ms += inDay
	}
	if p.pos != len(p.s) || math.Abs(ms) > maxDate {
		return 0, false
	}
	return ms, true
}

func (p *dateParser) year() (int, bool) {
	switch {
	case p.take('+'):
		return p.digits(6)
	case p.take('-'):
		y, ok := p.digits(6)
		return -y, ok && y != 0
	}
	return p.digits(4)
}

// clock reads hours, minutes, seconds, fraction and offset as milliseconds.
func (p *dateParser) clock() (float64, bool) {
	hour, ok := p.digits(2)
	if !ok {
		return 0, false
	}
	minute, there, ok := p.pair(':', 0)
	if !ok || !there {
		return 0, false
	}
	second, there, ok := p.pair(':', 0)
	if !ok {
		return 0, false
	}
	ms := 0
	if there && (p.take('.') || p.take(',')) {
		if ms, ok = p.fraction(); !ok {
			return 0, false
		}
	}
	if hour > 24 || minute > 59 || second > 59 || (hour == 24 && minute+second+ms > 0) {
		return 0, false
	}
	offset, ok := p.offset()
	if !ok {
		return 0, false
	}
	return float64((hour*60+minute-offset)*60_000 + second*1000 + ms), true
}

// fraction reads the digits after the point and cuts them to milliseconds.
func (p *dateParser) fraction() (int, bool) {
	ms, scale, n := 0, 100, 0
	for ; p.pos < len(p.s) && p.s[p.pos] >= '0' && p.s[p.pos] <= '9'; p.pos++ {
		ms += int(p.s[p.pos]-'0') * scale
		scale /= 10
		n++
	}
	return ms, n > 0
}

// offset reads Z or ±hh:mm as minutes east of Greenwich.
func (p *dateParser) offset() (int, bool) {
	if p.pos == len(p.s) || p.take('Z') || p.take('z') {
		return 0, true
	}
	sign := 1
	if p.take('-') {
		sign = -1
	} else if !p.take('+') {
		return 0, false
	}
	hour, ok := p.digits(2)
	if !ok {
		return 0, false
	}
	p.take(':')
	minute, ok := p.digits(2)
	if !ok || hour > 23 || minute > 59 {
		return 0, false
	}
	return sign * (hour*60 + minute), true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince1970 counts days of the Gregorian calendar, run backwards too
// (Howard Hinnant's days_from_civil).
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	if year < 0 {
		era = (year - 399) / 400
	}
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return era*146_097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719_468
}

// parseOldDate takes the forms that came before ISO and that Date still reads.
func parseOldDate(s string) (float64, bool) {
	for _, layout := range []string{
		"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04",
		"2006/01/02 15:04:05", "2006/01/02", "01/02/2006 15:04:05", "01/02/2006",
		time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate,
		"Mon Jan 02 2006 15:04:05 GMT-0700", "Jan 2, 2006 15:04:05", "Jan 2, 2006", "2 Jan 2006",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.UnixMilli()), true
		}
	}
	return 0, false
}
