package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/storage"
)

// stocked is a picker's store of a home.
func stocked(t *testing.T, home string, fsys storage.FS) *pickIndex {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &errs)
	a.home, a.fsys = home, fsys
	p := &pickIndex{app: a}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
		if errs.Len() > 0 {
			t.Errorf("beside the screen stands %q", errs.String())
		}
	})
	return p
}

func (p *pickIndex) mustFind(t *testing.T, ask pickAsk) []pickItem {
	t.Helper()
	if ask.sort == "" {
		ask.sort, ask.limit = index.SortActive, pickPage
	}
	rows, err := p.rows(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return rows.items
}

func idsOf(items []pickItem) (ids []string) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

// talkOf is a session of several prompts, each answered, with a branch.
func talkOf(id, cwd, title string, prompts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":5,"id":%q,"timestamp":"2026-03-01T10:00:00.000Z","cwd":%q,"title":%q,"titleSource":"user"}`+"\n", id, cwd, title)
	parent := "null"
	for i, prompt := range prompts {
		at := fmt.Sprintf("2026-03-01T10:%02d:00.000Z", i)
		fmt.Fprintf(&b, `{"type":"message","id":"u%d","parentId":%s,"timestamp":%q,"message":{"role":"user","content":%q}}`+"\n", i, parent, at, prompt)
		fmt.Fprintf(&b, `{"type":"message","id":"a%d","parentId":"u%d","timestamp":%q,"message":{"role":"assistant","model":"large-2","provider":"p","content":[{"type":"text","text":"answer %d"}],`+
			`"usage":{"input":100,"output":10,"cacheRead":0,"cacheWrite":0,"totalTokens":110,"cost":{"input":0.1,"output":0.15,"cacheRead":0,"cacheWrite":0,"total":0.25}}}}`+"\n", i, i, at, i)
		parent = fmt.Sprintf(`"a%d"`, i)
	}
	return b.String()
}

func TestPickFindsWhatIsTyped(t *testing.T) {
	home := makeHome(t, map[string]string{
		"p/a.jsonl": talkOf("aaaa1111", "/src/ledger", "Reconcile März", "fix the timeout", "then the retry of it"),
		"p/b.jsonl": talkOf("bbbb2222", "/src/ledger", "Retry", "another thing"),
		"p/c.jsonl": talkOf("cccc3333", "/src/other", "", "データベースの再試行", "retry it", "timeout elsewhere"),
		"p/d.jsonl": "no session\n",
	})
	p := stocked(t, home, storage.Disk(storage.Policy{}))
	if _, err := p.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{"aaaa1111", "bbbb2222", "cccc3333"}},
		{"retry", []string{"aaaa1111", "bbbb2222", "cccc3333"}},
		{"RETRY ledger", []string{"aaaa1111", "bbbb2222"}}, // one word in a prompt, the other in the directory
		{"retry timeout", []string{"aaaa1111"}},            // the first prompt and another one
		{"marz retry ledger aaaa", []string{"aaaa1111"}},   // title, prompt, directory and id
		{`"retry of it" ledger`, []string{"aaaa1111"}},
		{"再試行", []string{"cccc3333"}},
		{"bbbb2222", []string{"bbbb2222"}},
		{"elsewhere nothing", nil},
		{strings.Repeat("retry w x y z ", 9), nil},                   // many terms
		{"q w e r t y u i o p a s d f g h j k l z x c v b n m", nil}, // more than are looked for in titles
		{"other timeout retry", nil},                                 // no prompt has both
	} {
		got := idsOf(p.mustFind(t, pickAsk{text: tt.text}))
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
	rows, err := p.rows(t.Context(), pickAsk{sort: index.SortActive, limit: 1})
	if err != nil || len(rows.items) != 1 || rows.total != 3 || rows.all != 3 || rows.leftOut != 1 {
		t.Errorf("limit 1: %d of %d, %d, left out %d, %v", len(rows.items), rows.total, rows.all, rows.leftOut, err)
	}
	if got := p.mustFind(t, pickAsk{text: "retry", project: "/src/other", sort: index.SortActive}); len(got) != 1 || got[0].found != "retry it" {
		t.Errorf("in a project: %+v", got)
	}
}

func TestPickLooksAtASession(t *testing.T) {
	var prompts []string
	for i := range 9 {
		prompts = append(prompts, "prompt "+itoa(i))
	}
	text := talkOf("aaaa1111", "/src/ledger", "Long", prompts...) +
		`{"type":"label","id":"l1","parentId":"a8","timestamp":"2026-03-01T11:00:00.000Z","targetId":"a8","label":"good"}` + "\n"
	branched := talkOf("bbbb2222", "/src/ledger", "Branched", "one", "two") +
		`{"type":"message","id":"b0","parentId":"a0","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"instead"}}` + "\n"
	home := makeHome(t, map[string]string{"p/a.jsonl": text, "p/b.jsonl": branched})
	p := stocked(t, home, storage.Disk(storage.Policy{}))
	if _, err := p.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	items := p.mustFind(t, pickAsk{text: "long"})
	check := func(how string) {
		l, err := p.look(t.Context(), items[0])
		if err != nil || l.trouble != "" {
			t.Fatalf("%s: %v %q", how, err, l.trouble)
		}
		var said []string
		for _, s := range append(l.first, l.last...) {
			said = append(said, s.who+": "+s.text)
		}
		if diff := cmp.Diff([]string{"you: prompt 0", "you: prompt 7", "you: prompt 8", "assistant: answer 8"}, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", how, diff)
		}
		if l.prompts != 9 || l.leaves != 1 || l.entries != 19 || l.model != "large-2" || l.target != "a8" || l.label != "good" || l.cost == nil || *l.cost != 2.25 || l.tokens != 990 {
			t.Errorf("%s: %+v", how, l)
		}
	}
	check("by the index")
	items[0].Estimated = true // which is no longer so sure
	check("whole")
	l, err := p.look(t.Context(), p.mustFind(t, pickAsk{text: "branched"})[0])
	if err != nil || l.leaves != 2 || l.prompts != 2 || len(l.last) != 2 || l.last[1].text != "instead" || l.target != "b0" {
		t.Errorf("branched: %v, %+v", err, l)
	}
	gone := items[0]
	gone.Path = filepath.Join(home, "sessions", "p", "gone.jsonl")
	if l, err := p.look(t.Context(), gone); err != nil || !strings.Contains(l.trouble, "no such file") {
		t.Errorf("gone: %v, %q", err, l.trouble)
	}
}

// allFiles are all files below a directory.
func allFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if name := filepath.Base(path); !strings.HasPrefix(name, "index.db") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestPickReadingCreatesNothing(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": talkOf("aaaa1111", "/src/ledger", "One", "x")})
	before := allFiles(t, home)
	for name, fsys := range map[string]storage.FS{"home": storage.Disk(storage.Policy{}), "home that can't be written": readOnly{storage.Disk(storage.Policy{})}} {
		p := stocked(t, home, fsys)
		if _, err := p.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		items := p.mustFind(t, pickAsk{text: "one"})
		if len(items) != 1 {
			t.Fatalf("%s: %d sessions", name, len(items))
		}
		if l, err := p.look(t.Context(), items[0]); err != nil || len(l.last) != 2 {
			t.Errorf("%s: %v, %+v", name, err, l)
		}
		if diff := cmp.Diff(before, allFiles(t, home)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "home" {
			continue
		}
		for _, act := range []pickAct{actPin, actTitle, actArchive, actTrash, actLabel} {
			items[0].found = "u0"
			if done := p.act(t.Context(), act, items[0], "title"); !done.bad || done.text == "" || strings.Contains(done.text, "\n") {
				t.Errorf("%s: %s: %+v", name, doing(act), done)
			}
		}
		if diff := cmp.Diff(before, allFiles(t, home)); diff != "" {
			t.Errorf("%s, after acts (-want +got):\n%s", name, diff)
		}
	}
}

func TestPickActs(t *testing.T) {
	home := t.TempDir()
	var id string
	if out, errs, status := answer(t, "new", "--home", home, "--cwd", t.TempDir(), "--title", "One"); status != exitDone {
		t.Fatal(errs)
	} else {
		_, rest, _ := strings.Cut(out, `"id":"`)
		id, _, _ = strings.Cut(rest, `"`)
	}
	p := stocked(t, home, storage.Disk(storage.Policy{}))
	item := func() pickItem {
		t.Helper()
		if _, err := p.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		items := p.mustFind(t, pickAsk{text: id})
		if len(items) != 1 {
			t.Fatalf("%d sessions are %s", len(items), id)
		}
		return items[0]
	}
	act := func(act pickAct, it pickItem, arg, want string, bad bool) pickDone {
		t.Helper()
		done := p.act(t.Context(), act, it, arg)
		if done.bad != bad || !strings.Contains(done.text, want) {
			t.Errorf("%s: %+v, want %q", doing(act), done, want)
		}
		return done
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	act(actTitle, item(), "Two\x1b", "renamed to “Two”", false)
	act(actTitle, item(), " ", "nothing that could be a title", true)
	act(actPin, item(), "", "pinned, so that", false)
	act(actTrash, item(), "", "it is pinned: alt+p unpins it", true)
	act(actPin, item(), "", "no longer pinned", false)
	act(actArchive, item(), "", "nothing to archive", false)
	act(actExport, item(), page, "exported to "+page, false)
	act(actExport, item(), page, "is there already", true)
	act(actExport, item(), dir, "exported to "+dir, false)
	act(actExport, item(), " ", "give the name of a file", true)
	act(actExport, item(), filepath.Join(home, "sessions", "x.jsonl"), "belongs to the store", true)
	thrown := item()
	thrown.found = act(actTrash, thrown, "", "moved to the trash: “Two”", false).trash
	if _, err := os.Lstat(thrown.Path); err == nil {
		t.Error("it is still there")
	}
	if done := act(actUndo, thrown, "", "brought back: “Two”", false); done.path != thrown.Path {
		t.Errorf("brought back to %s, want %s", done.path, thrown.Path)
	}
	act(actUndo, thrown, "", "no session", true)
	act(actLabel, item(), "x", "has no entry", true)
}

func TestResumeCommandIsQuotedForShells(t *testing.T) {
	a := newApp(strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer))
	for _, tt := range []struct{ id, cwd, want string }{
		{"0195c2", "/src/ledger", "cd /src/ledger && gjc --resume 0195c2"},
		{"0195c2", "/src/it's mine $HOME", `cd '/src/it'\''s mine $HOME' && gjc --resume 0195c2`},
		{"0195c2", "", "gjc --resume 0195c2"},
		{"-rf", "/src", ""}, {"a b", "/src", ""}, {"0195c2", "/src/\x1b[31m", ""}, {"0195c2", "/src/\nrm", ""},
	} {
		got, err := a.commandLine(index.Row{ID: tt.id, Cwd: tt.cwd})
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("commandLine(%q, %q) = %q, %v, want %q", tt.id, tt.cwd, got, err, tt.want)
		}
	}
}

func TestDrawnTextIsAsWideEverywhere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain"}, {"再試行", "再試行"}, {"👨\u200d👩\u200d👧\u200d👦 x", "👨 x"}, {"👍🏽", "👍"}, {"❤\ufe0f", "❤"}, {"🇩🇪", "DE"}, {"1\ufe0f⃣", "1\u20e3"}, {"a\u200bb\u00adc", "abc"},
		{"e\u0301", "e\u0301"}, {"क्\u200dष", "क्\u200dष"}, {"\x1b[0m\u202e", "␛[0m"},
	} {
		if got := drawn(tt.text); got != tt.want {
			t.Errorf("drawn(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzWrappedFits(f *testing.F) {
	f.Add("a few words and 再試行 👨‍👩‍👧‍👦\n\n\nmore", 7, 3)
	f.Fuzz(func(t *testing.T, text string, width, lines int) {
		width, lines = 2+(width&63), 1+(lines&15)
		got := wrapped(text, width, lines)
		if len(got) > lines {
			t.Fatalf("%d lines, want at most %d", len(got), lines)
		}
		for _, line := range got {
			if fit(line, width) != line || safeText(line) != line || strings.Contains(line, "\n") {
				t.Fatalf("line %q in %d columns", line, width)
			}
		}
		var typing inputLine
		typing.insert(text)
		for _, key := range []string{"left", "backspace", "ctrl+w", "right", "delete", "ctrl+a", "ctrl+k"} {
			typing.edit(key)
			if shown, at := typing.shown(width); fit(shown, width) != shown || at > width {
				t.Fatalf("%q in %d columns, the cursor at %d", shown, width, at)
			}
		}
		if typing.text != "" {
			t.Fatalf("left: %q", typing.text)
		}
	})
}
