package jsonl

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is what Fields say, without where the literals stand.
type said struct {
	Strings map[string]string
	Kinds   map[string]Kind
	Texts   []string
	Refs    []string
	Images  int
	Calls   [][3]string
	Details string
	Usage   UsageFields
	Version uint64
}

func saidBy(f *Fields) said {
	s := said{
		Strings: map[string]string{},
		Kinds:   map[string]Kind{"id": f.IDKind, "parentId": f.ParentKind, "label": f.LabelKind, "version": f.VersionKind},
		Images:  f.Images, Usage: f.Usage, Version: math.Float64bits(f.Version),
	}
	for name, l := range map[string]Lit{
		"type": f.Type, "id": f.ID, "parentId": f.Parent, "timestamp": f.Timestamp, "role": f.Role,
		"provider": f.Provider, "message.model": f.Model, "stopReason": f.StopReason, "toolName": f.ToolName, "toolCallId": f.ToolCallID,
		"customType": f.CustomType, "targetId": f.TargetID, "label": f.Label, "firstKept": f.FirstKept,
		"summary": f.Summary, "shortSummary": f.ShortSummary, "fromId": f.FromID, "cwd": f.Cwd, "title": f.Title,
		"titleSource": f.TitleSource, "parentSession": f.ParentSession, "entryId": f.EntryID,
		"event_id": f.EventID, "model": f.ModelName,
	} {
		if l.Ok() {
			s.Strings[name] = l.WTF8()
		}
	}
	for _, l := range f.Texts {
		s.Texts = append(s.Texts, l.WTF8())
	}
	for _, c := range f.Calls {
		s.Calls = append(s.Calls, [3]string{c.ID.WTF8(), c.Name.WTF8(), c.Path.WTF8()})
	}
	if v, _, err := Parse(f.Details); err == nil {
		s.Details = v.JSON()
	}
	for _, l := range f.Refs {
		s.Refs = append(s.Refs, l.WTF8())
	}
	return s
}

// checkScan compares Scan with Parse and Of on one line and reports whether
// Scan vouched for it.
func checkScan(t *testing.T, line []byte) bool {
	t.Helper()
	var fast, slow Fields
	if !fast.Scan(line) {
		return false
	}
	v, n, err := Parse(line)
	if err != nil || !v.Is(Object) || len(bytes.Trim(line[n:], " \t\r\n")) > 0 {
		t.Fatalf("Scan(%q) = true, but Parse = %v, %d, %v", line, v.Kind(), n, err)
	}
	slow.Of(line, v)
	if diff := cmp.Diff(saidBy(&slow), saidBy(&fast)); diff != "" {
		t.Fatalf("Scan(%q) differs from Of (-Of +Scan):\n%s", line, diff)
	}
	return true
}

const aRef = "blob:sha256:a3887a141e810c147ff3630261b13bc51860e4d550794b19976901773e5b88fc"

func TestScanAgreesWithOf(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[{\"a\":", n) + "1" + strings.Repeat("}]", n) }
	tests := []struct {
		name, line string
		vouched    bool
	}{
		{"header", `{"type":"session","version":5,"id":"s-1","timestamp":"t","cwd":"/w","parentSession":"p","title":"x","titleSource":"user"}`, true},
		{"version of another kind", `{"type":"session","version":"5","id":null}`, true},
		{"version out of range", `{"type":"session","version":-1e400}`, true},
		{"user text", `{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"a\nb\u00e9 é"}}`, true},
		{"blocks", `{"type":"message","message":{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"},{"type":"text","text":1},{"type":"image","data":"x"},7,[],{"type":"thinking","text":"no"}],"role":"assistant"}}`, true},
		{"block type with escapes", `{"message":{"content":[{"type":"t\u0065xt","text":"a"}]}}`, true},
		{"calls", `{"message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"write","arguments":{"path":"/a/\u00e9","content":"x"}},{"arguments":{"file_path":"/b","path":null},"type":"toolCall"},{"type":"toolCall","arguments":{"path":{"file_path":"/no"},"file_path":"/no"}},{"type":"toolCall","id":7,"name":[],"arguments":["path"]},{"type":"toolCall","arguments":{}},{"type":"toolCall","arguments":{"path":"","file_path":"/no"}}]}}`, true},
		{"path twice in a call", `{"message":{"content":[{"type":"toolCall","arguments":{"path":"a","path":"b"}}]}}`, false},
		{"usage", `{"message":{"usage":{"input":12,"output":3.5,"cacheRead":-0,"cacheWrite":1e2,"premiumRequests":2,"cost":{"input":1,"total":0.25}}}}`, true},
		{"usage that is not whole", `{"message":{"usage":{"input":"12","output":3,"cost":{"total":null}}}}`, true},
		{"usage that is no object", `{"message":{"usage":[1]}}`, true},
		{"custom message", `{"type":"custom_message","customType":"n","content":[{"type":"text","text":"a"},{"type":"image"}],"display":true}`, true},
		{"custom message, string", `{"content":"x","type":"custom_message"}`, true},
		{"content outside of a custom message", `{"type":"message","content":"x"}`, false},
		{"custom message with a message", `{"type":"custom_message","message":{"content":"x"}}`, false},
		{"label cleared", `{"type":"label","targetId":"a","label":null}`, true},
		{"patches go the slow way", `{"type":"header_patch","patch":{"title":"x"}}`, false},
		{"compaction", `{"type":"compaction","summary":"s","shortSummary":"t","firstKeptEntryId":"k","fromId":"f","event_id":"0"}`, true},
		{"references", `{"a":"` + aRef + `","` + aRef + `":1,"b":["` + aRef + `","x` + aRef + `"],"c":"` + strings.ToUpper(aRef) + `"}`, true},
		{"reference with escapes", `{"a":"\u0062lob:sha256:` + strings.Repeat(`\u0061`, 64) + `"}`, true},
		{"hidden reference", `{"x":{"a":"` + aRef + `","a":1}}`, true},
		{"wanted key twice", `{"type":"a","type":"b"}`, false},
		{"unwanted key twice", `{"x":"a","x":"b"}`, true},
		{"wanted key with escapes", `{"ty\u0070e":"a"}`, false},
		{"message twice", `{"message":{"role":"a"},"message":{}}`, false},
		{"white space everywhere", " { \"type\" : \"a\" , \"b\" : [ 1 , { } , [ ] ] , \"message\" : { \"content\" : [ { \"type\" : \"text\" , \"text\" : \"x\" } , 2 ] } }\r\n\t", true},
		{"nested as deep as we follow", `{"x":` + deep(32) + `}`, true},
		{"nested deeper", `{"x":` + deep(33) + `}`, false},
		{"no object", `[1]`, false},
		{"something behind", `{"a":1} {}`, false},
		{"torn", `{"a":"b`, false},
		{"control character", "{\"a\":\"b\x01\"}", false},
		{"broken UTF-8", "{\"a\":\"b\xff\"}", false},
		{"surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", false},
		{"lone surrogate escape", `{"title":"\ud800x"}`, true},
		{"leading zero", `{"a":01}`, false},
		{"empty", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := checkScan(t, []byte(tt.line)); got != tt.vouched {
				t.Errorf("Scan(%q) = %v, want %v", tt.line, got, tt.vouched)
			}
		})
	}
}

func TestFieldsOfPatches(t *testing.T) {
	tests := []struct {
		name, line  string
		title, role string
		texts       int
	}{
		{"header patch", `{"type":"header_patch","title":"no","patch":{"title":"yes"}}`, "yes", "", 0},
		{"entry patch", `{"type":"entry_patch","entryId":"e","patch":{"message":{"role":"user","content":"x"}}}`, "", "user", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ParseString(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			var f Fields
			f.Of([]byte(tt.line), v)
			if f.Title.Text() != tt.title || f.Role.Text() != tt.role || len(f.Texts) != tt.texts {
				t.Errorf("Of(%s): title %q, role %q, %d texts", tt.line, f.Title.Text(), f.Role.Text(), len(f.Texts))
			}
		})
	}
}

func TestLitText(t *testing.T) {
	tests := []struct{ name, raw, text, wtf8 string }{
		{"plain", `abc`, "abc", "abc"},
		{"escapes", `a\n\u00e9\/\"`, "a\né/\"", "a\né/\""},
		{"pair", `\ud83d\ude00`, "😀", "😀"},
		{"lone", `\ud83dx`, "\ufffdx", "\xed\xa0\xbdx"},
		{"pair of escape and bytes", `\ud83d\n`, "\ufffd\n", "\xed\xa0\xbd\n"},
		{"long", `0123456789\n0123456789é\t\u00410123456789\\`, "0123456789\n0123456789é\tA0123456789\\", "0123456789\n0123456789é\tA0123456789\\"},
		{"empty", ``, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Lit{raw: []byte(tt.raw)}
			if got := l.Text(); got != tt.text {
				t.Errorf("Text() = %q, want %q", got, tt.text)
			}
			if got := l.WTF8(); got != tt.wtf8 {
				t.Errorf("WTF8() = %q, want %q", got, tt.wtf8)
			}
			if !l.Equal(tt.wtf8) || l.Equal(tt.wtf8+"x") || (Lit{}).Equal(tt.wtf8) {
				t.Errorf("Equal is wrong for %q", tt.wtf8)
			}
		})
	}
}

// TestScanOfBrokenLines changes bytes of good lines and compares.
func TestScanOfBrokenLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := sampleLines(60, 3)
	pieces := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, ` `, "\x00", "\xff", "é", `\u0`, `"type":"text"`, `"id":1,`, "-", "0", "e", aRef, `\n`, "\xed\xa0\x80", "null", "tru"}
	vouched := 0
	for range 20_000 {
		line := bytes.Clone(lines[rng.IntN(len(lines))])
		if len(line) > 4000 {
			continue
		}
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(line) + 1)
			cut := min(len(line), at+rng.IntN(4))
			line = append(line[:at:at], append([]byte(pieces[rng.IntN(len(pieces))]), line[cut:]...)...)
		}
		if checkScan(t, line) {
			vouched++
		}
	}
	if vouched == 0 {
		t.Error("no changed line was vouched for: the test tests nothing")
	}
}

func FuzzScan(f *testing.F) {
	for _, line := range sampleLines(20, 4) {
		f.Add(line)
	}
	f.Add([]byte(`{"message":{"content":[{"type":"toolCall","id":"a","name":"b","arguments":{"path":null,"file_path":"c"}}]}}`))
	f.Add([]byte(`{"type":"custom_message","content":[{"type":"text","text":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) { checkScan(t, line) })
}

// sampleLines makes n lines as sessions hold them: mean 2.7 KB, some of 100 KB.
func sampleLines(n int, seed uint64) [][]byte {
	rng := rand.New(rand.NewPCG(seed, 9))
	words := strings.Fields("the session file handle timeout returns error func if err != nil { return } // path/to/file.go: 42 \t \"quoted\" C:\\dir fixed tests for reading lines")
	prose := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			if rng.IntN(100) == 0 {
				b.WriteString("é 数据 🙂")
			}
			b.WriteString(words[rng.IntN(len(words))])
			if b.WriteByte(' '); rng.IntN(9) == 0 {
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
	size := func() int {
		if rng.IntN(100) == 0 {
			return 20_000 + rng.IntN(80_000)
		}
		return 100 + rng.IntN(3000)
	}
	str := func(s string) string { return string(appendString(nil, s)) }
	lines := make([][]byte, 0, n)
	for i := range n {
		head := fmt.Sprintf(`"id":"%08x","parentId":"%08x","timestamp":"2026-02-10T08:%02d:00.000Z"`, i+1, i, i%60)
		var line string
		switch i % 5 {
		case 0:
			line = fmt.Sprintf(`{"type":"message",%s,"message":{"role":"user","content":[{"type":"text","text":%s}],"timestamp":1770000000002}}`, head, str(prose(size()/4)))
		case 1, 3:
			line = fmt.Sprintf(`{"type":"message",%s,"message":{"role":"assistant","content":[{"type":"thinking","thinking":%s,"thinkingSignature":"%s"},{"type":"text","text":%s},{"type":"toolCall","id":"t%d","name":"bash","arguments":{"command":%s,"timeout":30}}],"api":"acme-messages","provider":"acme","model":"acme-large-2","usage":{"input":%d,"output":%d,"cacheRead":1200,"cacheWrite":0,"totalTokens":9123,"cost":{"input":0.01,"output":0.002,"cacheRead":0,"cacheWrite":0,"total":0.012}},"stopReason":"toolUse","timestamp":1770000000002}}`,
				head, str(prose(size()/3)), strings.Repeat("Ab0+", 64), str(prose(size()/4)), i, str(prose(80)), rng.IntN(5000), rng.IntN(900))
		case 2, 4:
			line = fmt.Sprintf(`{"type":"message",%s,"message":{"role":"toolResult","toolCallId":"t%d","toolName":"bash","content":[{"type":"text","text":%s}],"details":{"exitCode":0,"lines":[1,2,3],"truncated":false,"path":null},"isError":false,"timestamp":1770000000002}}`, head, i, str(prose(2*size())))
		}
		lines = append(lines, []byte(line))
	}
	return lines
}

func BenchmarkScan(b *testing.B) {
	lines := sampleLines(2000, 5)
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	run := func(name string, do func(f *Fields, line []byte)) {
		b.Run(name, func(b *testing.B) {
			var f Fields
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range lines {
					do(&f, l)
				}
			}
			b.ReportMetric(float64(size)/float64(len(lines)), "B/line")
		})
	}
	run("fields", func(f *Fields, line []byte) {
		if !f.Scan(line) {
			b.Fatal("not vouched for")
		}
	})
	var text []byte
	run("fields and text", func(f *Fields, line []byte) {
		if !f.Scan(line) {
			b.Fatal("not vouched for")
		}
		for _, l := range f.Texts {
			text = l.AppendText(text[:0])
		}
	})
}
