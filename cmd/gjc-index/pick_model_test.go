package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

var pickNow = time.Date(2026, 3, 8, 12, 0, 0, 0, time.Local)

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

// While the index is built for the first time the files are asked, once.
func TestPickerListsDuringTheFirstBuild(t *testing.T) {
	d := drive(t, &shelf{}, 80, 24)
	d.refreshing = true // the first question found nothing
	asked := d.asked
	d.tick()
	if d.asked != asked+1 || !d.waiting {
		t.Errorf("%d questions, waiting %v, want 1", d.asked-asked, d.waiting)
	}
	if got := d.emptyText(); !strings.Contains(got, "from the files") {
		t.Errorf("meanwhile %q", got)
	}
	d.waiting = false
	d.tick()
	if d.asked != asked+1 {
		t.Error("asked again")
	}
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
		{"title of emoji", []string{"down", "down", "alt+t", "enter"}, []string{fmt.Sprintf(`renaming 0195c202-aaaa "" %q`, someSessions()[2].Title)}},
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
	d.waiting = true
	d.keys("enter")
	d.wantStatus("the list is still being made: choose once it is there", true)
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

// slowShelf answers when it is told that nobody waits any more.
type slowShelf struct {
	shelf
	begun chan struct{}
}

func (s *slowShelf) rows(ctx context.Context, _ pickAsk) (pickRows, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return pickRows{}, ctx.Err()
}

func TestPickerCancelsWhatIsNoLongerAsked(t *testing.T) {
	s := &slowShelf{begun: make(chan struct{})}
	m := newPicker(t.Context(), s, func() time.Time { return pickNow })
	for name, next := range map[string]func(){
		"a key":         func() { m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"}) },
		"another order": func() { m.Update(tea.KeyPressMsg{Code: 's', Mod: tea.ModCtrl}) },
	} {
		ended := make(chan tea.Msg, 1)
		cmd := m.load()
		go func() { ended <- cmd() }()
		<-s.begun
		next()
		select {
		case msg := <-ended:
			if rows, ok := msg.(pickRowsMsg); !ok || !errors.Is(rows.err, context.Canceled) {
				t.Errorf("%s: %+v", name, msg)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the older ask goes on", name)
		}
	}
}
