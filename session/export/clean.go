package export

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// cleaner takes secrets out of texts and counts them, and makes text fit for a
// page.
type cleaner struct {
	redact  func(string) (string, int)
	secrets int
}

func newCleaner(redact func(string) (string, int)) *cleaner { return &cleaner{redact: redact} }

// value is a record without its secrets.
func (c *cleaner) value(v jsonl.Value) jsonl.Value {
	if c.redact == nil {
		return v
	}
	return jsonl.Redactor(c.one).Value(v)
}

func (c *cleaner) one(text string) string {
	if c.redact == nil {
		return text
	}
	made, n := c.redact(text)
	c.secrets += n
	return made
}

// text is the text of a cleaned record for people: without codes for terminals
// and marks that reorder text. A secret that such a code had split is whole
// now, so it is looked for once more.
func (c *cleaner) text(text string) string {
	plain := printable(jsonl.Display(text))
	if plain != text {
		return c.one(plain)
	}
	return text
}

// line is a text of the header on one line, without its secrets.
func (c *cleaner) line(text string) string {
	return strings.Join(strings.Fields(c.text(c.one(text))), " ")
}

// printable leaves out escape sequences of terminals, shows other control
// characters as pictures and drops the marks that change the text's direction.
func printable(s string) string {
	odd := func(r rune) bool {
		return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || reorders(r) || r == utf8.RuneError || r == 0xfffe || r == 0xffff
	}
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			n = escapeLen(s[i:])
		case r == '\r' || reorders(r):
		case r == 0x7f:
			b.WriteRune(0x2421)
		case r < 0x20 && odd(r):
			b.WriteRune(0x2400 + r)
		case odd(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// escapeLen is the length of the terminal's escape sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x3f {
				return i
			}
		}
		return len(s)
	case ']':
		for i := 2; i < min(len(s), maxOSC); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	}
	return 2 - utf8Tail(s[1])
}

// maxOSC is how far the end of an operating system command is looked for.
const maxOSC = 4096

// utf8Tail is 1 if c begins a longer character, which is not part of an escape.
func utf8Tail(c byte) int {
	if c >= utf8.RuneSelf || c < 0x20 {
		return 1
	}
	return 0
}

func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func noEntry(id string) error { return fmt.Errorf("no entry %.80q: %w", id, fs.ErrNotExist) }
