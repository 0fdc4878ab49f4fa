package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

// The columns of a table of sessions, from left to right.
const (
	colProject = iota
	colTitle
	colWhen
	colMessages
	colSize
	colID
	columns
)

const (
	columnGap   = 2
	leastTitle  = 16 // a title with less room than this makes columns give way
	barelyTitle = 8  // and with less than this the id is cut
	goneMark    = " (gone)"
	damageMark  = "! "
)

// givesWay says in which order columns are left out on a narrow screen.
var givesWay = [...]int{colSize, colMessages, colProject}

// sessionLine is what a table shows of one session.
type sessionLine struct {
	cells [columns]string
	gone  bool // its directory is not there now
}

// lineOf makes the line of a session; short are the short forms of ids.
func (a *app) lineOf(r index.Row, short map[string]string) sessionLine {
	l := sessionLine{gone: r.CwdMissing}
	title := titleOf(r)
	if r.Damage != "" {
		title = damageMark + title
	}
	l.cells = [columns]string{
		plain(baseName(r.Project)), title, ago(a.now(), r.Active),
		about(r), humanize.Bytes(uint64(max(0, r.Size))), shortOf(r.ID, r.Path, short),
	}
	return l
}

// titleOf is what a session is called: its title, or what was asked first.
func titleOf(r index.Row) string {
	title := preview(r.Title, maxWidth)
	if title == "" {
		title = preview(r.FirstPrompt, maxWidth)
	}
	if title == "" {
		title = "(no prompt)"
	}
	return title
}

// shortOf is what names a session in an argument: the short form of its id, or
// where no argument can be that id the stem of its file's name, or its path.
func shortOf(id, path string, short map[string]string) string {
	stem := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	switch s, ok := short[id]; {
	case !canBeID(id) && path != "" && canBeID(stem):
		return stem
	case !canBeID(id) && path != "":
		return plain(path)
	case ok:
		return s
	}
	return plain(id)
}

// sessionTable prints sessions in columns that fit the screen.
func (a *app) sessionTable(lines []sessionLine) {
	width := a.screen.width
	w := columnWidths(lines, width)
	for _, l := range lines {
		c := l.cells
		if l.gone && w[colProject] == 0 {
			c[colTitle] = strings.TrimLeft(goneMark, " ") + " " + c[colTitle]
		}
		shown := []string{
			a.screen.paint(cyan, pad(projectCell(c[colProject], l.gone, w[colProject]), w[colProject])),
			pad(fit(c[colTitle], w[colTitle]), w[colTitle]),
			a.screen.paint(dim, padLeft(c[colWhen], w[colWhen])),
			padLeft(c[colMessages], w[colMessages]),
			padLeft(c[colSize], w[colSize]),
			a.screen.paint(dim, fit(c[colID], w[colID])),
		}
		var line []string
		for i, cell := range shown {
			if w[i] > 0 {
				line = append(line, cell)
			}
		}
		a.printf("%s\n", strings.Join(line, strings.Repeat(" ", columnGap)))
	}
}

// projectCell keeps the mark of a directory that is gone readable.
func projectCell(name string, gone bool, width int) string {
	if !gone {
		return fit(name, width)
	}
	return fit(name, max(0, width-len(goneMark))) + goneMark
}

// columnWidths gives the title what the other columns leave of the screen. On
// a narrow one columns are left out (their width is 0) so that the title can
// still be told from others; ids are cut last, since a cut one can't be used.
func columnWidths(lines []sessionLine, screen int) [columns]int {
	var w [columns]int
	for _, l := range lines {
		for i, c := range l.cells {
			n := uniseg.StringWidth(c)
			if i == colProject && l.gone {
				n += len(goneMark)
			}
			w[i] = max(w[i], n)
		}
	}
	wanted := w[colTitle]
	most := max(8, screen/6)
	if slices.ContainsFunc(lines, func(l sessionLine) bool { return l.gone }) {
		most += len(goneMark)
	}
	w[colProject] = min(w[colProject], most)
	w[colTitle] = 0
	left := func() int {
		rest := screen
		for i, n := range w {
			if n > 0 && i != colTitle {
				rest -= n + columnGap
			}
		}
		return rest
	}
	for _, i := range givesWay {
		if left() >= min(leastTitle, wanted) {
			break
		}
		w[i] = 0
	}
	if left() < min(barelyTitle, wanted) {
		w[colWhen] = 0
	}
	if short := min(barelyTitle, wanted) - left(); short > 0 {
		w[colID] = max(w[colID]-short, barelyTitle)
	}
	w[colTitle] = max(1, min(wanted, left()))
	if w[colProject] == 0 {
		w[colTitle] = max(1, left()) // marks may stand there
	}
	return w
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
		return itoa(int(d.Minutes())) + "m ago"
	case d < 24*time.Hour:
		return itoa(int(d.Hours())) + "h ago"
	case d < 7*24*time.Hour:
		return itoa(int(d.Hours()/24)) + "d ago"
	}
	return t.Local().Format("2006-01-02")
}

// about is the number of messages; "~" before it where only the beginning of a
// large file was counted.
func about(r index.Row) string {
	if r.Estimated {
		return "~" + comma(r.Messages)
	}
	return comma(r.Messages)
}
