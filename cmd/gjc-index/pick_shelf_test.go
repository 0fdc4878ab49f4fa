package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

// shelf is a pickStore of made-up sessions, which answers at once.
type shelf struct {
	items    []pickItem
	asked    []pickAsk
	acts     []string
	refuse   error
	freshErr error
	rowsErr  error
	hereDir  string
	endErr   error
}

func (s *shelf) rows(_ context.Context, ask pickAsk) (pickRows, error) {
	s.asked = append(s.asked, ask)
	if s.rowsErr != nil {
		return pickRows{}, s.rowsErr
	}
	out := pickRows{all: len(s.items), leftOut: 2}
	for _, item := range s.items {
		if ask.project != "" && item.Project != ask.project {
			continue
		}
		text := strings.ToLower(item.Title + "\n" + item.FirstPrompt + "\n" + item.Cwd + "\n" + item.ID)
		if ask.text != "" && !strings.Contains(text, strings.ToLower(ask.text)) {
			continue
		}
		out.total++
		if ask.text != "" || len(out.items) < ask.limit {
			out.items = append(out.items, item)
		}
	}
	if len(s.items) == 0 {
		out.empty = "there are no sessions: /home/nobody is not there"
	}
	return out, nil
}

func (s *shelf) look(_ context.Context, item pickItem) (pickLook, error) {
	cost := 1.25
	return pickLook{
		row: item.Row, short: item.ID[:4], model: "large-2", cost: &cost, tokens: 793_100, pinned: item.pinned,
		entries: 34, leaves: 2, labels: []string{"before the cache"}, prompts: 7, target: "m9",
		first: []pickPrompt{{pickYou, pickNow.Add(-3 * time.Hour), item.FirstPrompt}},
		last: []pickPrompt{
			{pickYou, pickNow.Add(-2 * time.Hour), "and now 再試行 the \x1b[31mretry\nwith a second line"},
			{"assistant", pickNow.Add(-time.Hour), "It is done: the timeout is 30 seconds now, and each retry waits twice as long as the one before it."},
		},
	}, nil
}

func (s *shelf) refresh(context.Context) (string, error) { return "", s.freshErr }
func (s *shelf) progress() (int, int)                    { return 1200, 9000 }
func (s *shelf) here() string                            { return s.hereDir }
func (s *shelf) canEnd(pickItem, pickEnd) error          { return s.endErr }
func (s *shelf) exportName(item pickItem) string         { return item.ID + ".html" }

func (s *shelf) act(_ context.Context, act pickAct, item pickItem, arg string) pickDone {
	s.acts = append(s.acts, fmt.Sprintf("%s %s %q %q", doing(act), item.ID, item.found, arg))
	if s.refuse != nil {
		return pickDone{text: s.refuse.Error(), bad: true}
	}
	switch act {
	case actTrash:
		for i := range s.items {
			if s.items[i].Path == item.Path {
				s.items = append(s.items[:i:i], s.items[i+1:]...)
				break
			}
		}
		return pickDone{text: "moved to the trash", trash: "/trash/" + item.ID}
	case actUndo:
		item.found = ""
		s.items = append([]pickItem{item}, s.items...)
		return pickDone{text: "brought back", path: item.Path}
	}
	return pickDone{text: "done"}
}

// someSessions are of all kinds that are hard to draw.
func someSessions() []pickItem {
	titles := []string{
		"Fix the retry timeout", "データベースの再試行を直す", "👨‍👩‍👧‍👦 family 🇩🇪 flag ❤️ heart 👍🏽 thumb", strings.Repeat("very long title ", 30),
		"\x1b[31mred\x1b[0m \u202ebackwards", "한국어 제목입니다", "naïve café e\u0301", "नमस्ते दुनिया", "", "ledger", "tab\tand\nline", "last",
	}
	var items []pickItem
	for i, title := range titles {
		id := fmt.Sprintf("0195c2%02d-aaaa", i)
		items = append(items, pickItem{Row: index.Row{
			ID: id, Path: "/h/sessions/s/" + id + ".jsonl", Cwd: "/home/ann/src/ledger", Project: "/home/ann/src/ledger", Title: title, HasTitle: true,
			FirstPrompt: "please look at number " + itoa(i), Created: pickNow.Add(-72 * time.Hour), Active: pickNow.Add(-time.Duration(i*i) * time.Hour),
			Modified: pickNow, Messages: 12 * i, Entries: 34, Size: int64(1) << (3*i + 1), State: index.StateOK,
		}})
	}
	items[1].pinned = true
	items[2].Damage = "2 lines can't be read"
	items[3].Project, items[3].Cwd, items[3].CwdMissing = "/srv/an-extraordinarily-long-name", "/srv/an-extraordinarily-long-name", true
	items[5].Project = "/home/ann/src/再試行プロジェクト名前"
	return items
}

// driven is a picker with keys pressed by a test. What would be done beside the
// screen is done at once.
type driven struct {
	*picker
	t    *testing.T
	quit bool
}

func drive(t *testing.T, s *shelf, w, h int) *driven {
	t.Helper()
	m := newPicker(t.Context(), s, func() time.Time { return pickNow })
	m.later = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	m.user = "/home/ann"
	d := &driven{picker: m, t: t}
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	d.run(m.Init())
	return d
}

func (d *driven) send(msg tea.Msg) {
	_, cmd := d.Update(msg)
	d.run(cmd)
}

func (d *driven) run(cmd tea.Cmd) {
	for queue := []tea.Cmd{cmd}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == nil {
			continue
		}
		switch msg := queue[0]().(type) {
		case nil:
		case tea.BatchMsg:
			queue = append(queue, msg...)
		case tea.QuitMsg:
			d.quit = true
		default:
			_, next := d.Update(msg)
			queue = append(queue, next)
		}
	}
}

var keyCodes = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome,
	"end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "right": tea.KeyRight,
	"f1": tea.KeyF1, "f5": tea.KeyF5, "delete": tea.KeyDelete}

// keys presses keys by their names; what is no name is typed.
func (d *driven) keys(names ...string) {
	for _, name := range names {
		var mod tea.KeyMod
		rest := name
		for prefix, m := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
			if after, ok := strings.CutPrefix(rest, prefix); ok && after != "" {
				rest, mod = after, m
			}
		}
		if code, ok := keyCodes[rest]; ok {
			d.send(tea.KeyPressMsg{Code: code, Mod: mod})
			continue
		}
		if mod != 0 {
			d.send(tea.KeyPressMsg{Code: []rune(rest)[0], Mod: mod})
			continue
		}
		for _, r := range rest {
			d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

var painting = regexp.MustCompile("\x1b\\[[0-9;]*m")

// shown is the screen without colours. No line is wider than it, and nothing
// that a terminal would act on is left.
func (d *driven) shown() string {
	d.t.Helper()
	lines := d.screen()
	if len(lines) != d.height {
		d.t.Errorf("%d lines, want %d", len(lines), d.height)
	}
	for i, line := range lines {
		line = painting.ReplaceAllString(line, "")
		if w := uniseg.StringWidth(line); w > d.width {
			d.t.Errorf("line %d is %d columns wide, want at most %d: %q", i, w, d.width, line)
		}
		if safeText(line) != line || strings.Contains(line, "\n") {
			d.t.Errorf("line %d: %q", i, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
