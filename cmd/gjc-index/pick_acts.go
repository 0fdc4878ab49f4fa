package main

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// pickMenu are the acts, the letter that each has in the menu (and with alt
// everywhere), and what they are called.
var pickMenu = []struct {
	letter, name, more string
	act                pickAct
	end                pickEnd
}{
	{"r", "resume", "go on with the session, by the command of the configuration", actNone, endChosen},
	{"y", "print", "print the command that resumes it", actNone, endCommand},
	{"p", "pin", "keep it from being pruned, or no longer", actPin, endNothing},
	{"t", "title", "rename it", actTitle, endNothing},
	{"l", "label", "label its last message", actLabel, endNothing},
	{"e", "export", "as a page, Markdown, text or JSON, by the name's ending", actExport, endNothing},
	{"a", "archive", "move what no context needs any more out of its file", actArchive, endNothing},
	{"d", "trash", "move it to the trash", actTrash, endNothing},
	{"u", "undo", "bring back what was moved to the trash last", actUndo, endNothing},
}

// menuKey takes the letter of an act.
func (m *picker) menuKey(key string) tea.Cmd {
	m.mode, m.status = modeList, ""
	switch key {
	case "enter":
		return m.choose(endChosen)
	case "?", "f1":
		m.mode = modeHelp
		return nil
	case "up", "down", "pgup", "pgdown":
		cmd, _ := m.moveKey(key)
		return cmd
	}
	return m.letter(strings.TrimPrefix(key, "alt+"))
}

// letter begins the act that has a letter.
func (m *picker) letter(letter string) tea.Cmd {
	for _, e := range pickMenu {
		if e.letter != letter {
			continue
		}
		if e.end != endNothing {
			return m.choose(e.end)
		}
		return m.begin(e.act)
	}
	return nil
}

// begin does an act, or asks what it needs to know first.
func (m *picker) begin(act pickAct) tea.Cmd {
	item, ok := m.current()
	switch {
	case m.doing:
		m.fail("wait: " + doing(m.act) + " is not done yet")
		return nil
	case act == actUndo:
		if len(m.undo) == 0 {
			m.fail("nothing was moved to the trash here; gjc-index restore shows what is in it")
			return nil
		}
		return m.perform(act, m.undo[len(m.undo)-1], "")
	case !ok:
		m.fail("there is no session to do that to")
		return nil
	}
	switch act {
	case actTitle:
		m.line.set(drawn(item.Title))
	case actExport:
		m.line.set(m.store.exportName(item))
	case actLabel:
		look, known := m.looks[item.Path]
		if !known || look.target == "" {
			m.fail("it has no message that could be labelled")
			if !known {
				m.fail("wait a moment: the session is being read")
			}
			return nil
		}
		item.found = look.target
		m.line.set(drawn(look.label))
	default:
		return m.perform(act, item, "")
	}
	m.act, m.on, m.mode = act, item, modeAsk
	return nil
}

// askKey edits the line that a question is answered with.
func (m *picker) askKey(key, text string) tea.Cmd {
	switch key {
	case "esc", "ctrl+c":
		m.mode = modeList
		m.say("nothing was changed")
	case "enter":
		m.mode = modeList
		return m.perform(m.act, m.on, m.line.text)
	case "home":
		m.line.at = 0
	case "end":
		m.line.at = len(m.line.text)
	default:
		if !m.line.edit(key) && text != "" {
			m.line.insert(text)
		}
	}
	return nil
}

// perform does an act beside the screen.
func (m *picker) perform(act pickAct, item pickItem, arg string) tea.Cmd {
	m.act, m.doing = act, true
	m.say(doing(act) + "…")
	ctx, store := m.ctx, m.store
	return func() tea.Msg { return pickDoneMsg{act, item, store.act(ctx, act, item, arg)} }
}

// doing is an act while it is done.
func doing(act pickAct) string {
	switch act {
	case actPin:
		return "pinning"
	case actLabel:
		return "labelling"
	case actTitle:
		return "renaming"
	case actExport:
		return "exporting"
	case actArchive:
		return "archiving"
	case actTrash:
		return "moving to the trash"
	}
	return "bringing back"
}

// acted shows what came of an act.
func (m *picker) acted(msg pickDoneMsg) tea.Cmd {
	m.doing = false
	m.status, m.bad = msg.done.text, msg.done.bad
	if msg.done.bad {
		return nil
	}
	m.age++
	switch msg.act {
	case actTrash:
		item := msg.item
		item.found = msg.done.trash
		m.undo = append(m.undo, item)
		m.drop(item.Path)
	case actUndo:
		m.undo = m.undo[:len(m.undo)-1]
		m.want = msg.done.path
	case actExport:
		return m.moved()
	}
	return tea.Batch(m.refresh(), m.moved())
}

// drop takes a session from the list at once; the next answer is without it.
func (m *picker) drop(path string) {
	at := m.find(path, -1)
	if at < 0 {
		return
	}
	items := append([]pickItem(nil), m.rows.items[:at]...)
	m.rows.items = append(items, m.rows.items[at+1:]...)
	m.rows.total--
	m.rows.all--
	if m.cursor > at {
		m.cursor--
	}
	m.cursor = max(0, min(m.cursor, len(m.rows.items)-1))
	m.follow()
}
