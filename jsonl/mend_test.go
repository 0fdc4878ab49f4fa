package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mend(t *testing.T, text string, opt MendOptions) *Mended {
	t.Helper()
	m, err := Mend(t.Context(), strings.NewReader(text), int64(len(text)), opt)
	if err != nil {
		t.Fatalf("Mend(%q): %v", text, err)
	}
	return m
}

// notesOf are the notes as "line what reason".
func notesOf(m *Mended) string {
	var all []string
	for _, n := range m.Notes {
		all = append(all, strings.TrimSpace(fmt.Sprintln(n.Line, n.What, n.Reason)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestMendMakesASoundCopy(t *testing.T) {
	user, answer := msg("a", "", "user", "q"), msg("b", "a", "assistant", "x")
	trim := strings.TrimSpace
	tests := []struct {
		name, in string
		want     string // without the header; "" is: nothing to mend
		notes    string
	}{
		{"sound", head + user + answer, "", ""},
		{"no line end", head + user + trim(answer), "", ""},
		{"torn tail", head + user + `{"type":"mess`, user, "3 dropped truncated_tail"},
		{"torn tail, closed", head + user + "{\"type\":\"mess\n" + answer, user + answer, "3 dropped not_json"},
		{"zeros", head + "\x00\x00\n" + user, user, "2 dropped nul"},
		{"blank line of white space", head + " \n" + user, user, ""},
		{"glued", head + trim(user) + answer, user + answer, "2 recovered"},
		{"orphan", head + user + "lost\n" + msg("c", "b", "assistant", "x"), user + msg("c", "a", "assistant", "x"), "3 dropped not_json, 4 relinked"},
		{"orphan at the beginning", head + msg("b", "a", "user", "x"), strings.Replace(msg("b", "", "user", "x"), `:""`, ":null", 1), "2 relinked"},
		{"repeated", head + user + answer + answer, user + answer, "4 dropped repeated"},
		{
			"one id twice", head + user + msg("b", "a", "assistant", "1") + msg("c", "b", "user", "2") + msg("b", "c", "assistant", "3") + msg("d", "b", "user", "4"),
			user + msg("00000001", "a", "assistant", "1") + msg("c", "00000001", "user", "2") + msg("b", "c", "assistant", "3") + msg("d", "b", "user", "4"),
			"3 renamed",
		},
		{"its own parent", head + user + msg("b", "b", "user", "x"), user + msg("b", "a", "user", "x"), "3 uncycled"},
		{"two around", head + msg("a", "b", "user", "x") + msg("b", "a", "user", "y"), msg("a", "b", "user", "x") + strings.Replace(msg("b", "", "user", "y"), `:""`, ":null", 1), "3 uncycled"},
		{"broken UTF-8", head + strings.Replace(user, `"q"`, "\"\xff\"", 1), strings.Replace(user, `"q"`, "\"\ufffd\"", 1), "2 recoded"},
		{"over several lines", head + strings.Replace(user, "{", "{\n", 1), user, "2 recoded"},
		{
			"unknown type", head + user + `{"type":"news","id":"n","parentId":"a","timestamp":"t","text":"x","event_id":"00000000000000ff"}` + "\n",
			user + `{"type":"custom","customType":"gjc-index/salvaged","data":{"v":1,"line":3,"was":"news","record":{"text":"x"}},"id":"n","parentId":"a","timestamp":"t","event_id":"00000000000000ff"}` + "\n",
			"3 wrapped",
		},
		{
			"a message without role", head + user + `{"type":"message","id":"n","parentId":"a","timestamp":"t","message":{"content":"x"}}` + "\n",
			user + `{"type":"custom","customType":"gjc-index/salvaged","data":{"v":1,"line":3,"was":"message","record":{"message":{"content":"x"}}},"id":"n","parentId":"a","timestamp":"t"}` + "\n",
			"3 wrapped",
		},
		{
			"a compaction that keeps nobody", head + user + `{"type":"compaction","id":"k","parentId":"a","timestamp":"t","summary":"s","firstKeptEntryId":"zz"}` + "\n",
			user + `{"type":"compaction","id":"k","parentId":"a","timestamp":"t","summary":"s","firstKeptEntryId":"k","tokensBefore":0}` + "\n",
			"3 completed, 3 kept",
		},
		{"no id", head + `{"type":"label","parentId":null,"timestamp":"t","targetId":"x"}` + "\n", `{"type":"label","parentId":null,"timestamp":"t","targetId":"x","id":"00000001"}` + "\n", "2 completed"},
		{"no time", head + user + `{"type":"label","id":"l","parentId":null,"targetId":"x"}` + "\n", user + `{"type":"label","id":"l","parentId":null,"targetId":"x","timestamp":"2026-03-01T09:00:00.000Z"}` + "\n", "3 completed"},
		{"a patch of nobody", head + user + `{"type":"entry_patch","entryId":"z","patch":{"message":{"role":"user","content":"only here"}}}` + "\n" + "x\n",
			user + `{"type":"custom","customType":"gjc-index/salvaged","data":{"v":1,"line":3,"was":"entry_patch","record":{"entryId":"z","patch":{"message":{"role":"user","content":"only here"}}}},"timestamp":"2026-03-01T09:00:00.000Z","id":"00000001","parentId":"a"}` + "\n",
			"3 completed, 3 relinked, 3 wrapped, 4 dropped not_json"},
		{"a second header that is none", head + user + `{"type":"session","id":"x"}` + "\n" + answer, user + answer, "3 dropped second_header"},
		{"records before the header", user + head + answer, user + answer, "2 moved"},
		{"a title before the header", `{"type":"title","title":"T"}` + "\n" + head + user, user, "1 dropped title_folded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mend(t, tt.in, MendOptions{})
			_, rest, _ := strings.Cut(string(m.Text), "\n")
			if diff := cmp.Diff(tt.want, rest); diff != "" {
				t.Errorf("copy (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notes, notesOf(m)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if m.Sound() {
				return
			}
			again := mend(t, string(m.Text), MendOptions{})
			if !again.Sound() {
				t.Errorf("mending the copy again: %s", notesOf(again))
			}
		})
	}
}

func TestMendRebuildsAHeaderWhenAsked(t *testing.T) {
	user := msg("a", "", "user", "q")
	known := MendOptions{Rebuild: true, ID: "s1", Cwd: "/w", Timestamp: "2026-01-01T00:00:00.000Z"}
	made := `{"type":"session","version":5,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	tests := []struct{ name, in, want string }{
		{"none", user, made + user},
		{"torn", `{"type":"sess` + "\n" + user, made + user},
		{"an id that is a number", `{"type":"session","id":5,"version":5,"timestamp":"t","cwd":"/x","extra":1}` + "\n" + user,
			`{"type":"session","id":"s1","version":5,"timestamp":"t","cwd":"/x","extra":1}` + "\n" + user},
		{"a version that is text", strings.Replace(head, `"version":5`, `"version":"5"`, 1) + user, ""},
		{"a version between", strings.Replace(head, `"version":5`, `"version":5.5`, 1) + user, ""},
		{"no ids at all", `{"type":"message","timestamp":"t","message":{"role":"user","content":"x"}}` + "\n",
			`{"type":"session","id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","version":5}` + "\n" +
				`{"type":"message","timestamp":"t","message":{"role":"user","content":"x"},"id":"00000001","parentId":null}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Mend(t.Context(), strings.NewReader(tt.in), int64(len(tt.in)), MendOptions{})
			if !errors.Is(err, ErrNoHeader) || !errors.Is(err, ErrNotTranscript) {
				t.Errorf("Mend without Rebuild = %v, want ErrNoHeader", err)
			}
			m := mend(t, tt.in, known)
			if tt.want != "" {
				if diff := cmp.Diff(tt.want, string(m.Text)); diff != "" {
					t.Errorf("copy (-want +got):\n%s", diff)
				}
			}
			if m.Counts[MendHeader] != 1 {
				t.Errorf("notes %s, want a header made", notesOf(m))
			}
		})
	}
}

func TestMendRefusesWhatIsNoDamage(t *testing.T) {
	tests := []struct {
		name, in string
		want     error
	}{
		{"empty", "", ErrNotTranscript},
		{"white space", " \n\n", ErrNotTranscript},
		{"newer", strings.Replace(head, `"version":5`, `"version":6`, 1), ErrTooNew},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Mend(t.Context(), strings.NewReader(tt.in), int64(len(tt.in)), MendOptions{Rebuild: true, ID: "s"})
			if !errors.Is(err, tt.want) {
				t.Errorf("Mend = %v, want %v", err, tt.want)
			}
		})
	}
}

// checkMended holds a copy against what the lenient reader finds in the file.
func checkMended(t *testing.T, text []byte, m *Mended) {
	t.Helper()
	if m.Sound() {
		return
	}
	in := InspectBytes(t.Context(), m.Text, LoadOptions{})
	if !in.Verdict.Openable() || len(in.Warnings) > 0 {
		t.Fatalf("copy is %s, warnings %v: %v", in.Verdict, in.Warnings, in.Cause)
	}
	old, err := ParseTranscript(t.Context(), bytes.NewReader(text), LoadOptions{})
	if err != nil {
		return
	}
	old.Upgrade(nil)
	headers := 0
	for _, n := range m.Notes {
		if n.Reason == SecondHeader {
			headers++
		}
	}
	if got := len(in.Transcript.Records); got < len(old.Records)-headers {
		t.Errorf("copy has %d records, the file %d", got, len(old.Records))
	}
	if m.Counts[MendRelinked]+m.Counts[MendUncycled]+m.Counts[MendWrapped]+m.Counts[MendCompleted] > 0 {
		return
	}
	want := BuildContext(old.Tree(false).Path(LeafLast())).Messages
	got := BuildContext(in.Transcript.Tree(false).Path(LeafLast())).Messages
	if diff := cmp.Diff(ArrayValue(want...).JSON(), ArrayValue(got...).JSON()); diff != "" {
		t.Errorf("context (-file +copy):\n%s", diff)
	}
}

func TestMendOfTheFaults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "faults", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no faults: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Mend(t.Context(), bytes.NewReader(text), int64(len(text)), MendOptions{Rebuild: true, ID: "s", Cwd: "/"})
			if errors.Is(err, ErrTooNew) || errors.Is(err, ErrNotTranscript) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkMended(t, text, m)
		})
	}
}

func FuzzMend(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("..", "testdata", "faults", "*", "*.jsonl"))
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil && len(text) < 32<<10 {
			f.Add(text)
		}
	}
	for _, text := range []string{head + msg("a", "b", "user", "x") + msg("a", "a", "user", "y"), msg("a", "", "user", "q"),
		head + `{"type":"compaction","id":"k","parentId":"k","timestamp":"t","firstKeptEntryId":"a"}` + "\n" + msg("k", "k", "user", "x")} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Mend(t.Context(), bytes.NewReader(text), int64(len(text)), MendOptions{Rebuild: true, ID: "s"})
		if errors.Is(err, ErrTooNew) || errors.Is(err, ErrNotTranscript) && len(bytes.TrimSpace(text)) == 0 {
			return
		}
		if err != nil {
			if errors.Is(err, ErrNotTranscript) {
				return
			}
			t.Fatal(err)
		}
		checkMended(t, text, m)
	})
}
