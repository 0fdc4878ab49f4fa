package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

// View is the screen as it should be now.
func (m *picker) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.ReportFocus = true
	v.WindowTitle = "gjc-index"
	if x, y, ok := m.cursorAt(); ok {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// screen is the lines of the screen, none wider than it is.
func (m *picker) screen() []string {
	w, h := max(narrowest, m.width), max(1, m.height)
	if m.mode == modeHelp {
		return m.helpLines(w, h)
	}
	l := m.layout()
	lines := []string{m.head(w)}
	if l.rule {
		lines = append(lines, m.style.rule(w))
	}
	list := m.listLines(l.list)
	look := m.lookPart(l.look)
	switch {
	case m.mode == modeLook:
		lines = append(lines, look...)
	case l.beside:
		bar := m.style.paint(dim, " │ ")
		for i := range list {
			lines = append(lines, list[i]+bar+look[i])
		}
	default:
		lines = append(lines, list...)
		if l.look.height > 0 {
			lines = append(append(lines, m.style.rule(w)), look...)
		}
	}
	foot := m.foot(w)
	return append(lines, foot[len(foot)-l.foot:]...)
}

// cursorAt is where something is typed.
func (m *picker) cursorAt() (x, y int, ok bool) {
	switch m.mode {
	case modeList:
		_, x = m.query.shown(m.queryWidth(max(narrowest, m.width)))
		return len(pickMark) + x, 0, true
	case modeAsk:
		q := m.question()
		_, x = m.line.shown(max(1, m.width-uniseg.StringWidth(q)))
		return uniseg.StringWidth(q) + x, m.height - 1, true
	}
	return 0, 0, false
}

const pickMark = "> "

func (m *picker) queryWidth(w int) int {
	return max(1, w-len(pickMark)-uniseg.StringWidth(m.facts(w))-1)
}

// head is the first line: what is typed, and what the list is.
func (m *picker) head(w int) string {
	facts := m.facts(w)
	room := m.queryWidth(w)
	text, _ := m.query.shown(room)
	if m.query.text == "" {
		text = m.style.paint(dim, fit("type to search", room))
		return m.style.paint(cyan, pickMark) + padPainted(text, fit("type to search", room), room) + " " + m.style.paint(dim, facts)
	}
	return m.style.paint(cyan, pickMark) + pad(text, room) + " " + m.style.paint(dim, facts)
}

// padPainted pads what is painted as what it shows.
func padPainted(painted, shown string, width int) string {
	return painted + strings.Repeat(" ", max(0, width-uniseg.StringWidth(shown)))
}

// facts say how many sessions there are, from where, and in which order.
func (m *picker) facts(w int) string {
	if !m.loaded {
		return ""
	}
	n := comma(m.rows.total)
	if m.rows.partial {
		n += "+"
	}
	if m.rows.total != m.rows.all {
		n += " of " + comma(m.rows.all)
	}
	where := "all projects"
	if m.ask.project != "" {
		where = "only " + fit(drawn(baseName(m.ask.project)), 20)
	}
	order := "by " + sortName(m.ask.sort)
	if m.ask.reverse {
		order += ", reversed"
	}
	for _, parts := range [][]string{{n, where, order}, {n, where}, {n}} {
		if text := strings.Join(parts, " · "); uniseg.StringWidth(text) <= w/2 || len(parts) == 1 && w >= 20 {
			return text
		}
	}
	return ""
}

func sortName(s index.Sort) string {
	if s == index.SortActive {
		return "time"
	}
	return string(s)
}

// foot is what stands at the bottom: a question, the menu, or what was done
// last and what the keys do.
func (m *picker) foot(w int) []string {
	switch m.mode {
	case modeAsk:
		q := m.question()
		text, _ := m.line.shown(w - uniseg.StringWidth(q))
		return []string{m.style.paint(dim, fit(m.askHint(), w)), m.style.paint(cyan, q) + text}
	case modeMenu:
		return m.menuLines(w)
	}
	keys := m.style.paint(dim, m.keysLine(w))
	status := m.statusLine(w)
	if m.height < ruleHeight+4 {
		if status != "" {
			return []string{status}
		}
		return []string{keys}
	}
	return []string{status, keys}
}

func (m *picker) statusLine(w int) string {
	switch {
	case m.bad && m.status != "":
		return m.style.paint(red, fit(drawn(m.status), w))
	case m.status != "":
		return m.style.paint(green, fit(drawn(m.status), w))
	case m.building != "":
		return m.style.paint(dim, fit(m.building, w))
	case m.rows.leftOut > 0:
		return m.style.paint(dim, fit(count(m.rows.leftOut, "file")+" left out; gjc-index list --damaged names them", w))
	}
	return ""
}

// keysLine names as many keys as there is room for, the most needed first.
func (m *picker) keysLine(w int) string {
	keys := []string{"enter " + m.enterDoes(), "tab actions", "? help", "^T one project", "^S sort", "^D trash", "^V preview", "esc quit"}
	if m.ask.project != "" {
		keys[3] = "^T all projects"
	}
	if m.query.text != "" {
		keys[2], keys[7] = "F1 help", "esc clear"
	}
	if m.mode == modeLook {
		keys = []string{"esc back", "↑↓ scroll", "^N ^P next", "enter " + m.enterDoes()}
	}
	line := ""
	for _, k := range keys {
		next := line
		if next != "" {
			next += "  "
		}
		if next += k; uniseg.StringWidth(next) > w {
			break
		}
		line = next
	}
	return line
}

func (m *picker) enterDoes() string {
	if m.printing {
		return "choose"
	}
	return "resume"
}

func (m *picker) question() string {
	switch m.act {
	case actTitle:
		return "title: "
	case actLabel:
		return "label: "
	}
	return "export to: "
}

func (m *picker) askHint() string {
	what := "enter: done · esc: leave it"
	switch m.act {
	case actLabel:
		return "on the last message; an empty label takes it away · " + what
	case actExport:
		return "by the ending .html .md .txt .json .jsonl; secrets are taken out · " + what
	}
	return what
}

// menuLines are the acts and their letters, in as many lines as they need.
func (m *picker) menuLines(w int) []string {
	lines := []string{""}
	width := 0
	item, _ := m.current()
	for _, e := range pickMenu {
		name := e.name
		switch {
		case e.act == actPin && item.pinned:
			name = "unpin"
		case e.end == endChosen:
			name = m.enterDoes()
		case e.act == actUndo && len(m.undo) == 0:
			continue
		}
		n := len(e.letter) + 1 + len(name)
		if width > 0 && width+2+n > w {
			lines, width = append(lines, ""), 0
		}
		at := len(lines) - 1
		if width > 0 {
			lines[at] += "  "
			width += 2
		}
		lines[at] += m.style.paint(cyan, e.letter) + " " + name
		width += n
	}
	title := fit(titleOf(item.Row), max(1, w-7))
	return append([]string{m.style.paint(bold, fit(evenWidth(title), w))}, lines...)
}

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
	case !m.loaded || m.waiting:
		return "…"
	case m.query.text != "" && m.ask.project != "":
		return "nothing found in this project; ctrl+t searches all, esc clears the search"
	case m.query.text != "":
		return "nothing found; esc clears the search"
	case m.ask.project != "":
		return "no session is from this project; ctrl+t shows all"
	case m.refreshing:
		return "the index is being built…"
	case m.rows.empty != "":
		return m.rows.empty
	}
	return "no sessions"
}

// itemLine is one session: marks, title, project, and what the list is sorted
// by. On a narrow screen the project gives way, then the last column.
func (m *picker) itemLine(item pickItem, selected bool, width int) string {
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
	last := m.lastColumn(item)
	project := fit(drawn(baseName(item.Project)), 16)
	if item.CwdMissing {
		project = fit(project, 16-len(goneMark)) + goneMark
	}
	const gap, lastWidth, projectWidth = 2, 10, 16
	room := width - len(marks) - 1
	withLast := room >= 30
	withProject := room >= 54 && m.ask.project == ""
	if withLast {
		room -= gap + lastWidth
	}
	if withProject {
		room -= gap + projectWidth
	}
	title, found := m.titleCell(item, max(1, room))
	if selected {
		line := string(marks) + " " + title + found
		if withProject {
			line += "  " + pad(project, projectWidth)
		}
		if withLast {
			line += "  " + padLeft(last, lastWidth)
		}
		return m.style.selected(pad(line, width))
	}
	line := m.style.paint(yellow, string(marks)) + " " + title + m.style.paint(dim, found)
	if withProject {
		line += "  " + m.style.paint(cyan, pad(project, projectWidth))
	}
	if withLast {
		line += "  " + m.style.paint(dim, padLeft(last, lastWidth))
	}
	return line
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
	for term := range strings.FieldsSeq(strings.ToLower(query)) {
		if i := strings.Index(low, strings.Trim(term, `"`)); i >= 0 && (at < 0 || i < at) {
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
