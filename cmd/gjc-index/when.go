package main

import (
	"strconv"
	"strings"
	"time"
)

// parseWhen reads a point in time as people give it: a day, a time, or an age
// such as 30m, 12h, 7d or 2w before now.
func parseWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, ok := parseAge(text); ok {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%q is no time: give a day (2026-03-01), a time (2026-03-01T12:00) or an age (12h, 7d, 2w)", text)
}

// maxAge keeps an age far from the end of time.Duration.
const maxAge = 100 * 365 * 24 * time.Hour

// parseAge reads a whole number above 0 and a unit.
func parseAge(text string) (time.Duration, bool) {
	units := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	digits := strings.TrimRight(text, "mhdw")
	unit, ok := units[text[len(digits):]]
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n <= 0 || digits[0] == '+' || n > int(maxAge/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
