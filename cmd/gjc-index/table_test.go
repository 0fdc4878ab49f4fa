package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/index"
)

func TestShortIDs(t *testing.T) {
	tests := []struct {
		name string
		ids  []string
		want map[string]string
	}{
		{"none", nil, map[string]string{}},
		{"one", []string{"0195c2a1-b"}, map[string]string{"0195c2a1-b": "0195"}},
		{"as long as they must be", []string{"0195c2a1", "0195c2b1", "0195d"}, map[string]string{"0195c2a1": "0195c2a", "0195c2b1": "0195c2b", "0195d": "0195d"}},
		{"one begins another", []string{"abcdef", "abcdefgh"}, map[string]string{"abcdef": "abcdef", "abcdefgh": "abcdefg"}},
		{"twice", []string{"abcdef", "abcdef", "b"}, map[string]string{"abcdef": "abcdef", "b": "b"}},
		{"case makes no difference", []string{"ABCDEF", "abcdxy"}, map[string]string{"ABCDEF": "ABCDE", "abcdxy": "abcdx"}},
		{"characters are not cut", []string{"가나다라마", "가나다라바"}, map[string]string{"가나다라마": "가나다라마", "가나다라바": "가나다라바"}},
		{"without an id", []string{"", "abcdef"}, map[string]string{"": "", "abcdef": "abcd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ShortIDs(tt.ids)); diff != "" {
				t.Errorf("ShortIDs(%q) (-want +got):\n%s", tt.ids, diff)
			}
		})
	}
}

func TestShortIDsAreUniqueAndShortest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, 2000)
	for i := range ids {
		ids[i] = fmt.Sprintf("%x-%x", rnd.Uint32N(40), rnd.Uint32())
	}
	begins := func(short string) int {
		n := 0
		for _, id := range ids {
			if strings.HasPrefix(id, short) {
				n++
			}
		}
		return n
	}
	for id, short := range ShortIDs(ids) {
		if begins(short) != 1 && short != id {
			t.Errorf("%s: %s begins %d ids", id, short, begins(short))
		}
		if len(short) > shortestID && begins(short[:len(short)-1]) == 1 {
			t.Errorf("%s: %s is longer than it must be", id, short)
		}
	}
}

func BenchmarkShortIDs(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	ids := make([]string, 10000)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08x-%04x-7%03x-8000-%012x", rnd.Uint32(), i%65536, i%4096, rnd.Uint64()>>16)
	}
	for b.Loop() {
		ShortIDs(ids)
	}
}

const family = "👩‍👩‍👧‍👦" // one character on the screen, seven code points

func TestPreviewIsOneLineAndCutsNoCharacter(t *testing.T) {
	text := "Plan\n\n\tthe  rollout\r\nof the greenhouse " + family + " sensors, 온도 and 습도, with " + family + family + " and more"
	for width := 1; width <= 120; width++ {
		got := preview(text, width)
		if w := uniseg.StringWidth(got); w > width {
			t.Errorf("preview at %d: %d columns: %q", width, w, got)
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t\r") || strings.Contains(got, "  ") {
			t.Errorf("preview at %d: %q", width, got)
		}
		body, cut := strings.CutSuffix(got, "…")
		if whole := plain(text); cut != (got != whole) || !strings.HasPrefix(whole, body) {
			t.Errorf("preview at %d: %q", width, got)
		}
		if rest := strings.ReplaceAll(body, family, ""); strings.ContainsAny(rest, "👩👧👦\u200d") {
			t.Errorf("preview at %d cuts a character: %q", width, got)
		}
	}
}

func TestPreviewOfLongTextsLooksAtTheirBeginning(t *testing.T) {
	long := strings.Repeat("가 ", 1<<20)
	if got, want := preview(long, 10), "가 가 가…"; got != want {
		t.Errorf("preview = %q, want %q", got, want)
	}
	marks := "e" + strings.Repeat("\u0301", 1<<20)
	if got := preview(marks, 10); len(got) > maxBytesPerColumn*12*2 {
		t.Errorf("preview of marks without a width: %d bytes", len(got))
	}
}

func TestNothingActsOnTheTerminal(t *testing.T) {
	for r := rune(0); r < 0x3000; r++ {
		text := "a" + string(r) + "b"
		for name, got := range map[string]string{"plain": plain(text), "safeText": safeText(text), "preview": preview(text, 40)} {
			for _, g := range got {
				if g < 0x20 && g != '\n' || g >= 0x7f && g <= 0x9f || reorders(g) || name != "safeText" && g == '\n' {
					t.Errorf("%s(%q) = %q", name, text, got)
				}
			}
		}
	}
	if got, want := escapeJSON("{\"a\":\"\u202e\x7f\u009b온\"}"), `{"a":"\u202e\u007f\u009b온"}`; got != want {
		t.Errorf("escapeJSON = %q, want %q", got, want)
	}
}

func TestTableFitsAnyWidth(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	rows := []index.Row{
		{ID: "0195c2a1-aaaa-7000-8000-000000000001", Project: "/src/a-project-with-a-long-name", CwdMissing: true, Title: "온도 센서 보정과 습도 " + family + strings.Repeat(" and more", 40), Active: now.Add(-3 * time.Hour), Messages: 12345, Size: 1 << 30},
		{ID: "0195c2a1-aaab-7000-8000-000000000001", Project: "/src/원장", FirstPrompt: "short", Active: now.AddDate(-1, 0, 0), Messages: 1, Size: 20, Damage: "1 malformed line"},
		{ID: "x", Project: "", CwdMissing: true},
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	for _, short := range []map[string]string{ShortIDs(ids), nil} {
		for width := 40; width <= 300; width++ {
			var out, errs bytes.Buffer
			a := newApp(strings.NewReader(""), &out, &errs)
			a.screen.width, a.now = width, func() time.Time { return now }
			lines := make([]sessionLine, len(rows))
			for i, r := range rows {
				lines[i] = a.lineOf(r, short)
			}
			a.sessionTable(lines)
			if err := a.out.Flush(); err != nil {
				t.Fatal(err)
			}
			checkTable(t, out.String(), width, short != nil, lines)
		}
	}
}

func checkTable(t *testing.T, table string, width int, short bool, lines []sessionLine) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		if w := uniseg.StringWidth(line); w > width {
			t.Errorf("width %d: line of %d columns: %q", width, w, line)
		}
		if lines[i].gone && !strings.Contains(line, "(gone)") {
			t.Errorf("width %d: no (gone): %q", width, line)
		}
		if id := lines[i].cells[colID]; short && !strings.HasSuffix(line, id) {
			t.Errorf("width %d: the id %s is cut: %q", width, id, line)
		}
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	var out bytes.Buffer
	s := screenOf(&out, env(map[string]string{"COLUMNS": "77"}))
	if s.colour || s.terminal || s.width != 77 {
		t.Errorf("not a terminal: %+v", s)
	}
	if got := s.paint(cyan, "x"); got != "x" {
		t.Errorf("paint without colour = %q", got)
	}
	if s = screenOf(&out, env(nil)); s.width != defaultWidth {
		t.Errorf("width %d, want %d", s.width, defaultWidth)
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "entry", "0 entries"}, {1, "entry", "1 entry"}, {3, "entry", "3 entries"}, {1, "session", "1 session"}, {12345, "session", "12,345 sessions"},
	} {
		if got := count(tt.n, tt.noun); got != tt.want {
			t.Errorf("count(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "?"},
		{now, "now"},
		{now.Add(-59 * time.Second), "now"},
		{now.Add(-5 * time.Minute), "5m ago"},
		{now.Add(-23 * time.Hour), "23h ago"},
		{now.Add(-6 * 24 * time.Hour), "6d ago"},
		{now.AddDate(0, 0, -8), now.AddDate(0, 0, -8).Local().Format(time.DateOnly)},
		{now.AddDate(0, 0, 2), now.AddDate(0, 0, 2).Local().Format(time.DateOnly)},
	} {
		if got := ago(now, tt.t); got != tt.want {
			t.Errorf("ago(%v) = %q, want %q", tt.t, got, tt.want)
		}
	}
}

// What a list shows as the name of a session can be given as an argument.
func TestWhatIsShownAsAnIDCanBeGiven(t *testing.T) {
	files := map[string]string{}
	ids := map[string]string{"plain": "0195c2a1", "none": "", "dash": "--help", "dash2": "-x", "escape": "\u0085red", "blank": "a b/c", "no stem": "d e"}
	for stem, id := range ids {
		files["p/"+stem+".jsonl"] = small(id, "/p", "prompt", 1)
	}
	home := makeHome(t, files)
	out, _, status := answer(t, "list", "--home", home)
	if status != exitDone || strings.Count(out, "\n") != len(ids) {
		t.Fatalf("list: status %d, %q", status, out)
	}
	for line := range strings.Lines(out) {
		name := strings.TrimSpace(line[strings.LastIndex(line, "  ")+2:])
		if _, errs, status := answer(t, "show", "--home", home, name); status != exitDone {
			t.Errorf("show %q: status %d, %q", name, status, errs)
		}
	}
}

func TestPromptsFitANarrowScreen(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("0195c2a1", "/src/a-long-name-of-a-project", "why does the retry never end", 1)})
	for _, columns := range []string{"40", "60"} {
		t.Setenv("COLUMNS", columns)
		out, _, _ := answer(t, "history", "recent", "--home", home)
		if width, _ := strconv.Atoi(columns); uniseg.StringWidth(strings.TrimSpace(out)) > width || !strings.Contains(out, "why does th") {
			t.Errorf("COLUMNS=%s: %q", columns, out)
		}
	}
}

func TestControlCharactersAreShownAsPictures(t *testing.T) {
	if got, want := safeText("a\x00b\x1bc\x7fd\u0085e\rf\tg\nh"), "a␀b␛c␡d�ef g\nh"; got != want {
		t.Errorf("safeText = %q, want %q", got, want)
	}
}
