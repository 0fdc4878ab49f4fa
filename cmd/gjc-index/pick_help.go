package main

import "strings"

// pickHelp is what ? shows: keys and what they do, in parts.
var pickHelp = []struct {
	keys, does string
}{
	{"", "Type to search: every word must be in one prompt, or in title, directory, id."},
	{"↑ ↓ ^P ^N", "another session; PgUp PgDn Home End go further"},
	{"enter", "resume the session"},
	{"tab", "what can be done to it; Alt and the letter does it at once:"},
	{"^T", "sessions of this project, or of all"},
	{"^S ^R", "sort by time, created, title, messages, size; the other way round"},
	{"^V", "hide the preview; where there is no room for it, show it"},
	{"^↑ ^↓", "scroll the preview; Shift does too"},
	{"^D ^Z", "move to the trash, and bring back"},
	{"^U ^W ^A ^E", "edit what is typed"},
	{"F5", "look for what is new"},
	{"esc", "clear the search, then leave; ^C leaves"},
	{"", "Marks: * pinned, ! damaged lines. The mouse chooses and scrolls."},
}

// helpLines is the page of keys, which a key closes.
func (m *picker) helpLines(w, h int) []string {
	const keys = 12
	var lines []string
	add := func(left, text string) {
		indent := keys
		if left == "" {
			indent = 0
		}
		for i, line := range wrapped(text, max(8, w-indent), 4) {
			if i > 0 {
				left = ""
			}
			head := ""
			if indent > 0 {
				head = m.style.paint(cyan, left) + strings.Repeat(" ", max(0, indent-len([]rune(left))))
			}
			lines = append(lines, head+line)
		}
	}
	for _, e := range pickHelp {
		does := e.does
		if e.keys == "enter" && m.printing {
			does = "choose the session"
		}
		add(e.keys, does)
		if e.keys != "tab" {
			continue
		}
		for _, act := range pickMenu {
			add("  "+act.letter, act.name+": "+act.more)
		}
	}
	if len(lines) > h {
		lines = m.helpTight(w)
	}
	foot := m.style.paint(dim, fit("any key: back", w))
	if len(lines) > h-1 {
		lines = lines[:max(0, h-1)]
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	return append(lines, foot)
}

// helpTight is the page of keys for a small screen: keys and a word each.
func (m *picker) helpTight(w int) []string {
	words := []string{"type: search", "↑↓: move", "enter: " + m.enterDoes(), "tab: actions", "^T: one project", "^S: sort", "^R: reverse",
		"^V: preview", "^D: trash", "^Z: undo", "esc: clear, quit"}
	for _, act := range pickMenu[2:7] {
		words = append(words, "M-"+act.letter+": "+act.name)
	}
	return wrapped(strings.Join(words, " · "), w, 100)
}
