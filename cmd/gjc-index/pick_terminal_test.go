//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// screenOfTmux is a terminal that tmux shows to nobody.
type screenOfTmux struct {
	t      *testing.T
	socket string
}

// pickInTmux runs a shell command in a terminal; gjc-index in it is the command
// under test. When it has ended the screen says so.
func pickInTmux(t *testing.T, w, h int, command string, env ...string) *screenOfTmux {
	t.Helper()
	if testing.Short() {
		t.Skip("starts terminals")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed, and the picker is tried in its terminals")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nGJC_INDEX_MAIN=1 exec '%s' \"$@\"\n", exe)
	if err := os.WriteFile(filepath.Join(bin, "gjc-index"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "pick") // a socket's name can't be long
	if err != nil {
		t.Fatal(err)
	}
	s := &screenOfTmux{t, filepath.Join(short, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() // it may have ended
		_ = os.RemoveAll(short)
	})
	args := []string{"-f", "/dev/null", "-u", "new-session", "-d", "-x", itoa(w), "-y", itoa(h)}
	for _, e := range append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + short, "LC_ALL=C.UTF-8", "TERM=screen-256color", "TZ=UTC"}, env...) {
		args = append(args, "-e", e)
	}
	s.tmux(append(args, "sh", "-c", command+`; echo "[ended with $?]"; cat`)...)
	return s
}

func (s *screenOfTmux) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *screenOfTmux) keys(keys ...string) { s.tmux(append([]string{"send-keys"}, keys...)...) }

func (s *screenOfTmux) typed(text string) { s.tmux("send-keys", "-l", text) }

// await waits until the screen is as wanted, and returns it.
func (s *screenOfTmux) await(what string, ok func(screen string) bool) string {
	s.t.Helper()
	late := time.After(20 * time.Second)
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for {
		screen := s.tmux("capture-pane", "-p")
		if ok(screen) {
			return screen
		}
		select {
		case <-next.C:
		case <-late:
			s.t.Fatalf("the screen never shows %s; it is:\n%s", what, screen)
		}
	}
}

func (s *screenOfTmux) awaitText(text string) string {
	s.t.Helper()
	return s.await(fmt.Sprintf("%q", text), func(screen string) bool { return strings.Contains(screen, text) })
}

func (s *screenOfTmux) awaitNo(text string) string {
	s.t.Helper()
	return s.await(fmt.Sprintf("no %q", text), func(screen string) bool { return !strings.Contains(screen, text) })
}

// crowd is a home with some hundred sessions, among them such as are hard to
// draw, and files that are no sessions. The last ones are in a real directory.
func crowd(t *testing.T) (home, work string) {
	t.Helper()
	files := map[string]string{"p/damaged.jsonl": "no session\n", "p/newer.jsonl": `{"type":"session","version":99,"id":"newer","cwd":"/p"}` + "\n"}
	for i := range 300 {
		id := fmt.Sprintf("s%03d", i)
		files["p/"+id+".jsonl"] = small(id, "/src/project"+itoa(i%7), fmt.Sprintf("prompt number %03d about nothing", i), i)
	}
	for i, prompt := range []string{"データベースの再試行を直す", "👨‍👩‍👧‍👦 family 🇩🇪 ❤️ 👍🏽 emoji", strings.Repeat("a very long prompt ", 200),
		"\x1b[31mred\x1b]0;title\x07 \u202ebackwards", "한국어 제목입니다", "naïve café e\u0301", "नमस्ते दुनिया", "สวัสดีชาวโลก"} {
		id := fmt.Sprintf("odd%d", i)
		text, err := json.Marshal(prompt)
		if err != nil {
			t.Fatal(err)
		}
		files["p/"+id+".jsonl"] = strings.Replace(small(id, "/src/ödd", "PROMPT", 400+i), `"PROMPT"`, string(text), 1)
	}
	files["p/torn.jsonl"] = small("torn", "/p", "torn", 420) + `{"type":"mess`
	home = makeHome(t, files)
	work = filepath.Join(t.TempDir(), "ledger")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"Reconcile March", "Fix the retry"} {
		_, errs, status := answer(t, "new", "--home", home, "--cwd", work, "--title", title)
		if status != exitDone {
			t.Fatal(errs)
		}
	}
	return home, work
}

func TestPickerOnATerminal(t *testing.T) {
	home, work := crowd(t)
	tools := t.TempDir()
	gjc := "#!/bin/sh\necho \"gjc was called with $* in $(basename $(pwd))\"\n"
	if err := os.WriteFile(filepath.Join(tools, "gjc"), []byte(gjc), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	s := pickInTmux(t, 120, 40, "PATH=$PATH:"+tools+" gjc-index --home "+home)
	s.awaitText("311 · all projects · by time")
	s.awaitText("2 files left out")
	screen := s.awaitText("Fix the retry")
	if strings.Contains(screen, "gjc-index lists all sessions") {
		t.Errorf("it shows help:\n%s", screen)
	}

	// The bar between list and preview is straight, whatever is on its left.
	s.typed("src/ödd")
	screen = s.awaitText("8 of 311")
	for i, line := range strings.Split(screen, "\n") {
		left, _, ok := strings.Cut(line, "│")
		if w := uniseg.StringWidth(left); ok && w != 63 {
			t.Errorf("line %d: the bar is in column %d: %q", i, w, line)
		}
	}
	s.keys("C-u")
	s.awaitText("type to search")

	// Every act changes what it says, and no other session.
	s.typed("reconcile")
	s.awaitText("1 of 311")
	s.keys("M-t")
	s.awaitText("title: Reconcile March")
	s.typed(" again")
	s.keys("Enter")
	s.awaitText("renamed to “Reconcile March again”")
	s.keys("Tab")
	s.awaitText("p pin")
	s.keys("p")
	s.awaitText("pinned, so that it is never pruned")
	s.awaitText(">*")
	s.keys("C-d")
	s.awaitText("it is pinned: alt+p unpins it; nothing was changed")
	s.keys("M-p")
	s.awaitText("no longer pinned")
	s.keys("C-d")
	s.awaitText("moved to the trash: “Reconcile March again”")
	s.awaitText("0 of 310")
	s.keys("C-z")
	s.awaitText("brought back: “Reconcile March again”")
	s.awaitText("1 of 311")
	if out, _, _ := answer(t, "list", "--home", home, "--cwd", work); strings.Count(out, "\n") != 2 || !strings.Contains(out, "Reconcile March again") {
		t.Errorf("sessions of %s: %s", work, out)
	}

	// Enter gives the terminal to the command that resumes the session.
	s.keys("Enter")
	screen = s.awaitText("[ended with 0]")
	if !strings.Contains(screen, "gjc was called with --resume ") || !strings.Contains(screen, "in ledger") {
		t.Errorf("resumed:\n%s", screen)
	}
}

func TestPickerTakesKeysMouseAndSizes(t *testing.T) {
	home, _ := crowd(t)
	s := pickInTmux(t, 80, 24, "gjc-index --home "+home)
	s.awaitText("311 · all projects")
	s.keys("Down", "Down", "Down")
	s.await("the cursor on the fourth line", func(screen string) bool { return cursorLine(screen) == 3 })
	s.typed("\x1b[<0;10;4M\x1b[<0;10;4m") // a click in the second line of the list
	s.await("the cursor on the second line", func(screen string) bool { return cursorLine(screen) == 1 })
	s.typed("\x1b[<65;10;4M") // the wheel, down
	s.await("the cursor three lines below", func(screen string) bool { return cursorLine(screen) == 4 })
	s.keys("End")
	s.awaitText("prompt number 000")
	s.tmux("resize-window", "-x", "40", "-y", "12")
	screen := s.await("a screen of 12 lines", func(screen string) bool {
		return strings.Count(screen, "\n") == 12 && strings.Contains(screen, "prompt number 000") && strings.Contains(screen, "tab actions")
	})
	for _, line := range strings.Split(screen, "\n") {
		if uniseg.StringWidth(line) > 40 {
			t.Errorf("too wide: %q", line)
		}
	}
	s.keys("?")
	s.awaitText("any key: back")
	s.keys("x")
	s.awaitText("tab actions")
	s.keys("C-v")
	s.awaitText("esc back")
	s.keys("q")
	s.awaitText("tab actions")
	s.keys("C-s", "C-r")
	s.tmux("resize-window", "-x", "100", "-y", "30")
	s.awaitText("by created, reversed")
	s.keys("Escape")
	screen = s.awaitText("[ended with 0]")
	if strings.Contains(screen, "by created") {
		t.Errorf("the screen is not given back:\n%s", screen)
	}
}

// cursorLine is the line of the list that has the cursor.
func cursorLine(screen string) int {
	for i, line := range strings.Split(screen, "\n") {
		if i >= 2 && strings.HasPrefix(line, ">") {
			return i - 2
		}
	}
	return -1
}

func TestPickerPrintsForShells(t *testing.T) {
	home, work := crowd(t)
	for _, tt := range []struct{ args, want string }{
		{"--print cwd --query 'fix retry'", "[" + work + "]"},
		{"--print id --query 'prompt number 123'", "[s123]"},
		{"--print command --project " + work + " --query fix", "[cd " + work + " && gjc --resume "},
		{"--json --query '\"number 123\"'", `[{"id":"s123",`},
	} {
		s := pickInTmux(t, 200, 24, `echo "[$(gjc-index pick --home `+home+` `+tt.args+`)]"`)
		s.awaitText("enter choose")
		s.await("one session", func(screen string) bool { return strings.Contains(screen, "1 of 311") && cursorLine(screen) == 0 })
		s.keys("Enter")
		s.awaitText(tt.want)
	}
	s := pickInTmux(t, 80, 24, `gjc-index pick --print id --home `+home)
	s.awaitText("enter choose")
	s.keys("C-c")
	s.awaitText("[ended with 130]")
}

func TestPickerSaysWhoIsBusy(t *testing.T) {
	home, work := crowd(t)
	st := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: scope.HomeAt(home)})
	held, err := st.Create(t.Context(), work, session.CreateOptions{ID: "heldsession"})
	if err == nil {
		_, err = held.SetTitle(t.Context(), "held by another", session.TitleByUser)
	}
	if err == nil {
		err = held.EnsureOnDisk(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	s := pickInTmux(t, 100, 24, "gjc-index pick --query heldsession --home "+home)
	s.await("the session", func(screen string) bool { return cursorLine(screen) == 0 })
	want := fmt.Sprintf("process %d on ", os.Getpid())
	for key, act := range map[string]string{"C-d": "", "M-a": "", "M-t": "title: "} {
		s.keys(key)
		if act != "" {
			s.awaitText(act)
			s.keys("Enter")
		}
		s.awaitText(want)
		s.keys("Home")
		s.awaitNo(want)
	}
}

// Where there is nothing, it says so, and nothing is made.
func TestPickerWhereThereIsNothing(t *testing.T) {
	empty := makeHome(t, nil)
	missing := filepath.Join(t.TempDir(), "missing")
	for home, want := range map[string]string{empty: "there are no sessions: ", missing: "is not there"} {
		s := pickInTmux(t, 80, 24, "gjc-index --home "+home)
		s.awaitText(want)
		s.keys("Enter")
		s.awaitText("there is no session to choose")
		s.keys("C-c")
		s.awaitText("[ended with 0]")
	}
	if _, err := os.Lstat(missing); err == nil {
		t.Errorf("%s was made", missing)
	}
}
