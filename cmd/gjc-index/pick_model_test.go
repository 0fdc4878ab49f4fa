package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

var pickNow = time.Date(2026, 3, 8, 12, 0, 0, 0, time.Local)

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

func (d *driven) wantStatus(want string, bad bool) {
	d.t.Helper()
	if d.status != want || d.bad != bad {
		d.t.Errorf("status %q (bad %v), want %q (bad %v)", d.status, d.bad, want, bad)
	}
}

func (d *driven) wantCurrent(id string) {
	d.t.Helper()
	if item, _ := d.current(); !strings.HasPrefix(item.ID, id) {
		d.t.Errorf("the cursor is on %q, want %q", item.ID, id)
	}
}

func TestGoldenPickerScreens(t *testing.T) {
	sizes := map[string][2]int{"80x24": {80, 24}, "120x40": {120, 40}, "40x12": {40, 12}}
	screens := map[string][]string{
		"list": nil, "search": {"retry"}, "menu": {"down", "tab"}, "help": {"?"}, "title": {"alt+t"}, "nothing": {"zzzz"},
		"look": {"down", "down", "ctrl+v"}, "sorted": {"ctrl+s", "ctrl+s", "ctrl+s", "ctrl+s", "ctrl+r", "end"},
	}
	for size, wh := range sizes {
		for name, keys := range screens {
			t.Run(name+"-"+size, func(t *testing.T) {
				d := drive(t, &shelf{items: someSessions()}, wh[0], wh[1])
				d.keys(keys...)
				wantGolden(t, filepath.Join("testdata", "pick", name+"-"+size+".txt"), d.shown())
			})
		}
	}
}

func wantGolden(t *testing.T, file, got string) {
	t.Helper()
	if *updateGolden {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestPickerFitsAnyScreen(t *testing.T) {
	d := drive(t, &shelf{items: someSessions()}, 80, 24)
	for _, keys := range [][]string{nil, {"tab"}, {"esc", "?"}, {"x", "esc", "alt+e"}, {"esc", "ctrl+v"}, {"esc", "esc", "家", "族"}} {
		d.keys(keys...)
		for _, w := range []int{12, 13, 20, 39, 60, 99, 100, 300} {
			for _, h := range []int{1, 2, 3, 5, 8, 13, 20, 60} {
				d.send(tea.WindowSizeMsg{Width: w, Height: h})
				d.shown()
				if x, y, ok := d.cursorAt(); ok && (y >= h || x > w+len("export to: ")) {
					t.Errorf("%d×%d: cursor at %d, %d", w, h, x, y)
				}
			}
		}
	}
}

func TestPickerKeepsItsSession(t *testing.T) {
	s := &shelf{items: someSessions()}
	d := drive(t, s, 80, 24)
	d.keys("down", "down")
	d.wantCurrent("0195c202")
	fresh := someSessions()[0]
	fresh.ID, fresh.Path = "new", "/h/sessions/s/new.jsonl"
	s.items = append([]pickItem{fresh}, s.items...)
	d.keys("f5")
	d.wantCurrent("0195c202")
	if d.cursor != 3 {
		t.Errorf("cursor %d, want 3", d.cursor)
	}
	s.items = append(s.items[:3:3], s.items[4:]...) // it is gone: what follows takes its place
	d.keys("f5")
	d.wantCurrent("0195c203")
}

func TestPickerSearches(t *testing.T) {
	s := &shelf{items: someSessions()}
	d := drive(t, s, 80, 24)
	d.keys("ledger")
	if len(d.rows.items) != 11 || s.asked[len(s.asked)-1].text != "ledger" {
		t.Errorf("%d items of %+v", len(d.rows.items), s.asked)
	}
	d.keys("ctrl+w", "number 7")
	d.wantCurrent("0195c207")
	d.keys("left", "backspace", "backspace", "ctrl+e", "backspace")
	if d.query.text != "numbe" {
		t.Errorf("query %q", d.query.text)
	}
	d.keys("esc")
	if d.query.text != "" || d.quit || len(d.rows.items) != 12 {
		t.Errorf("esc: query %q, quit %v, %d items", d.query.text, d.quit, len(d.rows.items))
	}
	d.send(tea.PasteMsg{Content: "please\nlook \x1b[31m"})
	if d.query.text != "please look ␛[31m" {
		t.Errorf("pasted %q", d.query.text)
	}
	d.keys("esc", "esc")
	if !d.quit || d.result.end != endNothing {
		t.Errorf("esc esc: quit %v with %+v", d.quit, d.result)
	}
}

// A late answer to an older question is not shown.
func TestPickerIgnoresLateAnswers(t *testing.T) {
	d := drive(t, &shelf{items: someSessions()}, 80, 24)
	before := d.rows.total
	d.send(pickRowsMsg{asked: d.asked - 1, rows: pickRows{total: 99}})
	if d.rows.total != before {
		t.Errorf("total %d, want %d", d.rows.total, before)
	}
	d.send(pickRowsMsg{asked: d.asked, err: errors.New("no luck")})
	d.wantStatus("can't list sessions: no luck", true)
	d.send(pickFreshMsg{err: errors.New("no luck")})
	d.wantStatus("can't look for new sessions: no luck", true)
}

func TestPickerLoadsMoreWhenItIsNeeded(t *testing.T) {
	s := &shelf{}
	for i := range 1000 {
		item := someSessions()[0]
		item.ID = fmt.Sprintf("%04d-id", i)
		item.Path = "/h/" + item.ID
		s.items = append(s.items, item)
	}
	d := drive(t, s, 80, 24)
	if len(d.rows.items) != pickPage {
		t.Fatalf("%d items, want %d", len(d.rows.items), pickPage)
	}
	for range 40 {
		d.keys("pgdown")
	}
	if len(d.rows.items) <= pickPage || len(d.rows.items) == 1000 {
		t.Errorf("%d items", len(d.rows.items))
	}
	d.keys("end")
	d.wantCurrent("0999")
	d.keys("home")
	d.wantCurrent("0000")
}

func TestPickerActs(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		want []string
	}{
		{"pin", []string{"alt+p"}, []string{`pinning 0195c200-aaaa "" ""`}},
		{"pin in the menu", []string{"down", "tab", "p"}, []string{`pinning 0195c201-aaaa "" ""`}},
		{"title", []string{"alt+t", "!", "enter"}, []string{`renaming 0195c200-aaaa "" "Fix the retry timeout!"`}},
		{"no title", []string{"alt+t", "esc"}, nil},
		{"label", []string{"alt+l", "here", "enter"}, []string{`labelling 0195c200-aaaa "m9" "here"`}},
		{"export", []string{"alt+e", "ctrl+u", "x.md", "enter"}, []string{`exporting 0195c200-aaaa "" "x.md"`}},
		{"archive", []string{"alt+a"}, []string{`archiving 0195c200-aaaa "" ""`}},
		{"trash and undo", []string{"ctrl+d", "ctrl+d", "ctrl+z", "ctrl+z", "ctrl+z"}, []string{
			`moving to the trash 0195c200-aaaa "" ""`, `moving to the trash 0195c201-aaaa "" ""`,
			`bringing back 0195c201-aaaa "/trash/0195c201-aaaa" ""`, `bringing back 0195c200-aaaa "/trash/0195c200-aaaa" ""`}},
		{"menu left", []string{"tab", "esc", "tab", "z"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{items: someSessions()}
			d := drive(t, s, 80, 24)
			d.keys(tt.keys...)
			if diff := cmp.Diff(tt.want, s.acts); diff != "" {
				t.Errorf("acts (-want +got):\n%s", diff)
			}
			if d.mode != modeList {
				t.Errorf("mode %d", d.mode)
			}
		})
	}
}

func TestPickerSaysWhatHappened(t *testing.T) {
	s := &shelf{items: someSessions()}
	d := drive(t, s, 80, 24)
	d.keys("ctrl+z")
	d.wantStatus("nothing was moved to the trash here; gjc-index restore shows what is in it", true)
	d.keys("ctrl+d")
	d.wantStatus("moved to the trash", false)
	s.refuse = errors.New("process 7 on here has been writing it")
	d.keys("alt+a")
	d.wantStatus("process 7 on here has been writing it", true)
	if !strings.Contains(d.shown(), "process 7 on here has been writing it") {
		t.Errorf("the screen doesn't say it:\n%s", d.shown())
	}
	s.endErr = errors.New("its directory is gone")
	d.keys("enter")
	d.wantStatus("its directory is gone", true)
	if d.quit {
		t.Error("the picker has ended")
	}
	d.doing, d.act = true, actArchive
	d.keys("ctrl+d")
	d.wantStatus("wait: archiving is not done yet", true)
}

func TestPickerChooses(t *testing.T) {
	for key, end := range map[string]pickEnd{"enter": endChosen, "ctrl+y": endCommand, "alt+y": endCommand, "alt+r": endChosen} {
		d := drive(t, &shelf{items: someSessions()}, 80, 24)
		d.keys("down", key)
		if !d.quit || d.result.end != end || d.result.item.ID != "0195c201-aaaa" {
			t.Errorf("%s: quit %v, %d, %s", key, d.quit, d.result.end, d.result.item.ID)
		}
	}
	d := drive(t, &shelf{}, 80, 24)
	d.keys("enter")
	d.wantStatus("there is no session to choose", true)
	if !strings.Contains(d.shown(), "there are no sessions: /home/nobody is not there") {
		t.Errorf("no sessions:\n%s", d.shown())
	}
}

func TestPickerNarrowsToAProject(t *testing.T) {
	s := &shelf{items: someSessions()}
	d := drive(t, s, 80, 24)
	d.keys("down", "down", "down", "ctrl+t")
	if d.rows.total != 1 || !strings.Contains(d.shown(), "only an-extraordinarily") {
		t.Errorf("total %d\n%s", d.rows.total, d.shown())
	}
	d.keys("ctrl+t")
	d.wantCurrent("0195c203")
	s.hereDir = "/home/ann/src/ledger"
	d.keys("ctrl+t")
	if d.rows.total != 10 || d.ask.project != s.hereDir {
		t.Errorf("total %d of %q", d.rows.total, d.ask.project)
	}
}

func TestPickerTakesTheMouse(t *testing.T) {
	d := drive(t, &shelf{items: someSessions()}, 120, 40)
	d.send(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft})
	d.wantCurrent("0195c203")
	d.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	d.wantCurrent("0195c206")
	d.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	d.wantCurrent("0195c203")
	d.send(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft})
	if d.mode != modeMenu {
		t.Errorf("a click on the cursor: mode %d, want the menu", d.mode)
	}
	d.send(tea.MouseClickMsg{X: 110, Y: 5, Button: tea.MouseLeft})
	d.send(tea.MouseClickMsg{X: 5, Y: 30, Button: tea.MouseLeft})
	d.wantCurrent("0195c203")
}

func TestPickerColours(t *testing.T) {
	d := drive(t, &shelf{items: someSessions()}, 80, 24)
	line := func() string { return d.itemLine(d.rows.items[0], true, 40) }
	if got := line(); !strings.HasPrefix(got, "\x1b[7m") || strings.Count(strings.Join(d.screen(), ""), "\x1b[") != 2 {
		t.Errorf("without colours: %q", got)
	}
	d.style.colour = true
	for _, tt := range []struct {
		msg  tea.Msg
		want string
	}{
		{tea.FocusMsg{}, "\x1b[7m"}, {tea.BackgroundColorMsg{Color: grey(0)}, "\x1b[48;5;237m"}, {tea.BackgroundColorMsg{Color: grey(0xffff)}, "\x1b[48;5;253m"},
	} {
		d.send(tt.msg)
		if got := line(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("after %T: %q, want %q", tt.msg, got, tt.want)
		}
	}
}

type grey uint32

func (g grey) RGBA() (r, gr, b, a uint32) { return uint32(g), uint32(g), uint32(g), 0xffff }
