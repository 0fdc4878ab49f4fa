package main

import (
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

// listLines are the lines of the list, each as wide as its box.
func (m *picker) listLines(b box) []string {
	lines := make([]string, 0, b.height)
	for i := m.top; i < len(m.rows.items) && len(lines) < b.height; i++ {
		lines = append(lines, m.itemLine(m.rows.items[i], i == m.cursor, b.width))
	}
	if len(m.rows.items) == 0 && b.height > 0 {
		for _, line := range wrapped(m.emptyText(), max(1, b.width-2), b.height) {
			lines = append(lines, pad("  "+line, b.width))
		}
	}
	for len(lines) < b.height {
		lines = append(lines, strings.Repeat(" ", b.width))
	}
	return lines[:min(len(lines), b.height)]
}

func (m *picker) emptyText() string {
	switch {
	case m.early && m.waiting && m.refreshing:
		return "the index is being built; sessions are read from the files meanwhile…"
	case !m.loaded || m.waiting:
		return "…"
	case m.rows.all == 0 && m.refreshing:
		return "the index is being built…"
	case m.rows.all == 0 && m.rows.empty != "":
		return m.rows.empty
	case m.query.text != "" && m.ask.project != "":
		return "nothing found in this project; ctrl+t searches all, esc clears the search"
	case m.query.text != "":
		return "nothing found; esc clears the search"
	case m.ask.project != "":
		return "no session is from this project; ctrl+t shows all"
	}
	return "no sessions"
}

// itemCells are the parts of a session's line. On a narrow screen the project
// gives way, then the last column.
type itemCells struct {
	marks, title, found string
	project, last       string // "" if they are not shown
}

const (
	cellGap      = "  "
	projectWidth = 14
	lastWidth    = 10
)

func (m *picker) cells(item pickItem, selected bool, width int) itemCells {
	marks := []byte("  ")
	if selected {
		marks[0] = '>'
	}
	if item.pinned {
		marks[1] = '*'
	}
	if item.Damage != "" {
		marks[1] = '!'
	}
	c := itemCells{marks: string(marks)}
	room := width - len(marks) - 1
	withProject := room >= 60 && m.ask.project == ""
	if room >= 30 {
		c.last = cellGap + padLeft(m.lastColumn(item), lastWidth)
		room -= len(c.last)
	}
	if withProject {
		name, mark := drawn(baseName(item.Project)), ""
		if item.CwdMissing {
			mark = goneMark
		}
		c.project = cellGap + pad(fit(name, projectWidth-len(mark))+mark, projectWidth)
		room -= len(cellGap) + projectWidth
	}
	c.title, c.found = m.titleCell(item, max(1, room))
	return c
}

// itemLine is one session: marks, title, project, and what the list is sorted
// by.
func (m *picker) itemLine(item pickItem, selected bool, width int) string {
	c := m.cells(item, selected, width)
	if selected {
		return m.style.selected(pad(c.marks+" "+c.title+c.found+c.project+c.last, width))
	}
	code := bold
	if item.Damage != "" {
		code = red
	}
	return m.style.paint(code, c.marks) + " " + m.lit(c.title, "") + m.lit(c.found, dim) +
		m.style.paint(cyan, c.project) + m.style.paint(dim, c.last)
}

// lit is text in which the words that are searched stand out.
func (m *picker) lit(text, code string) string {
	low := strings.ToLower(text)
	if !m.style.colour || m.ask.text == "" || len(low) != len(text) {
		return m.style.paint(code, text)
	}
	hit := make([]bool, len(text))
	for _, term := range searchedWords(m.ask.text) {
		for at := 0; ; {
			i := strings.Index(low[at:], term)
			if i < 0 {
				break
			}
			for n := range len(term) {
				hit[at+i+n] = true
			}
			at += i + len(term)
		}
	}
	var b strings.Builder
	for from := 0; from < len(text); {
		to := from + 1
		for to < len(text) && hit[to] == hit[from] {
			to++
		}
		if hit[from] {
			b.WriteString(m.style.paint(litUp, text[from:to]))
		} else {
			b.WriteString(m.style.paint(code, text[from:to]))
		}
		from = to
	}
	return b.String()
}

// searchedWords are the words of a query as they may stand in a text.
func searchedWords(query string) []string {
	var words []string
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if word = strings.Trim(word, `"`); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// titleCell is a session's title, and beside it the text that was found, if
// the title does not show why the session is in the list.
func (m *picker) titleCell(item pickItem, room int) (title, found string) {
	title = evenWidth(titleOf(item.Row))
	if item.found == "" || room < 24 {
		return pad(fit(title, room), room), ""
	}
	title = fit(title, room*2/5)
	rest := room - uniseg.StringWidth(title)
	return title, pad("  "+fit(aroundTerm(drawn(item.found), m.ask.text, rest-2), rest-2), rest)
}

// aroundTerm begins a text that is too long shortly before the first word that
// was searched, so that it is seen.
func aroundTerm(text, query string, width int) string {
	low := strings.ToLower(text)
	at := -1
	for _, term := range searchedWords(query) {
		if i := strings.Index(low, term); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 || len(low) != len(text) || uniseg.StringWidth(text) <= width {
		return text
	}
	from := strings.LastIndexByte(text[:max(0, at-width/4)], ' ') + 1
	if from == 0 {
		return text
	}
	return "…" + text[from:]
}

func (m *picker) lastColumn(item pickItem) string {
	switch m.ask.sort {
	case index.SortMessages:
		return about(item.Row)
	case index.SortSize:
		return humanize.Bytes(uint64(max(0, item.Size)))
	case index.SortCreated:
		return ago(m.now(), item.Created)
	}
	return ago(m.now(), item.Active)
}
