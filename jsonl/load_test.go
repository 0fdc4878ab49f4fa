package jsonl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = `{"type":"session","version":5,"id":"s","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/w"}` + "\n"

func msg(id, parent, role, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-03-01T09:00:00.000Z","message":{"role":%q,"content":%q}}`+"\n", id, parent, role, text)
}

func parse(t testing.TB, text string) (*Transcript, error) {
	t.Helper()
	tr, err := ParseTranscript(t.Context(), strings.NewReader(text), LoadOptions{})
	if tr == nil {
		t.Fatalf("ParseTranscript(%q): %v", text, err)
	}
	return tr, err
}

func TestParseTranscriptChecksTheHeader(t *testing.T) {
	version := func(v string) string { return `{"type":"session","version":` + v + `,"id":"s"}` + "\n" }
	title := `{"type":"title","title":"A","source":"auto"}` + "\n"
	tests := []struct {
		name, in string
		state    State
		err      error
		line     int
		stored   int
	}{
		{"empty", "", StateEmpty, ErrNotTranscript, 0, 0},
		{"white space", " \n\t\r\n", StateEmpty, ErrNotTranscript, 0, 0},
		{"garbage", "x\n", StateBadHeader, ErrNotTranscript, 0, 0},
		{"NULs", "\x00\x00", StateBadHeader, ErrNotTranscript, 0, 0},
		{"only a patch", `{"type":"header_patch","patch":{}}`, StateBadHeader, ErrNotTranscript, 0, 0},
		{"only a title", title, StateBadHeader, ErrNotTranscript, 0, 0},
		{"garbage before", "x\n" + head, StateOK, nil, 2, 5},
		{"a patch before", `{"type":"header_patch","patch":{}}` + "\n" + head, StateOK, nil, 2, 5},
		{"titles before", title + title + head, StateOK, nil, 3, 5},
		{"a record before", rec("a") + "\n" + head, StateBadHeader, ErrNotTranscript, 0, 0},
		{"a title, then a record before", title + rec("a") + "\n" + title + head, StateBadHeader, ErrNotTranscript, 0, 0},
		{"no version", `{"type":"session","id":"s"}`, StateOK, nil, 1, 1},
		{"version 0", version("0"), StateOK, nil, 1, 0},
		{"version -1", version("-1"), StateOK, nil, 1, -1},
		{"version 5.0", version("5.0"), StateOK, nil, 1, 5},
		{"version 1e0", version("1e0"), StateOK, nil, 1, 1},
		{"version 6", version("6"), StateNewerVersion, ErrTooNew, 1, 6},
		{"version 1e21", version("1e21"), StateNewerVersion, ErrTooNew, 1, 1<<31 - 1},
		{"version 5.5", version("5.5"), StateNewerVersion, ErrTooNew, 1, 5},
		{"version 4.5", version("4.5"), StateBadHeader, ErrNotTranscript, 0, 0},
		{"version text", version(`"5"`), StateBadHeader, ErrNotTranscript, 0, 0},
		{"version null", version("null"), StateBadHeader, ErrNotTranscript, 0, 0},
		{"version true", version("true"), StateBadHeader, ErrNotTranscript, 0, 0},
		{"a newer version behind a record", rec("a") + "\n" + version("6"), StateNewerVersion, ErrTooNew, 2, 6},
		{"a newer version in a second header", head + version("6"), StateOK, nil, 1, 5},
		{"an id that is a number", `{"type":"session","id":1}`, StateBadHeader, ErrNotTranscript, 0, 0},
		{"no id", `{"type":"session"}`, StateBadHeader, ErrNotTranscript, 0, 0},
		{"an empty id", `{"type":"session","id":""}`, StateOK, nil, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := parse(t, tt.in)
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Errorf("ParseTranscript(%q) = %v, want %v", tt.in, err, tt.err)
			}
			if tr.State != tt.state || tr.HeaderLine != tt.line || tr.Stored != tt.stored {
				t.Errorf("ParseTranscript(%q) = %s, line %d, version %d, want %s, line %d, version %d",
					tt.in, tr.State, tr.HeaderLine, tr.Stored, tt.state, tt.line, tt.stored)
			}
		})
	}
}

func TestErrorsDoNotTellWhatAVersionTextSays(t *testing.T) {
	_, err := parse(t, `{"type":"session","version":"secret","id":"s"}`)
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("ParseTranscript told %q", err)
	}
}

func TestParseTranscriptBoundsTheFile(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		want  error
	}{{int64(len(head)), nil}, {int64(len(head)) - 1, ErrTooLarge}} {
		_, err := ParseTranscript(t.Context(), strings.NewReader(head), LoadOptions{MaxSize: tt.limit})
		if !errors.Is(err, tt.want) {
			t.Errorf("ParseTranscript with limit %d = %v, want %v", tt.limit, err, tt.want)
		}
	}
}

func TestTitleComesFromHeaderPatchOrLeadingRecord(t *testing.T) {
	lead := `{"type":"title","title":"lead"}` + "\n"
	patch := `{"type":"header_patch","patch":{"title":"patched","titleSource":"user"}}` + "\n"
	titled := `{"type":"session","version":5,"id":"s","title":"own"}` + "\n"
	tests := []struct{ name, in, want string }{
		{"none", head, "-"},
		{"leading", lead + head, "lead"},
		{"the header's wins", lead + titled, "own"},
		{"a patch wins", lead + head + patch, "patched"},
		{"an empty title is one", lead + strings.Replace(titled, "own", "", 1), ""},
		{"version 3 has no patches", lead + strings.Replace(head, "5", "3", 1) + patch, "lead"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := parse(t, tt.in)
			got, ok := tr.Title()
			if !ok {
				got = "-"
			}
			if err != nil || got != tt.want {
				t.Errorf("Title() = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// loaded is what a loaded file is about: ids and texts, and warnings.
func loaded(tr *Transcript) (s []string) {
	for _, e := range tr.Records {
		id, _ := e.ID()
		s = append(s, id+" "+MessageText(e.Value().Get("message")))
	}
	for _, w := range tr.Warnings {
		s = append(s, fmt.Sprintf("%d %s", w.Line, w.Kind))
	}
	return s
}

func TestEntryPatchesAndRepeats(t *testing.T) {
	patch := func(id, text string) string {
		return fmt.Sprintf(`{"type":"entry_patch","entryId":%q,"patch":{"message":{"role":"user","content":%q}}}`+"\n", id, text)
	}
	a, b := msg("a", "", "user", "A"), msg("b", "a", "user", "B")
	custom := `{"type":"custom","id":"a","parentId":null,"timestamp":"t","customType":"x"}` + "\n"
	tests := []struct {
		name, in string
		want     []string
	}{
		{"an earlier message", a + patch("a", "P") + b, []string{"a P", "b B"}},
		{"not a later one", patch("a", "P") + a, []string{"a A", "2 patch_target_missing"}},
		{"the last of an id", a + msg("a", "", "user", "A2") + patch("a", "P"), []string{"a A", "a P", "3 duplicate_id"}},
		{"the last message of an id", a + custom + patch("a", "P"), []string{"a P", "a ", "3 duplicate_id"}},
		{"no message", custom + patch("a", "P"), []string{"a ", "3 patch_target_missing"}},
		{"an extra key voids it", a + strings.Replace(patch("a", "P"), `{"type"`, `{"x":1,"type"`, 1), []string{"a A"}},
		{"repeats are dropped", a + b + a + b, []string{"a A", "b B", "4 duplicate_id", "5 duplicate_id"}},
		{"a patched line repeats too", a + patch("a", "P") + a, []string{"a P", "4 duplicate_id"}},
		{"another entry with the id stays", a + msg("a", "", "user", "A2") + a, []string{"a A", "a A2", "3 duplicate_id", "4 duplicate_id"}},
		{"second headers stay", a + head + head, []string{"a A", "s ", "s "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := parse(t, head+tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, loaded(tr)); diff != "" {
				t.Errorf("ParseTranscript (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyRepeatsAreLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i := range 100_000 {
		b.WriteString(msg("a", "", "user", fmt.Sprint(i%50_000)))
	}
	tr, err := parse(t, b.String())
	if err != nil || len(tr.Records) != 50_000 || len(tr.Warnings) != 99_999 {
		t.Errorf("ParseTranscript kept %d with %d warnings, %v; want 50000 with 99999", len(tr.Records), len(tr.Warnings), err)
	}
}

func TestEntriesKeepTheirBytesUntilTheyChange(t *testing.T) {
	line := `{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"x"},"new":{"b":1,"1":2},"event_id":"00000000000000ff"}`
	tr, err := parse(t, head+" "+line+" \r\n")
	if err != nil {
		t.Fatal(err)
	}
	e := tr.Records[0]
	id, ok := e.EventID()
	if string(e.Raw()) != line || e.Changed() || !ok || id != 255 || id.String() != "00000000000000ff" {
		t.Errorf("entry is %q, changed %v, event %v", e.Raw(), e.Changed(), id)
	}
	if e.Offset != int64(len(head))+1 || e.Size != int64(len(line))+3 {
		t.Errorf("entry lies at %d, %d bytes", e.Offset, e.Size)
	}
	e.SetMessage(ObjectValue(NewObj(Member{"role", StringValue("assistant")})))
	want := `{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"assistant"},"new":{"1":2,"b":1},"event_id":"00000000000000ff"}`
	if got := string(e.AppendJSON(nil, false)); got != want || e.Raw() != nil || e.Role() != "assistant" {
		t.Errorf("changed entry is %s, role %q, want %s", got, e.Role(), want)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(`{"type":"entry_patch","entryId":"a","patch":{"message":{"role":"user"}}}`)
	f.Add(`{"type":"header_patch","patch":{"title":"x","titleSource":"auto","cwd":"/"}}`)
	f.Add(`{"type":"header_patch","patch":[]}`)
	f.Fuzz(func(t *testing.T, patch string) {
		tr, err := parse(t, head+msg("a", "", "user", "A")+patch+"\n"+msg("b", "a", "user", "B"))
		if err != nil || tr.Header.ID() != "s" || tr.Stored != 5 {
			t.Fatalf("a patch changed the header to %s, %v", ObjectValue(tr.Header.Value()).JSON(), err)
		}
		if id, _ := tr.Records[0].ID(); id != "a" || tr.Records[0].Type() != "message" {
			t.Errorf("a patch changed an entry to %s", ObjectValue(tr.Records[0].Value()).JSON())
		}
		for _, e := range tr.Records {
			if e.Type() == headerPatch || e.Type() == entryPatch {
				t.Errorf("a patch became an entry")
			}
		}
	})
}
