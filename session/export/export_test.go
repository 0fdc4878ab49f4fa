package export

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

const secret = "sk-test-EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0"

// redactTest is a redactor that knows one secret.
func redactTest(text string) (string, int) {
	return strings.ReplaceAll(text, secret, "[redacted]"), strings.Count(text, secret)
}

func sessionOf(t *testing.T, lines string) Session {
	t.Helper()
	tr, err := jsonl.ParseTranscript(context.Background(), strings.NewReader(lines), jsonl.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	title, _ := tr.Title()
	return Session{ID: tr.Header.ID(), Title: title, Cwd: tr.Header.Cwd(), Tree: tr.Tree(true)}
}

func written(t *testing.T, s Session, f Format, opt Options) (string, Report) {
	t.Helper()
	var b bytes.Buffer
	rep, err := Write(context.Background(), &b, s, f, opt)
	if err != nil {
		t.Fatalf("Write(%s): %v", f, err)
	}
	return b.String(), rep
}

func b110(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/faults/B110/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// body is the page without its own style and script.
func body(page string) string {
	page = strings.Replace(page, pageStyle, "", 1)
	return strings.Replace(page, pageScript, "", 1)
}

func TestSecretsAreGoneInEveryFormat(t *testing.T) {
	s := sessionOf(t, b110(t))
	for _, f := range []Format{HTML, Markdown, Text, JSON} {
		for _, all := range []bool{false, true} {
			out, rep := written(t, s, f, Options{AllBranches: all, Redact: redactTest})
			if strings.Contains(out, secret) {
				t.Errorf("%s, all branches %v: the secret is there", f, all)
			}
			if rep.Secrets != 2 {
				t.Errorf("%s, all branches %v: %d secrets counted, want 2", f, all, rep.Secrets)
			}
		}
		if out, _ := written(t, s, f, Options{}); !strings.Contains(out, secret) {
			t.Errorf("%s without a redactor: the text is not there", f)
		}
	}
}

func TestWhichBranchIsShown(t *testing.T) {
	s := sessionOf(t, b110(t))
	tests := []struct {
		name  string
		opt   Options
		shown int
		says  string
	}{
		{"the path of the last entry", Options{}, 2, "the branch that ends at entry e4, 2 of 4 entries"},
		{"the path of a leaf", Options{Leaf: "e3"}, 3, "the branch that ends at entry e3, 3 of 4 entries"},
		{"all branches", Options{AllBranches: true}, 4, "all branches, 4 entries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range []Format{HTML, Markdown, Text, JSON} {
				out, rep := written(t, s, f, tt.opt)
				if diff := cmp.Diff(tt.shown, rep.Shown); diff != "" {
					t.Errorf("%s shown (-want +got):\n%s", f, diff)
				}
				if !strings.Contains(out, tt.says) {
					t.Errorf("%s does not say %q", f, tt.says)
				}
			}
		})
	}
	if _, err := Write(context.Background(), &bytes.Buffer{}, s, Text, Options{Leaf: "nosuch"}); err == nil {
		t.Error("Write with an unknown leaf: no error")
	}
}

func TestHTMLEscapesWhatTheSessionSays(t *testing.T) {
	out, _ := written(t, sessionOf(t, b110(t)), HTML, Options{AllBranches: true, Redact: redactTest})
	if !strings.Contains(out, "&lt;script&gt;") || strings.Contains(body(out), "<script>alert") {
		t.Error("the script of a message is not escaped")
	}
	if !strings.Contains(out, "<title>Export &lt;me&gt;") {
		t.Error("the title is not escaped")
	}
}

func TestMarkdownFencesAreLongerThanAnyRunInside(t *testing.T) {
	out, _ := written(t, sessionOf(t, b110(t)), Markdown, Options{AllBranches: true})
	if !strings.Contains(out, "````text\n```\nfence ``` inside\n```\n````\n") {
		t.Errorf("no fence of four around a text with three:\n%s", out)
	}
}

func TestJSONIsOneDocument(t *testing.T) {
	out, _ := written(t, sessionOf(t, b110(t)), JSON, Options{AllBranches: true, Redact: redactTest})
	var doc struct {
		Shown           string
		Leaf            string
		Entries         []struct{ ID string }
		SecretsRedacted int
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range doc.Entries {
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]string{"e1", "e2", "e3", "e4"}, ids); diff != "" || doc.Leaf != "e4" || doc.SecretsRedacted != 2 {
		t.Errorf("entries (-want +got):\n%s\nleaf %q, %d secrets", diff, doc.Leaf, doc.SecretsRedacted)
	}
}

// hostile holds an event id, local entries, terminal codes, a split secret and
// the worst names.
const hostile = `{"type":"session","version":5,"id":"h","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/x\"><script>cwd()</script>","title":"</title><script>t()</script>\u202e"}
{"type":"message","id":"a\"><script>id()</script>","parentId":null,"timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":"\u001b[31msk-te\u001b[0mst-EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0 \u0007"},"event_id":"00000000000000aa"}
{"type":"message","id":"b","parentId":"a\"><script>id()</script>","timestamp":"2026-03-01T09:00:02.000Z","message":{"role":"assistant","model":"<script>m()</script>","content":[{"type":"thinking","thinking":"<script>think()</script>"},{"type":"text","text":"[x](javascript:alert(1)) <javascript:alert(2)> ![p](http://tracker.example/p.png) [ok](https://ok.example/?a=1&b=2)\n\n<div onclick=\"a()\">\n\n` + "```" + `js\"onload=1\n</code><script>code()</script>\n"},{"type":"toolCall","id":"c","name":"<script>n()</script>","arguments":{"path":"</summary><script>p()</script>.go"}}]},"event_id":"00000000000000ab"}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"</code></pre><script>r()</script>"},{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz4="},{"type":"image","mimeType":"image/png\"><script>","data":"AAAA"},{"type":"image","mimeType":"image/png","data":"AA\"><script>i()</script>"}]},"event_id":"00000000000000ac"}
{"type":"label","id":"l","parentId":"c","timestamp":"2026-03-01T09:00:04.000Z","targetId":"b","label":"<script>l()</script>"}
{"type":"custom","id":"d","parentId":"l","timestamp":"2026-03-01T09:00:05.000Z","customType":"gjc-index/diagnostic","data":{"v":1,"text":"local words"}}
{"type":"custom_message","id":"e","parentId":"d","timestamp":"2026-03-01T09:00:06.000Z","customType":"x","content":"hidden words","display":false}
{"type":"session_init","id":"f","parentId":"e","timestamp":"2026-03-01T09:00:07.000Z","systemPrompt":"system words","task":"do it","tools":[]}
`

func TestNothingOfASessionIsActiveInAPage(t *testing.T) {
	out, _ := written(t, sessionOf(t, hostile), HTML, Options{AllBranches: true, Redact: redactTest})
	page := body(out)
	for _, bad := range []string{"<script>t", "<script>cwd", "<script>id", "<script>m", "<script>think", "<script>code", "<script>n", "<script>p",
		"<script>r", "<script>i", "<script>l", "<div onclick", "\"javascript:", "src=\"http", "svg+xml;base64", "style=", "onload=1>", secret} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, `href="https://ok.example/?a=1&amp;b=2"`) {
		t.Error("a harmless link is gone")
	}
	if got := strings.Count(page, "<script>"); got != 1 {
		t.Errorf("the page has %d scripts, want 1", got)
	}
}

func TestFormatsForPeopleLeaveOutWhatIsNotTheirs(t *testing.T) {
	for _, f := range []Format{HTML, Markdown, Text} {
		out, _ := written(t, sessionOf(t, hostile), f, Options{AllBranches: true, Redact: redactTest})
		for _, bad := range []string{"event_id", "00000000000000a", "local words", "hidden words", "system words", "\x1b", "\x07", "\u202e", secret} {
			if strings.Contains(body(out), bad) {
				t.Errorf("%s has %q", f, bad)
			}
		}
		if !strings.Contains(out, "do it") {
			t.Errorf("%s lacks the task", f)
		}
	}
	if out, _ := written(t, sessionOf(t, hostile), JSON, Options{AllBranches: true}); strings.Contains(out, "event_id") {
		t.Error("json has an event id")
	}
}

func TestMarkdownHasNoRawHTML(t *testing.T) {
	tests := []struct{ name, source string }{
		{"inline", "a <b>bold</b> word"},
		{"block", "<div>\n\n```\n<script>x()</script>\n```\n</div>"},
		{"a fence inside a block", "<script>\n```\n</script>\n<img src=x onerror=a()>\n```\n<img src=y>"},
		{"comment", "<!-- \n\n x --> <b>"},
		{"long", strings.Repeat("<b>", 200_000)},
		{"nested", strings.Repeat("> ", 5000) + "<b>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := escapeHTMLIn(tt.source)
			if again := escapeRawHTML([]byte(got)); len(got) < maxProse && again != got {
				t.Errorf("escapeHTMLIn(%.80q) = %.200q, which has raw HTML", tt.source, got)
			}
		})
	}
}

func TestLinesAreTheFileButForSecrets(t *testing.T) {
	m := storage.NewMemory()
	file := b110(t) + "not a record\n"
	err := storage.Publish(context.Background(), m, "/s.jsonl", 0o600, func(w io.Writer) error {
		_, err := w.Write([]byte(file))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	rep, damaged, err := WriteLines(context.Background(), &b, m, "/s.jsonl", LinesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b110(t), b.String()); diff != "" || damaged != 1 || rep.Entries != 4 {
		t.Errorf("WriteLines (-want +got):\n%s\n%d damaged, %d entries", diff, damaged, rep.Entries)
	}
	b.Reset()
	if rep, _, err = WriteLines(context.Background(), &b, m, "/s.jsonl", LinesOptions{Redact: redactTest}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(b110(t), secret, "[redacted]"), b.String()); diff != "" || rep.Secrets != 2 {
		t.Errorf("WriteLines redacted (-want +got):\n%s\n%d secrets", diff, rep.Secrets)
	}
}

func TestFileName(t *testing.T) {
	tests := []struct{ id, want string }{
		{"0195c2aa-1", "0195c2aa-1.html"},
		{"../../etc/passwd", "_.._etc_passwd.html"},
		{"", "session.html"},
		{"..", "session.html"},
		{"-rf", "_-rf.html"},
		{"CON", "_CON.html"},
		{"a\x00b\nc", "a_b_c.html"},
		{strings.Repeat("x", 500), strings.Repeat("x", 128) + ".html"},
	}
	for _, tt := range tests {
		if got := FileName(tt.id, HTML); got != tt.want {
			t.Errorf("FileName(%.20q) = %q, want %q", tt.id, got, tt.want)
		}
	}
}
