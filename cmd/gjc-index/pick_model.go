package main

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gajae-code/gjc-index/index"
)

// picker is the screen on which a session is chosen. It only shows and asks:
// whatever may wait is done by its pickStore beside the screen, so that no key
// ever waits.
type picker struct {
	ctx   context.Context // of the program that shows it
	store pickStore
	now   func() time.Time
	later func(d time.Duration, msg tea.Msg) tea.Cmd // msg, after d
	style pickStyle
	user  string // the person's directory, which is shown as ~

	width, height int

	ask     pickAsk
	query   inputLine
	rows    pickRows
	loaded  bool // an answer has come
	cursor  int
	top     int    // the first line that is shown
	stay    bool   // the cursor stays on its session when the list comes
	want    string // the path that the cursor goes to when it comes
	toEnd   bool   // the cursor goes to the end when it is loaded
	asked   int    // numbers the asks; an answer to another one is late
	cancel  context.CancelFunc
	waiting bool // an ask is under way

	looks      map[string]pickLook // by path
	age        int                 // rises when looks may be out of date
	looking    string              // the path that is being looked at
	cancelLook context.CancelFunc
	scroll     int  // lines of the preview that are above it
	plain      bool // no preview beside the list

	mode   pickMode
	line   inputLine // what a question is answered with
	act    pickAct   // what is asked for, or done just now
	on     pickItem  // the session that it is done to
	doing  bool
	undo   []pickItem // what was moved to the trash; found is where it lies
	status string
	bad    bool

	printing          bool // the session chosen is printed and not resumed
	refreshing, again bool
	early             bool // the list was asked for during a build
	building          string

	result pickResult
}

// pickMode says what keys mean.
type pickMode uint8

const (
	modeList pickMode = iota
	modeMenu
	modeHelp
	modeAsk  // a line is typed
	modeLook // the preview has the whole screen
)

// pickEnd is what becomes of the session that was chosen.
type pickEnd uint8

const (
	endNothing pickEnd = iota
	endChosen          // it is resumed, or printed where that is asked for
	endCommand         // the command that resumes it is printed
)

// pickResult is what was chosen.
type pickResult struct {
	end  pickEnd
	item pickItem
}

// lookingForNew is said until a refresh that was asked for has ended.
const lookingForNew = "looking for what is new…"

// How many sessions are asked for at first, and how long the picker waits for
// another key before it asks.
const (
	pickPage     = 200
	pickDebounce = 30 * time.Millisecond
	lookDebounce = 40 * time.Millisecond
	buildTick    = 200 * time.Millisecond
	keptLooks    = 128
)

func newPicker(ctx context.Context, store pickStore, now func() time.Time) *picker {
	return &picker{ctx: ctx, store: store, now: now, later: after, width: 80, height: 24, looks: map[string]pickLook{},
		ask: pickAsk{sort: index.SortActive, limit: pickPage}}
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// The messages of what was done beside the screen.
type (
	pickRowsMsg struct {
		asked int
		rows  pickRows
		err   error
	}
	pickSettledMsg struct{ asked int } // no key came meanwhile
	pickLookMsg    struct {
		path string
		look pickLook
		err  error
	}
	pickStillMsg struct{ path string } // the cursor stayed
	pickFreshMsg struct {
		note string
		err  error
	}
	pickDoneMsg struct {
		act  pickAct
		item pickItem
		done pickDone
	}
	pickTickMsg struct{}
)

// Init asks for what the index has. What is new is asked for when that is shown.
func (m *picker) Init() tea.Cmd { return tea.Batch(m.load(), tea.RequestBackgroundColor) }

// Update is what the picker does about a message.
func (m *picker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.follow()
	case tea.BackgroundColorMsg:
		m.style.ground = groundLight
		if msg.IsDark() {
			m.style.ground = groundDark
		}
	case tea.FocusMsg:
		cmd = m.refresh()
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg.Content)
	case tea.MouseClickMsg:
		cmd = m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		cmd = m.wheel(msg.Mouse())
	default:
		cmd = m.answered(msg)
	}
	return m, cmd
}

// answered takes what was done beside the screen.
func (m *picker) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case pickSettledMsg:
		if msg.asked == m.asked {
			return m.load()
		}
	case pickRowsMsg:
		return m.listed(msg)
	case pickStillMsg:
		if item, ok := m.current(); ok && item.Path == msg.path && m.looking != msg.path {
			return m.look(item)
		}
	case pickLookMsg:
		m.looked(msg)
	case pickFreshMsg:
		return m.refreshed(msg)
	case pickDoneMsg:
		return m.acted(msg)
	case pickTickMsg:
		return m.tick()
	}
	return nil
}

// current is the session with the cursor.
func (m *picker) current() (pickItem, bool) {
	if m.cursor < 0 || m.cursor >= len(m.rows.items) {
		return pickItem{}, false
	}
	return m.rows.items[m.cursor], true
}

// say shows something on the status line.
func (m *picker) say(text string) { m.status, m.bad = text, false }

// fail shows there what went wrong.
func (m *picker) fail(text string) { m.status, m.bad = text, true }

// load asks for the list. An older ask ends.
func (m *picker) load() tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel = cancel
	m.asked++
	m.waiting = true
	asked, ask, store := m.asked, m.ask, m.store
	return func() tea.Msg {
		defer cancel()
		rows, err := store.rows(ctx, ask)
		return pickRowsMsg{asked, rows, err}
	}
}

// changed asks for the list soon, when no other key has come.
func (m *picker) changed() tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	m.ask.text, m.ask.deep = m.query.text, false
	m.ask.limit = pickPage
	m.stay, m.want, m.toEnd = false, "", false
	m.cursor, m.top = 0, 0
	m.asked++
	m.waiting = true
	return m.later(pickDebounce, pickSettledMsg{m.asked})
}

// listed shows an answer. The cursor stays on its session.
func (m *picker) listed(msg pickRowsMsg) tea.Cmd {
	if msg.asked != m.asked {
		return nil
	}
	m.waiting = false
	var fresh tea.Cmd
	if !m.loaded {
		fresh = m.refresh()
	}
	if msg.err != nil {
		if m.ctx.Err() == nil {
			m.fail("can't list sessions: " + plain(sentence(msg.err)))
		}
		return fresh
	}
	was, had := m.current()
	at, line := m.cursor, m.cursor-m.top
	m.rows, m.loaded = msg.rows, true
	switch {
	case m.toEnd:
		m.toEnd = false
		m.cursor = len(m.rows.items) - 1
	case m.find(m.want, -1) >= 0:
		m.cursor, m.want = m.find(m.want, at), ""
	case had && m.stay:
		m.cursor = m.find(was.Path, at)
	}
	m.cursor = max(0, min(m.cursor, len(m.rows.items)-1))
	if m.top > 0 {
		m.top = m.cursor - line
	}
	m.follow()
	if m.rows.partial && !m.ask.deep {
		m.ask.deep, m.stay = true, true
		return tea.Batch(m.load(), m.moved(), fresh)
	}
	return tea.Batch(m.moved(), fresh)
}

// find is the place of the session at path; else at.
func (m *picker) find(path string, at int) int {
	for i, item := range m.rows.items {
		if item.Path == path {
			return i
		}
	}
	return at
}

// move puts the cursor on another session.
func (m *picker) move(by int) tea.Cmd { return m.moveTo(m.cursor + by) }

func (m *picker) moveTo(at int) tea.Cmd {
	m.want, m.toEnd = "", false
	m.cursor = max(0, min(at, len(m.rows.items)-1))
	m.follow()
	return m.moved()
}

// follow keeps the cursor among the lines that are shown.
func (m *picker) follow() {
	height := m.layout().list.height
	if height < 1 {
		return
	}
	m.top = min(m.top, m.cursor)
	m.top = max(m.top, m.cursor-height+1)
	m.top = max(0, min(m.top, len(m.rows.items)-height))
}

// moved asks for what the cursor needs now: more sessions, and a preview.
func (m *picker) moved() tea.Cmd {
	var more tea.Cmd
	if near := m.cursor + 2*m.layout().list.height; near >= len(m.rows.items) && len(m.rows.items) < m.rows.total && !m.waiting {
		m.ask.limit = max(2*len(m.rows.items), pickPage)
		m.stay = true
		more = m.load()
	}
	item, ok := m.current()
	if !ok || m.looking == item.Path {
		return more
	}
	m.scroll = 0
	if m.cancelLook != nil {
		m.cancelLook()
	}
	m.looking = ""
	if look, ok := m.looks[item.Path]; ok && look.age == m.age && sameFile(look.row, item.Row) {
		return more
	}
	return tea.Batch(more, m.later(lookDebounce, pickStillMsg{item.Path}))
}

// sameFile reports whether the file of a session is as it was.
func sameFile(a, b index.Row) bool {
	return a.Path == b.Path && a.Size == b.Size && a.Modified.Equal(b.Modified) && a.Title == b.Title
}
