package index

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// call is an answer that calls a tool.
func (w *world) call() string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"%s","id":"call%d","name":"%s","arguments":{%s}}]}`,
		w.pick("toolCall", "toolCall", `tool\u0043all`), w.rnd.IntN(6), w.pick("write", "edit", "bash"),
		w.pick(`"path":"a.go"`, `"path":"/work/1/b.go"`, `"path":"../x/./c.go"`, `"file_path":"sub/d.go"`, `"command":"ls"`, `"path":""`))
}

// result is what a tool answered.
func (w *world) result() string {
	details := w.pick(`,"details":{"diff":"+1"}`, `,"details":{"path":"a.go","op":"create"}`, `,"details":{"path":"e.go","op":"rename","to":"f.go"}`,
		`,"details":{"mutations":[{"path":"a.go","op":"delete"},{"path":"z.go","op":"update","isError":true}]}`,
		`,"details":{"perFileResults":[{"path":"sub/d.go","diff":"-1"}]}`, ``, `,"details":{"d\u0069ff":"+"}`, `,"details":null`)
	return fmt.Sprintf(`{"role":"toolResult","toolCallId":"call%d","toolName":"%s","content":[{"type":"text","text":"\u001b[1m blob:sha2\u00356:%064x"}]%s%s}`,
		w.rnd.IntN(6), w.pick("write", "edit", "bash", "read"), w.rnd.IntN(9), details, w.pick("", "", `,"isError":true`))
}

// recountTouched asks the files themselves, as they are with all that was
// archived of them.
func recountTouched(t *testing.T, x *Index, home, path string) map[string][]jsonl.EffectPath {
	t.Helper()
	st := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: scope.HomeAt(home)})
	rows, _, err := x.Sessions(t.Context(), Filter{Children: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]jsonl.EffectPath{}
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		effects, err := st.Effects(t.Context(), row.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range effects.Paths {
			if (within{path}).covers(session.EffectFile(row.Cwd, p.Path)) {
				want[row.Path] = append(want[row.Path], p)
			}
		}
	}
	return want
}

func checkTouched(t *testing.T, x *Index, home string) (found int) {
	t.Helper()
	for _, path := range []string{"/", "/work/1", "/work/1/a.go", "/work/2/sub", "/work/1/b.go", "/work/x/c.go", "/work/0/", "/w", "/nowhere"} {
		got, err := x.Touched(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string][]jsonl.EffectPath{}
		for _, s := range got.Sessions {
			have[s.Row.Path] = s.Files
			found++
		}
		if diff := cmp.Diff(recountTouched(t, x, home, filepath.Clean(path)), have); diff != "" {
			t.Errorf("touched %s (-recount +index):\n%s", path, diff)
		}
	}
	return found
}

func TestTouchedEqualsARecountWhateverHappens(t *testing.T) {
	found := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			w := newWorld(home, 1000+seed)
			w.tools = true
			w.newFile(t)
			x := openAt(t, home, Options{})
			for range 4 {
				for range 1 + w.rnd.IntN(8) {
					w.step(t)
				}
				refresh(t, x)
				clear(w.edited)
				clear(w.grown)
				found += checkTouched(t, x, home)
			}
			checkEqual(t, x)
		})
	}
	if found < 60 {
		t.Errorf("only %d sessions found: the test tests nothing", found)
	}
}

func TestTouchedWithoutADatabase(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	w := newWorld(home, 7)
	w.tools = true
	for range 30 {
		w.step(t)
	}
	x, err := OpenDir(t.Context(), storage.Disk(storage.Policy{}), filepath.Join(home, "sessions"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if checkTouched(t, x, home) == 0 {
		t.Error("nothing found")
	}
}

// archive moves some lines of a file to an archive beside it, or changes an
// archive alone.
func (w *world) archive(t testing.TB, f *worldFile) string {
	t.Helper()
	name := strings.TrimSuffix(f.path, ".jsonl") + ".archive.ndjson"
	old, _ := os.ReadFile(name)
	switch w.rnd.IntN(6) {
	case 0:
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return "remove archive"
	case 1:
		if err := os.WriteFile(name, append(old, "cut off"...), 0o600); err != nil {
			t.Fatal(err)
		}
		return "cut archive"
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	var run, rest strings.Builder
	run.Write(old)
	n := 0
	run.WriteString(`{"type":"gjc-index/archive","v":1,"session":"s","run":1}` + "\n")
	for i, line := range strings.Split(string(data), "\n") {
		if !json.Valid([]byte(line)) || len(line) == 0 || line[0] != '{' || i == 0 || w.chance(50) {
			rest.WriteString(line + "\n")
			continue
		}
		n++
		fmt.Fprintf(&run, `{"line":%d,"moved":true,"record":%s}`+"\n", i+1, line)
		if w.chance(10) { // it is in both
			rest.WriteString(line + "\n")
		}
	}
	fmt.Fprintf(&run, `{"type":"gjc-index/archive_end","v":1,"session":"s","run":1,"lines":%d,"moved":%d}`+"\n", n, n)
	if err := os.WriteFile(name, []byte(run.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if w.chance(20) {
		return "archive alone"
	}
	if err := os.WriteFile(f.path+".tmp", []byte(rest.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.path+".tmp", f.path); err != nil {
		t.Fatal(err)
	}
	delete(w.edited, f.path)
	return "archive " + f.path
}

func TestRefreshEqualsRebuildWithArchives(t *testing.T) {
	for seed := range uint64(15) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			w := newWorld(home, 2000+seed)
			w.tools = true
			w.newFile(t)
			x := openAt(t, home, Options{})
			for round := range 5 {
				var done []string
				for range 1 + w.rnd.IntN(5) {
					done = append(done, w.step(t))
					if len(w.files) > 0 && w.chance(40) {
						done = append(done, w.archive(t, w.file()))
					}
				}
				if _, err := x.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				clear(w.edited)
				clear(w.grown)
				checkEqual(t, x)
				if t.Failed() {
					t.Fatalf("round %d: %q", round, done)
				}
			}
		})
	}
}

// TestAnArchiveThatChangesAloneIsNoticed also when its times tell nothing yet.
func TestAnArchiveThatChangesAloneIsNoticed(t *testing.T) {
	home := t.TempDir()
	put(t, home, "s/a.jsonl", `{"type":"session","version":5,"id":"a","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n")
	archive := func(text string) {
		t.Helper()
		put(t, home, "s/a.archive.ndjson", `{"type":"gjc-index/archive","v":1,"session":"a","run":1}
{"line":2,"moved":true,"record":{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"`+text+`"}}}
{"type":"gjc-index/archive_end","v":1,"session":"a","run":1,"lines":1,"moved":1}
`)
	}
	archive("first")
	x := openAt(t, home, Options{Tick: storage.Tick})
	refresh(t, x)
	for _, text := range []string{"other", "third"} {
		archive(text)
		refresh(t, x)
		found, err := x.Search(t.Context(), SearchRequest{Query: ParseQuery("i")})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range found.Hits {
			got = append(got, h.Text)
		}
		want := []string{"third"}
		if text == "other" {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", text, diff)
		}
	}
}
