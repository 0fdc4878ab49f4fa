// Package pictures draws what commands print on a terminal as SVG, for the
// README. A picture is the true output of command lines on the store in
// testdata/demo: a test runs them, compares, and draws on request.
package pictures

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// Picture is one file and what is typed in it.
type Picture struct {
	Name     string
	Commands []string // arguments, with blanks between; 'a b' is one
}

// All are the pictures of the README.
func All() []Picture {
	return []Picture{
		{"find", []string{"list", "search retry", "search --role any 'rounds half up'"}},
		{"tree", []string{"tree gh-irr", "prompts gh-irr", "show gh-irr --entry a0000004"}},
		{"stats", []string{"stats", "usage --by model"}},
	}
}

// Columns is how wide the terminal is.
const Columns = 96

// Env is what a command is run with, so that its output is the same everywhere.
func Env() map[string]string {
	return map[string]string{"COLUMNS": strconv.Itoa(Columns), "CLICOLOR_FORCE": "1", "TERM": "xterm-256color", "TZ": "UTC", "NO_COLOR": ""}
}

// Args are the arguments of a command line.
func Args(line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

const (
	wide   = 807 // of all columns
	cell   = 8.4 // width of a column
	height = 18  // of a line
	margin = 14
)

// style are the colours: those of a light page, and of a dark one.
const style = `svg{background:#fbfbfa;border-radius:8px}
text{font:14px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono","Noto Sans Mono CJK KR",monospace;fill:#24292f;white-space:pre}
.b{font-weight:700}.d{fill:#707780}.r{fill:#b3261e}.c{fill:#0b6b8a}.p{fill:#1a7f37}
@media(prefers-color-scheme:dark){svg{background:#16171b}text{fill:#e3e4e8}.d{fill:#8d929c}.r{fill:#ff8a80}.c{fill:#56c2e0}.p{fill:#7ee787}}`

// Shot is a command line and all that it printed, with its colours.
type Shot struct{ Line, Output string }

// Draw is the SVG of what stands on the terminal after some commands.
func Draw(shots []Shot) string {
	var lines [][]run
	for i, s := range shots {
		if i > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, []run{{"$ ", "p", 0}, {"gjc-index " + s.Line, "b", 2}})
		for line := range strings.SplitSeq(strings.TrimRight(s.Output, "\n"), "\n") {
			lines = append(lines, wrapped(runs(line))...)
		}
	}
	var b strings.Builder
	w, h := wide+2*margin, len(lines)*height+2*margin
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<style>%s</style>\n", w, h, w, h, style)
	for i, line := range lines {
		y := margin + i*height + 13
		for _, r := range line {
			if strings.TrimSpace(r.text) == "" {
				continue
			}
			class := ""
			if r.class != "" {
				class = ` class="` + r.class + `"`
			}
			width := uniseg.StringWidth(r.text)
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\"%s>%s</text>\n",
				margin+cell*float64(r.at), y, cell*float64(width), class, html.EscapeString(r.text))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run is text of one look on a line.
type run struct {
	text, class string
	at          int // column
}

// classes are the looks that the command uses, by their SGR code.
var classes = map[string]string{"0": "", "": "", "1": "b", "2": "d", "31": "r", "36": "c"}

// runs splits a line where its look changes, and before and after what is wider
// than a column, so that each run stands where it belongs.
func runs(line string) []run {
	var all []run
	class, column := "", 0
	for part := range strings.SplitSeq(line, "\x1b[") {
		if len(all) > 0 || strings.HasPrefix(line, "\x1b[") && column == 0 {
			if code, rest, ok := strings.Cut(part, "m"); ok {
				if c, known := classes[code]; known {
					class, part = c, rest
				}
			}
		}
		for _, text := range byWidth(part) {
			all = append(all, run{text, class, column})
			column += uniseg.StringWidth(text)
		}
	}
	return all
}

// wrapped breaks a line where a terminal does.
func wrapped(line []run) [][]run {
	lines := [][]run{nil}
	base := 0 // the column at which the present line begins
	for _, r := range line {
		for r.text != "" {
			room, cut := Columns-(r.at-base), 0
			state, used := -1, 0
			for rest := r.text; rest != ""; {
				cluster, next, w, st := uniseg.FirstGraphemeClusterInString(rest, state)
				if used+w > room {
					break
				}
				used, cut, rest, state = used+w, cut+len(cluster), next, st
			}
			if cut > 0 {
				lines[len(lines)-1] = append(lines[len(lines)-1], run{r.text[:cut], r.class, r.at - base})
			}
			r.text, r.at = r.text[cut:], r.at+used
			if r.text != "" {
				base = r.at
				lines = append(lines, nil)
			}
		}
	}
	return lines
}

// byWidth splits text into pieces of narrow and of wide characters.
func byWidth(text string) []string {
	var pieces []string
	state, wide := -1, false
	for text != "" {
		cluster, rest, w, next := uniseg.FirstGraphemeClusterInString(text, state)
		if len(pieces) == 0 || wide != (w > 1) {
			pieces = append(pieces, "")
		}
		wide = w > 1
		pieces[len(pieces)-1] += cluster
		text, state = rest, next
	}
	return pieces
}
