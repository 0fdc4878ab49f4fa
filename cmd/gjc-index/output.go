package main

// The rules of output. stdout holds what was asked for and nothing else; notes,
// counts of what was left out, progress and errors go to stderr. With --json
// stdout is one object a line. What comes from files is made plain before a
// terminal sees it: no control character of theirs gets through.

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// screen is what is known of where stdout goes.
type screen struct {
	terminal bool
	colour   bool
	width    int // columns
}

const (
	defaultWidth = 100  // where no terminal tells
	minWidth     = 20   // below it nothing is readable anyway
	maxWidth     = 1000 // of any line that is cut to fit
)

func screenOf(w io.Writer, env func(string) string) screen {
	s := screen{width: defaultWidth}
	f, ok := w.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		s.colour = env("NO_COLOR") == "" && env("TERM") != "dumb"
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.width = width
		}
	}
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 && !s.terminal {
		s.width = n
	}
	s.width = min(max(s.width, minWidth), maxWidth)
	return s
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// printJSON prints one object on one line.
func (a *app) printJSON(v any) error {
	line, err := encodeJSON(v)
	if err != nil {
		return err
	}
	if a.screen.terminal {
		line = escapeJSON(line)
	}
	_, err = a.out.WriteString(line)
	return err
}

// sayJSON prints one object on stderr, after what was printed before.
func (a *app) sayJSON(v any) {
	line, err := encodeJSON(v)
	if err != nil {
		panic(err) // no value of ours can't be JSON
	}
	_ = a.out.Flush()                                 // an error stays until the end
	_, _ = io.WriteString(a.stderr, escapeJSON(line)) // there is no other place to say it
}

// printRaw prints what is JSON already.
func (a *app) printRaw(line []byte) error {
	text := string(line) + "\n"
	if a.screen.terminal {
		text = escapeJSON(text)
	}
	_, err := a.out.WriteString(text)
	return err
}

func encodeJSON(v any) (string, error) {
	line, err := plainJSON(v)
	if err != nil {
		return line, err
	}
	return withPathBytes(line, v)
}

func plainJSON(v any) (string, error) {
	var line strings.Builder
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return line.String(), err
}

// escapeJSON writes what a terminal would act on as \u escapes: the same JSON.
func escapeJSON(line string) string {
	acts := func(r rune) bool { return r >= 0x7f && r <= 0x9f || reorders(r) }
	if strings.IndexFunc(line, acts) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if acts(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// noteJSON is a note as it is said with --json.
type noteJSON struct {
	Note string `json:"note"`
}

// note says something beside the answer.
func (a *app) note(format string, args ...any) {
	text := shortQuotes(plain(fmt.Sprintf(format, args...)))
	switch {
	case a.quiet:
	case a.json:
		a.sayJSON(noteJSON{text})
	default:
		_ = a.out.Flush() // what was printed before comes first
		fmt.Fprintf(a.stderr, "gjc-index: %s\n", text)
	}
}

// longQuote is something quoted that is too long to be said whole: what
// somebody typed or a file holds, which may be anything. Paths are not quoted.
var longQuote = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"((?:[^"\\]|\\.){80})(?:[^"\\]|\\.){41,}"`)
})

// shortQuotes cuts what is quoted at a length.
func shortQuotes(text string) string {
	if len(text) <= 120 {
		return text
	}
	return longQuote().ReplaceAllString(text, `"$1…"`)
}

// The colours of the terminal's own palette.
const (
	dim  = "2"
	bold = "1"
	cyan = "36"
	red  = "31"
)

func (s screen) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// plain is text on one line without anything that a terminal would act on:
// each run of white space is one blank.
func plain(text string) string {
	return strings.Join(strings.Fields(safeText(text)), " ")
}

// preview is plain text cut to width columns. Of a long text only as much is
// looked at as can be shown.
func preview(text string, width int) string {
	if most := maxBytesPerColumn * (width + 1) * 2; len(text) > most {
		cut := strings.TrimLeft(text, " \t\r\n")
		if len(cut) > most {
			for most > 0 && !utf8.RuneStart(cut[most]) {
				most--
			}
			return fit(plain(cut[:most])+" …", width)
		}
	}
	return fit(plain(text), width)
}

// safeText keeps lines and makes the rest harmless: tabs are blanks, other
// control characters show as their pictures, marks that reorder text are gone.
func safeText(text string) string {
	ok := func(r rune) bool {
		return r != utf8.RuneError && (r >= 0x20 && r < 0x7f || r == '\n' || r > 0x9f) && !reorders(r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !ok(r) }) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case ok(r), r == utf8.RuneError:
			return r
		case r == '\t':
			return ' '
		case r == '\r', reorders(r):
			return -1
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return utf8.RuneError
	}, text)
}

// reorders reports marks that change the direction of the text after them.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// maxBytesPerColumn bounds what marks without a width can add to a line; a
// family or a flag made of several emoji stays well below it.
const maxBytesPerColumn = 32

// fit cuts text to at most width columns, never through a character that a
// person sees as one; an ellipsis marks the cut.
func fit(text string, width int) string {
	most := maxBytesPerColumn * (width + 1)
	if len(text) <= most && uniseg.StringWidth(text) <= width {
		return text
	}
	if width <= 1 {
		return strings.Repeat("…", max(width, 0))
	}
	used, end, state := 0, 0, -1
	for rest := text; rest != ""; {
		cluster, next, w, st := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 || end+len(cluster) > most {
			break
		}
		used, end, rest, state = used+w, end+len(cluster), next, st
	}
	return strings.TrimRight(text[:end], " ") + "…"
}

// pad adds blanks up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-uniseg.StringWidth(text)))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-uniseg.StringWidth(text))) + text
}

// jsonTime is a time for JSON: RFC 3339 in UTC, null for none.
func jsonTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

// orNull is text for JSON: null if there is none.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// count is a number and what it counts.
func count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "entry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return comma(n) + " " + noun
}

func comma[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// day is a time for people, in their zone.
func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func (a *app) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", noWorkingDirectory(err)
	}
	return abs, nil
}
