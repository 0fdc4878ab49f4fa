package history

import (
	"math"
	"strings"
	"time"
)

// Prompt is one row of history.
type Prompt struct {
	ID   int64
	Text string
	Cwd  *string   // where it was typed; nil: not known (and "" is not nil)
	Time time.Time // whole seconds, UTC
}

// Query says which prompts are wanted.
type Query struct {
	Text  string  // Search only
	Cwd   *string // only prompts of exactly this directory; nil: of any
	Limit int     // clamped to 0 … 1000
}

// maxLimit is the most rows one query gives.
const maxLimit = 1000

// Limit makes a limit of any number: not a number and infinite are 0, a
// fraction is cut, the range is 0 … 1000.
func Limit(n float64) int {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return int(max(0, min(maxLimit, math.Floor(n))))
}

// Trim cuts the white space off both ends that ECMAScript's trim cuts: that
// differs from Go's by U+FEFF and U+0085.
func Trim(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xa0, r == 0x1680,
		r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029,
		r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

// storable makes text what SQLite's TEXT must be: valid UTF-8.
func storable(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
