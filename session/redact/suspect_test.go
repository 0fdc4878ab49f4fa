package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written is s as a JSON string. odd says of each byte whether it is written by
// its number.
func written(s string, odd func() int) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		kind := odd()
		switch {
		case kind == 1 && r < 0x10000, kind == 3 && strings.ContainsRune("<>&", r):
			fmt.Fprintf(&b, `\u%04x`, r)
		case kind == 2 && r == '/':
			b.WriteString(`\/`)
		default:
			text, _ := json.Marshal(string(r))
			text = bytes.ReplaceAll(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u003c`), []byte("<")), []byte(`\u003e`), []byte(">")), []byte(`\u0026`), []byte("&"))
			b.Write(text[1 : len(text)-1])
		}
	}
	return b.String() + `"`
}

func plainly() int { return 0 }

// The prefilter loses nothing: whatever holds a secret is suspect.
func TestWhatHoldsASecretIsSuspect(t *testing.T) {
	pieces := []string{"\n", "\n  ", " \r\n\t", "\r", "\t", " ", "\\", "\\n", "\\\"", "\\\\", "\\u002d", "\\/", "\"", "'", ":", "=", "://", "@", "/", "-", ".", "_", "%3D", "\x1b[31m",
		"user:hunter2@host", "EXAMPLE0fake1EXAMPLE0fake1EXAMPLE0fake1", "AB0cdef", "0123456789abcdef0123456789abcdef", "hunter2!", "x", "é", "😀", "[", "{", "}", ",", "<", ">", "&", "=>", "Cookie: a=", "Authorization: ", "--", "Bearer ", "Basic ",
		"-----BEGIN PRIVATE KEY-----\nMIIE", "password", "apiKey", "tokens", "123456789"}
	for _, r := range rules() {
		pieces = append(pieces, r.word)
		if n := len(r.word); n > 2 {
			pieces = append(pieces, r.word[:n/2], r.word[n/2:], r.word[:1], r.word[1:], r.word+"EXAMPLE0fake1EXAMPLE0fake1")
		}
	}
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, most int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(r, name), "")
		}
		odd := plainly
		switch rapid.IntRange(0, 5).Draw(r, "odd") {
		case 1, 2:
			odd = func() int { return 3 }
		case 0:
			odd = func() int { return max(0, rapid.IntRange(-20, 2).Draw(r, "escape")) }
		}
		key, text := draw("key", 3), draw("text", 12)
		for range rapid.IntRange(0, 3).Draw(r, "deep") {
			text = written(text, odd)
			if rapid.Bool().Draw(r, "in an object") {
				text = `{"` + rapid.SampledFrom(assignWords[:]).Draw(r, "name") + `": ` + text + `}`
			}
		}
		line := "{" + written(key, odd) + rapid.SampledFrom([]string{":", ": ", ":["}).Draw(r, "colon") + written(text, odd)
		inPlace := written(key, plainly) + ":" + written(text, plainly)
		if len(Find(text)) == 0 && len(Find(key)) == 0 && len(Find(inPlace)) == 0 {
			return
		}
		found++
		if !Suspect([]byte(line)) {
			r.Fatalf("Suspect(%s) = false; it holds %q and %q", line, key, text)
		}
	})
	if found == 0 {
		t.Error("no secret was made")
	}
}

// Every case of TestText is suspect in JSON, and in JSON inside of JSON.
func TestSuspect(t *testing.T) {
	secrets := []string{"sk-" + fake(30), "key gh\np_" + fake(36), "key g\n h \r\n\tp_" + fake(36) + " ok", "key sk-test-EXAMPLE0EX\n  AMPLE0EXAMPLE0 ok", "password=hunter2", `{"password":"hunter2"}`,
		"https://me:s3cr3t@host", "Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Set-Cookie: session=abcdef0123", "\x1b[32mghp_" + fake(36), "mysql --password hunter2", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + fake(30),
		"https://hooks.slack.com/services/T00000000/B00000000/" + fake(24), "%3Dghp_" + fake(36), "bot 123456789:AA" + fake(33)}
	for _, s := range secrets {
		if len(Find(s)) == 0 {
			t.Errorf("Find(%q) has nothing", s)
		}
		slashed := func() int { return 2 }
		byNumber := func() int { return 1 }
		for _, text := range []string{written(s, plainly), written(written(s, plainly), plainly), written(s, slashed), written(s, byNumber)} {
			if !Suspect([]byte(`{"text":` + text + `}`)) {
				t.Errorf("Suspect(%s) = false", text)
			}
		}
	}
	for _, s := range []string{
		`{"text":"cookie := map[string]int{\"the\": 1}\nif a \u003c b \u0026\u0026 c -\u003e d"}`,
		`{"usage":{"input":1,"output":2,"totalTokens":3},"timestamp":"2026-03-01T09:00:01.000Z"}`,
		`{"text":"see https://example.org/a/b?c=d and ssh://git@host/x\n\tthe token is read; a secret of the format, a task-runner TASK SKIP"}`,
		`{"text":"func (p *parser) next() (tok token, err error) {\n\ttoken := next()\n\treturn token{}, io.EOF\n"}`,
		`{"text":"\u001b[31mred\u001b[0m \u00e9 \ud83d\ude00"}`,
		`{"data":"iVBORw0KGgoAAAANSUhEUgAAeyJSKAKIAdapi0123456789abcdef0123456789abcdefAAA"}`,
	} {
		if Suspect([]byte(s)) {
			t.Errorf("Suspect(%s) = true", s)
		}
	}
}

func FuzzSuspect(f *testing.F) {
	f.Add("password", "hunter2")
	f.Add("text", "gh\np_"+fake(36))
	f.Add("Authorization", "Basic dXNlcjpwYXNzd29yZDE=")
	f.Fuzz(func(t *testing.T, key, text string) {
		key, text = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(text, "?")
		line := written(key, plainly) + ":" + written(text, plainly)
		if !Suspect([]byte("{"+line+"}")) && (len(Find(text)) > 0 || len(Find(key)) > 0 || len(Find(line)) > 0) {
			t.Errorf("not suspect: %s", line)
		}
	})
}

func BenchmarkSuspect(b *testing.B) {
	line := []byte(`{"type":"message","id":"1a2b3c4d","parentId":"0a1b2c3d","timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The parser reads a token at a time.\nIt keeps \"secrets\" of the format to itself; the key is in the table, see https://example.org/a?b=c."}],"usage":{"totalTokens":123}}}` + "\n")
	line = bytes.Repeat(line, 3000)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if Suspect(line) {
			b.Fatal("suspect")
		}
	}
}
