package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func writeTranscript(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func scanPaths(t interface{ Fatal(...any) }, query string, opt ScanOptions, paths ...string) ([]Hit, []ScanFailure) {
	files := make([]ScanFile, len(paths))
	for i, p := range paths {
		files[i] = ScanFile{Path: p, SessionID: "sid", Cwd: "/w"}
	}
	ctx, cancel := testContext()
	defer cancel()
	hits, failed, err := Scan(ctx, storage.Disk(storage.Policy{}), files, ParseQuery(query), opt)
	if err != nil {
		t.Fatal(err)
	}
	return hits, failed
}

func message(id, role, content string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":null,"timestamp":"2026-01-01T00:00:0%s.000Z","message":{"role":%q,"content":%s}}`,
		id, id, role, content)
}

func TestScanFindsTextsByRole(t *testing.T) {
	path := writeTranscript(t,
		`{"type":"session","version":5,"id":"sid","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
		message("1", "user", `"Find the PUMP"`),
		message("2", "assistant", `[{"type":"thinking","thinking":"pump?"},{"type":"text","text":"a pump"},{"type":"text","text":"C:\\x\/y \"q\"\nline"},{"type":"toolCall","name":"pump","arguments":{"a":"pump"}}]`),
		message("3", "toolResult", `[{"type":"text","text":"p\u0075mp caf\u00e9 \uD83C\uDF31 설정"}]`),
		`{"type":"custom_message","id":"4","parentId":null,"timestamp":"2026-01-01T00:00:04.000Z","customType":"x","content":"custom pump"}`,
		`{"type":"compaction","id":"5","parentId":null,"timestamp":"2026-01-01T00:00:05.000Z","summary":"pump summary","firstKeptEntryId":"1","tokensBefore":1}`,
		`{"type":"message","id":"6","parentId":null,"timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"bashExecution","command":"pump -v","output":"pumped\nout"}}`,
		`{"type":"label","id":"7","parentId":null,"timestamp":"2026-01-01T00:00:07.000Z","targetId":"1","label":"pump"}`,
		message("8", "user", `"replaced pump"`),
		`{"type":"entry_patch","entryId":"8","patch":{"message":{"role":"user","content":"what is there now"}}}`,
		`{"type":"entry_patch","entryId":"1","patch":{"message":{"role":"user","content":"Find the PUMPS"}}}`,
	)
	tests := []struct {
		query string
		opt   ScanOptions
		want  []string
	}{
		{"pump", ScanOptions{}, []string{"6 tool", "5 summary", "4 custom", "3 tool", "2 assistant", "1 user"}},
		{"pump", ScanOptions{Role: RoleUser}, []string{"1 user"}},
		{"pumps", ScanOptions{}, []string{"1 user"}},
		{"now there", ScanOptions{Role: RoleUser}, []string{"8 user"}},
		{"pump", ScanOptions{Role: RoleAssistant}, []string{"2 assistant"}},
		{"pump", ScanOptions{Role: RoleTool}, []string{"6 tool", "3 tool"}},
		{"pump", ScanOptions{Limit: 2}, []string{"6 tool", "5 summary"}},
		{"pump", ScanOptions{Since: time.Unix(1767225603, 0), Until: time.Unix(1767225605, 0)}, []string{"4 custom", "3 tool"}},
		{`c:\x/y`, ScanOptions{}, []string{"2 assistant"}},
		{`\`, ScanOptions{}, []string{"2 assistant"}},
		{`"`, ScanOptions{}, []string{"2 assistant"}},
		{"\"\nline\"", ScanOptions{}, []string{"2 assistant"}},
		{`"pump c:"`, ScanOptions{}, []string{"2 assistant"}},
		{"CAFÉ", ScanOptions{}, []string{"3 tool"}},
		{"🌱 정", ScanOptions{}, []string{"3 tool"}},
		{"thinking", ScanOptions{}, nil},
		{"", ScanOptions{Limit: 1}, []string{"8 user"}},
	}
	for _, tt := range tests {
		t.Run(tt.query+" "+string(tt.opt.Role), func(t *testing.T) {
			hits, failed := scanPaths(t, tt.query, tt.opt, path)
			var got []string
			for _, h := range hits {
				got = append(got, h.EntryID+" "+h.Role)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || failed != nil {
				t.Errorf("Scan(%q) failed %v (-want +got):\n%s", tt.query, failed, diff)
			}
		})
	}
}

func TestScanOfAFileThatIsGone(t *testing.T) {
	path := writeTranscript(t, message("1", "user", `"here"`))
	hits, failed := scanPaths(t, "here", ScanOptions{}, path+".gone", path, t.TempDir())
	if len(hits) != 1 || hits[0].Line != 1 || len(failed) != 2 || !errors.Is(failed[0].Err, fs.ErrNotExist) {
		t.Errorf("Scan = %v, %v; want one hit and two files that failed", hits, failed)
	}
}

func TestScanOfDamagedAndLongLines(t *testing.T) {
	long := strings.Repeat("x", 17<<20)
	path := writeTranscript(t,
		message("1", "user", `"one needle"`),
		`{"torn`+message("2", "user", `"two needle"`),
		"{\"type\":\"message\",\n\"id\":\"3\",\"timestamp\":\"2026-01-01T00:00:03.000Z\",\"message\":{\"role\":\"user\",\"content\":\"three needle\"}}",
		"",
		message("4", "user", `"`+long+` four Needle"`),
		"  "+message("5", "user", `"five needle"`)+"\r",
	)
	hits, failed := scanPaths(t, "needle", ScanOptions{}, path)
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprint(h.EntryID, " ", h.Line))
	}
	if diff := cmp.Diff([]string{"5 7", "4 6", "3 3", "2 2", "1 1"}, got); diff != "" || failed != nil {
		t.Errorf("Scan, failed %v (-want +got):\n%s", failed, diff)
	}
	_, failed = scanPaths(t, "needle", ScanOptions{MaxLine: 1 << 20}, path)
	if len(failed) != 1 {
		t.Errorf("Scan with a line too long: failed %v, want one", failed)
	}
}

func TestEqualTextsAreScannedOnce(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, message(fmt.Sprint(i%10), "user", fmt.Sprintf(`"again %d"`, i%150)))
	}
	hits, _ := scanPaths(t, "again", ScanOptions{Limit: 10}, writeTranscript(t, lines...))
	if len(hits) != 10 || hits[0].Time.Second() != 9 || hits[9].Time.Second() != 9 {
		t.Errorf("Scan = %d hits, %v", len(hits), hits)
	}
}

// scanNaive reads every record and folds every text.
func scanNaive(data []byte, q Query) []string {
	var got []string
	for rec, err := range jsonl.Read(context.Background(), bytes.NewReader(data), jsonl.ReadOptions{}) {
		if err != nil {
			break
		}
		if role := textRole(rec.Fields); role == "" || rec.Fields.Type.Equal("entry_patch") {
			continue
		}
		text := string(appendTexts(nil, rec.Fields, rec.Raw))
		if ok, _ := q.MatchText(text, nil); ok && text != "" && !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	slices.Sort(got)
	return got
}

func checkScan(t interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
}, dir string, data []byte, query string) {
	t.Helper()
	if bytes.Contains(data, []byte("entry_patch")) {
		return
	}
	path := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	hits, _ := scanPaths(t, query, ScanOptions{}, path)
	var got []string
	for _, h := range hits {
		got = append(got, h.Text)
	}
	slices.Sort(got)
	if diff := cmp.Diff(scanNaive(data, ParseQuery(query)), got); diff != "" {
		t.Errorf("Scan(%+q) in %+q (-want +got):\n%s", query, data, diff)
	}
}

// writeLiteral spells text as a JSON string in one of many ways.
func writeLiteral(t *rapid.T, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch way := rapid.IntRange(0, 7).Draw(t, "way"); {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '/' && way < 4:
			b.WriteString(`\/`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || way == 0:
			if r > 0xFFFF {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xD800+r>>10, 0xDC00+r&0x3FF)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		case way == 1:
			b.WriteString(norm.NFD.String(string(r)))
		case way == 2:
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func TestScanEqualsTheRuleOverAllTexts(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(oddTexts(), 1, 12).Draw(rt, "texts")
		var data strings.Builder
		for i, text := range texts {
			content := writeLiteral(rt, text)
			if i%3 == 1 {
				content = `[{"type":"text","text":` + content + `},{"type":"text","text":` + writeLiteral(rt, texts[0]) + `}]`
			}
			data.WriteString(message("1", []string{"user", "assistant", "toolResult"}[i%3], content) + "\n")
		}
		for range 4 {
			checkScan(rt, dir, []byte(data.String()), oddQueries(texts).Draw(rt, "query"))
		}
	})
}

func FuzzScanAgainstNaive(f *testing.F) {
	f.Add("", "")
	f.Add(message("1", "user", `"Caf\u0065\u0301 \ud83c\udf31 x"`), "cafe")
	f.Add(message("1", "user", `"K Ｋ \u212a k"`)+"\n"+message("2", "user", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), `"a b"`)
	f.Add(message("1", "user", `"e\u0323\u0302 ё ß \ud83c x"`), "е ss")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data, query string) {
		text := query
		if utf8.ValidString(text) && !strings.ContainsAny(text, "\"\\\n") {
			data += "\n" + message("9", "user", `"`+strings.ToUpper(strings.Map(printable, text))+`"`)
		}
		checkScan(t, dir, []byte(data), query)
	})
}

func printable(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// U+0CC8 is a mark, which is dropped after a Latin letter, and another one.
func TestScanFindsARuneThatLosesAMark(t *testing.T) {
	checkScan(t, t.TempDir(), []byte(message("1", "user", `"Iᄀиaೈ"`)+"\n"+message("1", "user", "\"иa\u0cc8\"")+"\n"), "\"Иa\u0cc8\"")
}

func TestVariantsAreAllRunesThatAreNotTheirFold(t *testing.T) {
	known := newRuneSet()
	for _, v := range variants() {
		known.add(v.r)
	}
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 || isMark(r) {
			continue
		}
		after := "a" + string(r) // where a mark that r begins with is dropped
		if want := string(Fold(nil, string(r))) != string(r) || string(Fold(nil, after)) != after; want != known.has(r) {
			t.Errorf("variant %U = %v, want %v", r, known.has(r), want)
		}
	}
}
