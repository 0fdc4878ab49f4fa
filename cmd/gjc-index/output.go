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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// screen is what is known of where stdout goes.
type screen struct {
	terminal bool
	colour   bool
	width    int // columns
}

const defaultWidth = 100

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
	return s
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// printJSON prints one object on one line.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// note says something beside the answer.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "gjc-index: %s\n", plain(fmt.Sprintf(format, args...)))
	}
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

// plain is text on one line without anything that a terminal would act on.
func plain(text string) string {
	return strings.Join(strings.Fields(safeText(text)), " ")
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
		}
		return utf8.RuneError
	}, text)
}

// reorders reports marks that change the direction of the text after them.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// fit cuts text to at most width columns, never through a character that a
// person sees as one; an ellipsis marks the cut.
func fit(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	if width <= 1 {
		return strings.Repeat("…", max(width, 0))
	}
	used, end, state := 0, 0, -1
	for rest := text; rest != ""; {
		cluster, next, w, st := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > width-1 {
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

// ago is how long before now t was, or the day.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "?"
	case d < -time.Minute:
		return t.Local().Format("2006-01-02")
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return t.Local().Format("2006-01-02")
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

func (a *app) absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return abs, nil
}
