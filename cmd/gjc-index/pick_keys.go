package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/gajae-code/gjc-index/index"
)

// pickSorts are the orders that ctrl+s goes through.
var pickSorts = []index.Sort{index.SortActive, index.SortCreated, index.SortTitle, index.SortMessages, index.SortSize}

// key does what a key asks for. What it does is never waited for.
func (m *picker) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" && m.mode != modeAsk {
		return m.quit()
	}
	switch m.mode {
	case modeHelp:
		m.mode = modeList
		return nil
	case modeMenu:
		return m.menuKey(key)
	case modeAsk:
		return m.askKey(key, msg.Text)
	case modeLook:
		return m.lookKey(key)
	}
	m.status = ""
	if cmd, ok := m.moveKey(key); ok {
		return cmd
	}
	if cmd, ok := m.listKey(key); ok {
		return cmd
	}
	if letter, ok := strings.CutPrefix(key, "alt+"); ok && utf8.RuneCountInString(letter) == 1 {
		return m.letter(letter)
	}
	before := m.query.text
	if !m.query.edit(key) && msg.Text != "" {
		m.query.insert(msg.Text)
	}
	if m.query.text != before {
		return m.changed()
	}
	return nil
}

// moveKey moves the cursor, or the preview.
func (m *picker) moveKey(key string) (tea.Cmd, bool) {
	page := max(1, m.layout().list.height-1)
	switch key {
	case "up", "ctrl+p":
		return m.move(-1), true
	case "down", "ctrl+n":
		return m.move(1), true
	case "pgup":
		return m.move(-page), true
	case "pgdown":
		return m.move(page), true
	case "home":
		return m.moveTo(0), true
	case "end":
		return m.end(), true
	case "shift+up", "ctrl+up":
		m.scrollBy(-1)
		return nil, true
	case "shift+down", "ctrl+down":
		m.scrollBy(1)
		return nil, true
	}
	return nil, false
}

// end goes to the last session, of all there are.
func (m *picker) end() tea.Cmd {
	if len(m.rows.items) >= m.rows.total {
		return m.moveTo(len(m.rows.items) - 1)
	}
	m.toEnd = true
	m.ask.limit = m.rows.total
	return m.load()
}

// listKey does what the other keys of the list are for.
func (m *picker) listKey(key string) (tea.Cmd, bool) {
	switch key {
	case "enter":
		return m.choose(endChosen), true
	case "ctrl+y":
		return m.choose(endCommand), true
	case "tab":
		if _, ok := m.current(); ok {
			m.mode = modeMenu
		}
		return nil, true
	case "esc":
		if m.query.text == "" {
			return m.quit(), true
		}
		m.query.set("")
		return m.changed(), true
	case "f1":
		m.mode = modeHelp
		return nil, true
	case "?":
		if m.query.text != "" {
			return nil, false
		}
		m.mode = modeHelp
		return nil, true
	case "f5":
		m.say(lookingForNew)
		return m.refresh(), true
	case "ctrl+t":
		return m.narrow(), true
	case "ctrl+s":
		at := slices.Index(pickSorts, m.ask.sort)
		m.ask.sort = pickSorts[(at+1)%len(pickSorts)]
		return m.anew(), true
	case "ctrl+r":
		m.ask.reverse = !m.ask.reverse
		return m.anew(), true
	case "ctrl+v":
		if m.layout().look.height > 0 || m.plain {
			m.plain = !m.plain
		} else {
			m.mode = modeLook
		}
		m.follow()
		return nil, true
	case "ctrl+d":
		return m.letter("d"), true
	case "ctrl+z":
		return m.letter("u"), true
	}
	return nil, false
}

// anew asks for the list in another order, from its beginning.
func (m *picker) anew() tea.Cmd {
	m.ask.text, m.ask.limit, m.ask.deep = m.query.text, pickPage, false
	m.stay, m.want, m.toEnd = false, "", false
	m.cursor, m.top = 0, 0
	return m.load()
}

// narrow changes between all projects and one: that of the working directory,
// and where it has no sessions that of the session with the cursor.
func (m *picker) narrow() tea.Cmd {
	item, ok := m.current()
	switch {
	case m.ask.project != "":
		m.ask.project = ""
	case m.store.here() != "":
		m.ask.project = m.store.here()
	case ok:
		m.ask.project = item.Project
	default:
		m.fail("no session is there whose project could be shown alone")
		return nil
	}
	if ok {
		m.want = item.Path
	}
	want := m.want
	cmd := m.anew()
	m.want = want
	return cmd
}

// quit ends the picker with nothing chosen.
func (m *picker) quit() tea.Cmd {
	m.result = pickResult{}
	return tea.Quit
}

// choose ends the picker with the session that has the cursor, if it can be
// resumed.
func (m *picker) choose(end pickEnd) tea.Cmd {
	item, ok := m.current()
	switch {
	case !ok && m.waiting:
		m.fail("the list is still being made: choose once it is there")
		return nil
	case !ok:
		m.fail("there is no session to choose")
		return nil
	}
	if err := m.store.canEnd(item, end); err != nil {
		m.fail(plain(sentence(err)))
		return nil
	}
	m.result = pickResult{end, item}
	return tea.Quit
}

// lookKey is for the preview that has the whole screen.
func (m *picker) lookKey(key string) tea.Cmd {
	switch key {
	case "up":
		m.scrollBy(-1)
	case "down":
		m.scrollBy(1)
	case "pgup":
		m.scrollBy(-m.layout().look.height)
	case "pgdown", "space":
		m.scrollBy(m.layout().look.height)
	case "home":
		m.scroll = 0
	case "ctrl+n":
		return m.move(1)
	case "ctrl+p":
		return m.move(-1)
	case "enter":
		return m.choose(endChosen)
	default:
		m.mode = modeList
		m.follow()
	}
	return nil
}

func (m *picker) scrollBy(by int) {
	l := m.layout().look
	most := max(0, len(m.lookLines(l.width))-l.height)
	m.scroll = max(0, min(m.scroll+by, most))
}

func (m *picker) paste(text string) tea.Cmd {
	switch m.mode {
	case modeAsk:
		m.line.insert(text)
	case modeList:
		m.query.insert(text)
		return m.changed()
	}
	return nil
}

// click puts the cursor on the line that is clicked; a click on the line with
// the cursor opens its menu.
func (m *picker) click(at tea.Mouse) tea.Cmd {
	l := m.layout().list
	if m.mode == modeHelp || m.mode == modeMenu {
		m.mode = modeList
		return nil
	}
	if m.mode != modeList || at.Button != tea.MouseLeft || !l.holds(at.X, at.Y) {
		return nil
	}
	line := m.top + at.Y - l.y
	switch {
	case line >= len(m.rows.items):
		return nil
	case line == m.cursor:
		m.mode = modeMenu
		return nil
	}
	m.status = ""
	return m.moveTo(line)
}

const wheelLines = 3

func (m *picker) wheel(at tea.Mouse) tea.Cmd {
	by := wheelLines
	switch at.Button {
	case tea.MouseWheelUp:
		by = -wheelLines
	case tea.MouseWheelDown:
	default:
		return nil
	}
	if l := m.layout(); m.mode == modeLook || l.look.holds(at.X, at.Y) {
		m.scrollBy(by)
		return nil
	}
	if m.mode != modeList {
		return nil
	}
	return m.move(by)
}
