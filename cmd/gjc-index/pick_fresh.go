package main

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// look asks for the preview of a session.
func (m *picker) look(item pickItem) tea.Cmd {
	if m.cancelLook != nil {
		m.cancelLook()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancelLook, m.looking = cancel, item.Path
	store := m.store
	return func() tea.Msg {
		defer cancel()
		look, err := store.look(ctx, item)
		return pickLookMsg{item.Path, look, err}
	}
}

func (m *picker) looked(msg pickLookMsg) {
	if m.looking == msg.path {
		m.looking = ""
	}
	if msg.err != nil {
		return // it was cancelled
	}
	if len(m.looks) >= keptLooks {
		clear(m.looks)
	}
	msg.look.age = m.age
	m.looks[msg.path] = msg.look
	if i := m.find(msg.path, -1); i >= 0 {
		m.rows.items[i].pinned = msg.look.pinned
	}
}

// refresh brings the index up to date, beside the screen.
func (m *picker) refresh() tea.Cmd {
	if m.refreshing {
		m.again = true
		return nil
	}
	m.refreshing = true
	ctx, store := m.ctx, m.store
	return tea.Batch(
		func() tea.Msg {
			note, err := store.refresh(ctx)
			return pickFreshMsg{note, err}
		},
		m.later(buildTick, pickTickMsg{}))
}

// tick shows how far a build is.
func (m *picker) tick() tea.Cmd {
	m.building = ""
	if !m.refreshing {
		return nil
	}
	next := m.later(buildTick, pickTickMsg{})
	if files, total := m.store.progress(); total > 0 {
		m.building = "reading " + comma(files) + " of " + count(total, "file")
		if !m.early && m.rows.all == 0 && !m.waiting { // the files tell of the sessions meanwhile
			m.early = true
			return tea.Batch(m.reload(), next)
		}
	}
	return next
}

func (m *picker) refreshed(msg pickFreshMsg) tea.Cmd {
	m.refreshing, m.building = false, ""
	switch {
	case msg.err != nil && m.ctx.Err() == nil:
		m.fail("can't look for new sessions: " + plain(sentence(msg.err)))
	case msg.note != "" && m.status == "":
		m.say(msg.note)
	case m.status == lookingForNew:
		m.status = ""
	}
	var next tea.Cmd
	if m.again {
		m.again = false
		next = m.refresh()
	}
	m.age++
	return tea.Batch(m.reload(), next)
}

// reload asks for the same list again.
func (m *picker) reload() tea.Cmd {
	if len(m.rows.items) > 0 && m.ask.text == m.query.text {
		m.stay = true
	}
	m.ask.text = m.query.text
	m.ask.limit = max(pickPage, len(m.rows.items), m.ask.limit)
	return m.load()
}
