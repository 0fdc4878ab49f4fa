package export

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/gajae-code/gjc-index/storage"
)

// The lines that nothing is suspected in are copied, the others made: together
// they are what comes out if every line is read.
func TestSuspectLinesAloneAreReadAndTheArchiveIsTheSame(t *testing.T) {
	texts := []string{"plain words", "sk-" + strings.Repeat("EXAMPLE0fake1", 3), `say \"hi\"\nthere`, `password: \"hunter2\"`, `gh\np_` + strings.Repeat("EXAMPLE0fake1", 3), "한글 \\u00e9"}
	ends := []string{"\n", "\n", "\n", "\r\n", " \n", "\n\n", "", "\ntorn {\"\n", "\n\x00\n"}
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		b.WriteString(`{"type":"session","version":5,"id":"two","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo"}` + "\n")
		for i := range rapid.IntRange(0, 8).Draw(r, "lines") {
			text := rapid.SampledFrom(texts).Draw(r, "text")
			fmt.Fprintf(&b, `{"type":"message","id":"m%d","parentId":null,"message":{"role":"user","content":"%s"}}%s`, i, text, rapid.SampledFrom(ends).Draw(r, "end"))
		}
		var outs [2]map[string]string
		for i, suspect := range []func([]byte) bool{redact.Suspect, nil} {
			m := storage.NewMemory()
			put(t, m, "/s/b.jsonl", b.String())
			var out strings.Builder
			rep, err := WriteArchive(context.Background(), &out, m, []Source{{ID: "two", Cwd: "/proj/demo", Path: "/s/b.jsonl"}}, ArchiveOptions{Redact: redact.Count, Suspect: suspect})
			if err != nil {
				r.Fatal(err)
			}
			outs[i] = unpack(t, []byte(out.String()))
			outs[i]["secrets"] = fmt.Sprint(rep.Secrets, rep.Damaged)
		}
		if diff := cmp.Diff(outs[1], outs[0]); diff != "" {
			r.Fatalf("of %q (-every line +suspect ones):\n%s", b.String(), diff)
		}
	})
}

// A file in which nearly all is redacted is more than what is kept of one.
func TestMuchThatIsRedactedIsMadeTwice(t *testing.T) {
	line := `{"type":"message","id":"m","parentId":null,"message":{"role":"user","content":"sk-EXAMPLE0fake1EXAMPLE0fake1 ` + strings.Repeat("x y ", 1000) + `"}}` + "\n"
	text := `{"type":"session","version":5,"id":"two","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo"}` + "\n" + strings.Repeat(line, spoolBytes/len(line)+10)
	m := storage.NewMemory()
	put(t, m, "/s/b.jsonl", text)
	var out strings.Builder
	if _, err := WriteArchive(context.Background(), &out, m, []Source{{ID: "two", Path: "/s/b.jsonl"}}, ArchiveOptions{Redact: redact.Count, Suspect: redact.Suspect}); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(text, "sk-EXAMPLE0fake1EXAMPLE0fake1", redact.Mark)
	if got := unpack(t, []byte(out.String()))["sessions/0001/b.jsonl"]; got != want {
		t.Errorf("the transcript has %d bytes, want %d without their secrets", len(got), len(want))
	}
}

func BenchmarkRedactedLines(b *testing.B) {
	line := `{"type":"message","id":"1a2b3c4d","parentId":"0a1b2c3d","timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"toolResult","content":[{"type":"text","text":"` + strings.Repeat(`func next(tok token) error {\n\treturn io.EOF // see https://example.org/a\n}\n`, 30) + `"}]}}` + "\n"
	m := storage.NewMemory()
	text := `{"type":"session","version":5,"id":"two","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo"}` + "\n" + strings.Repeat(line, 4000)
	if err := storage.MkdirAll(m, "/s"); err != nil {
		b.Fatal(err)
	}
	if err := storage.Publish(context.Background(), m, "/s/b.jsonl", 0o600, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := WriteLines(context.Background(), io.Discard, m, "/s/b.jsonl", LinesOptions{Redact: redact.Count, Suspect: redact.Suspect}); err != nil {
			b.Fatal(err)
		}
	}
}
