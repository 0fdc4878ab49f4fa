package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

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
