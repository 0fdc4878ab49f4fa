package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

func TestUnescapeLosesOnlyTheCutEscape(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`plain`, "plain"},
		{`a\nb\"c\\d\u00e9`, "a\nb\"c\\dé"},
		{`\ud83d\ude00 cut \u12`, "😀 cut "},
		{`\ud83d\ude00\ud83d`, "😀\xed\xa0\xbd"},
		{`\ud83dx\u12`, "\xed\xa0\xbdx"},
		{`cut \`, "cut "},
		{`wrong \x here`, "wrong  here"},
		{"raw\tcontrol \\t", "raw\tcontrol \t"},
		{`\ud83d\u`, "\xed\xa0\xbd"},
	}
	for _, tt := range tests {
		if got := unescape(tt.raw); got != tt.want {
			t.Errorf("unescape(%q) = %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestBrokenTextIsReplacedAsTheWHATWGDecoderDoes(t *testing.T) {
	tests := []struct{ in, want string }{
		{"aé水🚲", "aé水🚲"},
		{"\xff\xff", "\ufffd\ufffd"},
		{"\xe6\xb0", "\ufffd"},
		{"\xe6\xb0x", "\ufffdx"},
		{"\xf0\x9f\x9a", "\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},
		{"\xc0\xaf", "\ufffd\ufffd"},
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"\xc3", "\ufffd"},
	}
	for _, tt := range tests {
		if got := wellFormed([]byte(tt.in)); got != tt.want {
			t.Errorf("wellFormed(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// row writes one file and reads its row.
func row(t *testing.T, text string) (Info, error) {
	t.Helper()
	w := newWorld(t)
	return readInfo(t.Context(), storage.Disk(storage.Policy{}), w.file(w.path("s/a.jsonl"), text, 1))
}

func TestRowsOfOddFiles(t *testing.T) {
	long := strings.Repeat("水", 2000) // 6,000 bytes: the prefix ends inside a character
	user := func(text string) string {
		return `{"type":"message","id":"a","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	header := `{"type":"session","version":5,"id":"x","timestamp":"2026-02-10T08:00:00.000Z","cwd":"/w"}` + "\n"
	patch := `{"type":"header_patch","patch":{"title":"renamed"}}` + "\n"
	type seen struct {
		ID, Cwd, Title, First string
		Count                 int
	}
	cut := func(before string) string { // what of long lies in the prefix behind before
		whole := strings.Repeat("水", (4096-len(before))/3)
		if len(before)+len(whole) < 4096 {
			whole += "\ufffd"
		}
		return whole
	}
	start := header + user("@")[:strings.Index(user("@"), "@")]
	tests := []struct {
		name, text string
		want       seen
	}{
		{"a prompt that the prefix cuts", header + user(long), seen{"x", "/w", "", cut(start), 1}},
		{"a header longer than the prefix", `{"type":"session","version":5,"id":"x","cwd":"/w","title":"t","junk":"` + long + `"}` + "\n" + user("hi"),
			seen{"x", "/w", "t", NoMessages, 0}},
		{"a title that the prefix cuts", `{"type":"session","version":5,"id":"x","cwd":"/w","title":"` + long,
			seen{"x", "/w", cut(`{"type":"session","version":5,"id":"x","cwd":"/w","title":"`), NoMessages, 0}},
		{"a broken header", `{"type":"session","id":"x","cwd":"/w",` + "\n" + user("hi"), seen{"x", "/w", "", "hi", 1}},
		{"a title record before the header", `{"type":"title","title":"led","timestamp":"2026-02-10T08:00:00.000Z"}` + "\n" + header + user("hi"), seen{"x", "/w", "led", "hi", 1}},
		{"a rename in a small file", header + user("hi") + patch, seen{"x", "/w", "renamed", "hi", 1}},
		{"a rename at the end", header + user("hi") + user(long) + patch, seen{"x", "/w", "renamed", "hi", 2}},
		{"a rename at the end of version 3", strings.Replace(header, "5", "3", 1) + user("hi") + user(long) + patch, seen{"x", "/w", "", "hi", 2}},
		{"a rename as the last line, torn off", header + user("hi") + user(long) + strings.TrimSpace(patch), seen{"x", "/w", "renamed", "hi", 2}},
		{"a rename whose type is escaped", header + user("hi") + user(long) + `{"type":"header\u005fpatch","patch":{"title":"odd"}}` + "\n", seen{"x", "/w", "odd", "hi", 2}},
		{"nested marks count", header + `{"type":"custom","customType":"c","data":[{"type":"message"},{"type" : "message"}],"id":"a","parentId":null,"timestamp":""}` + "\n", seen{"x", "/w", "", NoMessages, 2}},
		{"no text is no first message", header + user("") + user("second"), seen{"x", "/w", "", "second", 2}},
		{"a null line", header + "null\n" + user("hi"), seen{"x", "/w", "", "hi", 1}},
		{"a byte order mark", "\ufeff" + header + user("hi"), seen{"x", "/w", "", "hi", 1}},
		{"an empty id", strings.Replace(header, `"x"`, `""`, 1) + user("hi"), seen{"", "/w", "", "hi", 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := row(t, tt.text)
			noError(t, err)
			if diff := cmp.Diff(tt.want, seen{in.ID, in.Cwd, in.Title, in.FirstMessage, in.MessageCount}); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
	for name, text := range map[string]string{
		"empty": "", "no header": user("hi"), "newer": `{"type":"session","version":6,"id":"x"}` + "\n",
		"newer behind an entry":      user("hi") + `{"type":"session","version":6,"id":"x"}` + "\n",
		"a version in words":         `{"type":"session","version":"5","id":"x"}` + "\n",
		"a broken header without id": `{"type":"session","id":"",` + "\n", "a number as id": `{"type":"session","id":7}` + "\n",
	} {
		if in, err := row(t, text); err == nil {
			t.Errorf("%s: row = %+v, want an error", name, in)
		}
	}
}

func TestOrphanBackupsArePromoted(t *testing.T) {
	w := newWorld(t)
	dir := w.root + "/s"
	w.transcript(dir+"/a.jsonl.1.bak", "a1", "/w", 1)
	w.transcript(dir+"/a.jsonl.2.bak", "a2", "/w", 2)
	w.transcript(dir+"/b.jsonl.1.bak", "b1", "/w", 3)
	w.transcript(dir+"/b.jsonl", "b", "/w", 1)
	l, err := w.reading(Options{}).ScanDir(t.Context(), dir)
	noError(t, err)
	if diff := cmp.Diff([]string{"s/b.jsonl"}, w.names(l.Sessions)); diff != "" {
		t.Errorf("ScanDir (-want +got):\n%s", diff)
	}
	if l, err = w.store(Options{}).ListDir(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s/a.jsonl", "s/b.jsonl"}, w.names(l.Sessions)); diff != "" || l.Sessions[0].ID != "a2" || l.Sessions[1].ID != "b" {
		t.Errorf("ListDir = %v (-want +got):\n%s", l.Sessions, diff)
	}
}

func TestABackupThatCannotBePromotedIsSaid(t *testing.T) {
	w := newWorld(t)
	dir := w.root + "/s"
	w.transcript(dir+"/a.jsonl.1.bak", "a1", "/w", 1)
	w.transcript(dir+"/b.jsonl", "b", "/w", 1)
	s := NewStore(failing(storage.Disk(storage.Policy{}), "a.jsonl"), Options{Home: w.home})
	l, err := s.ListDir(t.Context(), dir)
	noError(t, err)
	if len(l.Sessions) != 1 || len(l.LeftOut) != 1 || !strings.Contains(l.LeftOut[0].Reason, "backup") {
		t.Errorf("ListDir = %v, left out %v, want b.jsonl and the backup left out", w.names(l.Sessions), l.LeftOut)
	}
}
