package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// got is what a test sees of a reading.
type got struct {
	Records []string // line@offset-end raw
	Reports []string // line reason count
}

func readAll(t testing.TB, r io.Reader, opt ReadOptions) got {
	t.Helper()
	var g got
	opt.Report = func(l LineReport) {
		s := fmt.Sprintf("%d %s", l.Line, l.Reason)
		if l.Recovered > 0 {
			s += fmt.Sprintf(" %d", l.Recovered)
		}
		g.Reports = append(g.Reports, s)
	}
	for rec, err := range Read(context.Background(), r, opt) {
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		g.Records = append(g.Records, fmt.Sprintf("%d@%d-%d %s", rec.Line, rec.Offset, rec.End, rec.Raw))
	}
	return g
}

// rec is a record of the smallest shape that recovery takes.
func rec(id string) string { return `{"type":"","timestamp":"","a":"` + id + `"}` }

func TestReadIsLenient(t *testing.T) {
	a, b := rec("a"), rec("b")
	tests := []struct {
		name, in string
		want     got
	}{
		{"empty", "", got{}},
		{"blank lines count", "\n \t\r\n" + a + "\n", got{Records: []string{"3@5-40 " + a}}},
		{"no final line end", a, got{Records: []string{"1@0-34 " + a}}},
		{"CRLF", a + "\r\n" + b + "\r\n", got{Records: []string{"1@0-36 " + a, "2@36-72 " + b}}},
		{"byte order mark", "\xef\xbb\xbf" + a + "\n", got{Records: []string{"1@3-38 " + a}}},
		{"byte order mark on line 2", a + "\n\xef\xbb\xbf" + b + "\n", got{
			[]string{"1@0-35 " + a, "2@38-73 " + b}, []string{"2 recovered 1"}}},
		{"a value over lines", "{\n \"k\":1\n}\n" + a, got{Records: []string{"1@0-11 {\n \"k\":1\n}", "4@11-45 " + a}}},
		{"objects of any shape that stand alone", `{"k":1}` + "\n{}\n", got{Records: []string{`1@0-8 {"k":1}`, "2@8-11 {}"}}},
		{"text behind a value is ignored", a + ", x\n", got{Records: []string{"1@0-38 " + a}}},
		{"objects behind a value only of record shape", a + `{"k":1}` + b + "\n", got{
			[]string{"1@0-34 " + a, "1@41-76 " + b}, []string{"1 recovered 2"}}},
		{"scalars, arrays and null", "1\n\"x\"\nnull\n[1,\n2]\n" + a, got{
			[]string{"6@18-52 " + a}, []string{"1 not_object", "2 not_object", "3 not_object", "4 not_object"}}},
		{"torn tail", a + "\n{\"type\":\"x", got{[]string{"1@0-35 " + a}, []string{"2 truncated_tail"}}},
		{"a torn record that waits for a value, then a record", `{"k":` + "\n" + a + "\n", got{
			[]string{"2@6-41 " + a}, []string{"1 not_json"}}},
		{"an open array, then a record", "[\n" + a + "\n" + b + "\n", got{
			[]string{"2@2-37 " + a, "3@37-72 " + b}, []string{"1 not_json"}}},
		{"glued", a + b + "\n", got{[]string{"1@0-34 " + a, "1@34-69 " + b}, []string{"1 recovered 2"}}},
		{"CR only", a + "\r" + b, got{[]string{"1@0-34 " + a, "1@35-69 " + b}, []string{"1 recovered 2"}}},
		{"torn in a string", `{"type":"x","k":"so` + a + "\n", got{[]string{"1@19-54 " + a}, []string{"1 recovered 1"}}},
		{"torn in an escape", `{"type":"x","k":"so\` + a + "\n", got{[]string{"1@20-55 " + a}, []string{"1 recovered 1"}}},
		{"torn in a hex escape", `{"type":"x","k":"so\u00` + a + "\n", got{[]string{"1@23-58 " + a}, []string{"1 recovered 1"}}},
		{"torn in a key", `{"type":"x","k` + a + "\n", got{[]string{"1@14-49 " + a}, []string{"1 recovered 1"}}},
		{"torn before a value", `{"type":"x","k":[` + a + b + "\n", got{
			[]string{"1@17-51 " + a, "1@51-86 " + b}, []string{"1 recovered 2"}}},
		{"torn in a word", `{"k":tr` + a + "\n", got{[]string{"1@7-42 " + a}, []string{"1 recovered 1"}}},
		{"an object inside a torn record is its own", `{"k":` + a + `,"l":"torn` + b + "\n", got{
			[]string{"1@49-84 " + b}, []string{"1 recovered 1"}}},
		{"only NULs", "\x00\x00 \x00\n" + a, got{[]string{"2@5-39 " + a}, []string{"1 nul"}}},
		{"NULs before", "\x00\x00" + a + "\n", got{[]string{"1@2-37 " + a}, []string{"1 recovered 1"}}},
		{"NULs behind", a + "\x00\x00\n", got{[]string{"1@0-37 " + a}, []string{"1 recovered 1"}}},
		{"a header patch behind garbage", `}{"type":"header_patch","patch":{"title":"x"}}`, got{
			[]string{`1@1-46 {"type":"header_patch","patch":{"title":"x"}}`}, []string{"1 recovered 1"}}},
		{"the tail of a record", `Ym", "id":"zz"}` + "\n", got{nil, []string{"1 not_json"}}},
		{"a tail that begins with a string", `"x"},"id":"zz"}` + a + "\n", got{[]string{"1@15-50 " + a}, []string{"1 recovered 1"}}},
		{"a control character in a string", "{\"k\":\"\x01\"}\n", got{nil, []string{"1 not_json"}}},
		{"no border inside a string", `{"type":"x","timestamp":"t","k":"}{` + strings.ReplaceAll(a, `"`, `\"`) + `"}`,
			got{Records: []string{`1@0-83 {"type":"x","timestamp":"t","k":"}{` + strings.ReplaceAll(a, `"`, `\"`) + `"}`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readAll(t, strings.NewReader(tt.in), ReadOptions{})); diff != "" {
				t.Errorf("Read(%q) (-want +got):\n%s", tt.in, diff)
			}
			slow := iotest.OneByteReader(strings.NewReader(tt.in))
			if diff := cmp.Diff(tt.want, readAll(t, slow, ReadOptions{})); diff != "" {
				t.Errorf("Read(%q) byte by byte (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestReadLimitsLines(t *testing.T) {
	a := rec("a") // 34 bytes
	tests := []struct {
		name string
		max  int64
		in   string
		want got
	}{
		{"at the limit", 34, a + "\n" + a, got{Records: []string{"1@0-35 " + a, "2@35-69 " + a}}},
		{"one past it", 33, a + "\n{}\n" + a, got{[]string{"2@35-38 {}"}, []string{"1 too_long", "3 too_long"}}},
		{"a CR counts", 34, a + "\r\n{}", got{[]string{"2@36-38 {}"}, []string{"1 too_long"}}},
		{"a value over lines ends at a line too long", 5, "[1,\n" + a + "\n{}", got{
			[]string{"3@39-41 {}"}, []string{"1 not_json", "2 too_long"}}},
		{"UTF-16 counts as it stands in the file", 68, "\xff\xfe" + toUTF16(a+"\n"+a+" \n{}"), got{
			[]string{"1@2-72 " + a, "3@144-148 {}"}, []string{"2 too_long"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readAll(t, strings.NewReader(tt.in), ReadOptions{MaxLine: tt.max})); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
		})
	}
}

func toUTF16(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

func TestReadSkipsLongLinesInBoundedMemory(t *testing.T) {
	long := io.LimitReader(zeros{}, 64<<20)
	r := io.MultiReader(strings.NewReader("{}\n"), long, strings.NewReader("\n{}\n"))
	var before, after uint64
	before = heapUse()
	g := readAll(t, r, ReadOptions{MaxLine: 1 << 20})
	after = heapUse()
	want := got{[]string{"1@0-3 {}", "3@67108868-67108871 {}"}, []string{"2 too_long"}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
	if after-before > 16<<20 {
		t.Errorf("Read allocated %d bytes for a limit of 1 MiB", after-before)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'z'
	}
	return len(p), nil
}

// TestReadIsLinear reads files that cost a walk over the rest for each line if
// the reader does not remember failures; they would take hours.
func TestReadIsLinear(t *testing.T) {
	tests := []struct{ name, line string }{
		{"open arrays", "[\n"},
		{"open objects", "{\"k\":\n"},
		{"torn records", `{"type":"message","id":"x","message":{"content":[` + "\n"},
		{"open arrays with values", "[[1],\n"},
		{"braces", strings.Repeat("{", 50) + "\n"},
		{"pretty arrays that close", "[\n1\n],\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.Repeat(tt.line, 200_000) + rec("a") + "\n" + rec("b") + "\n"
			g := readAll(t, strings.NewReader(in), ReadOptions{})
			if len(g.Records) != 2 {
				t.Errorf("Read gave %d records, want 2", len(g.Records))
			}
		})
	}
	t.Run("one line of stubs", func(t *testing.T) {
		for _, stub := range []string{`{"a":"`, `{"a`, `{`, `{"k":[`, `{   "`, `{ `, `[`, `"{`, `{"a":{"b":1}`} {
			in := strings.Repeat(stub, 200_000) + rec("a")
			readAll(t, strings.NewReader(in), ReadOptions{})
		}
	})
}

func TestReadReportsErrorsOfTheReader(t *testing.T) {
	r := io.MultiReader(strings.NewReader("{}\n[\n"), iotest.ErrReader(io.ErrClosedPipe))
	var n int
	var last error
	for _, err := range Read(context.Background(), r, ReadOptions{}) {
		if last = err; err == nil {
			n++
		}
	}
	if n != 1 || last != io.ErrClosedPipe {
		t.Errorf("Read gave %d records and %v, want 1 and %v", n, last, io.ErrClosedPipe)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range Read(ctx, strings.NewReader("{}\n"), ReadOptions{}) {
		last = err
	}
	if last != context.Canceled {
		t.Errorf("Read with an ended context gave %v", last)
	}
}

func TestReadStopsWhenItsCallerDoes(t *testing.T) {
	for range Read(context.Background(), iotest.DataErrReader(iotest.TimeoutReader(strings.NewReader("{}\n{}\n"))), ReadOptions{}) {
		break
	}
	for range Read(context.Background(), &dataAndError{}, ReadOptions{}) {
		break
	}
}

// dataAndError gives a line and an error at once.
type dataAndError struct{}

func (*dataAndError) Read(p []byte) (int, error) { return copy(p, "{}\n"), io.ErrClosedPipe }

func TestReadTakesVeryLongLines(t *testing.T) {
	text := strings.Repeat("x", 17<<20)
	in := head + msg("a", "", "user", text) + strings.Replace(msg("b", "a", "user", text), "xx", "\xff", 1) + "{\n" + msg("c", "b", "user", text)[1:]
	tr, err := parse(t, in)
	if err != nil || len(tr.Records) != 3 || len(tr.Malformed) > 0 {
		t.Errorf("ParseTranscript gave %d records, malformed %v, %v; want 3", len(tr.Records), tr.Malformed, err)
	}
}

// resumed checks that reading from any record's offset gives the rest.
func resumed(t *testing.T, data []byte) {
	t.Helper()
	type place struct {
		Line        int
		Offset, End int64
		Raw         string
		Terminated  bool
	}
	read := func(opt ReadOptions) (all []place) {
		for r, err := range Read(context.Background(), bytes.NewReader(data[opt.Offset:]), opt) {
			if err != nil {
				t.Fatalf("Read: %v", err)
			}
			all = append(all, place{r.Line, r.Offset, r.End, string(r.Raw), r.Terminated})
		}
		return all
	}
	var end ReadEnd
	all := read(ReadOptions{End: &end})
	if end.Size != int64(len(data)) {
		t.Fatalf("the file of %d bytes ends at %d", len(data), end.Size)
	}
	var at int64
	for i, p := range all {
		if p.Offset < at || p.End < p.Offset || p.End > end.Size {
			t.Fatalf("record %d lies at %d to %d behind %d", i, p.Offset, p.End, at)
		}
		at = p.End
		if i > 40 {
			continue
		}
		if diff := cmp.Diff(all[i:], read(ReadOptions{Offset: p.Offset, FirstLine: p.Line, UTF16: end.UTF16})); diff != "" && p.Offset > 0 {
			t.Fatalf("Read from %d (-whole +resumed):\n%s", p.Offset, diff)
		}
		if !p.Terminated {
			continue
		}
		line := p.Line + bytes.Count([]byte(p.Raw), []byte("\n")) + 1
		if diff := cmp.Diff(all[i+1:], read(ReadOptions{Offset: p.End, FirstLine: line, UTF16: end.UTF16})); diff != "" && i+1 < len(all) {
			t.Fatalf("Read from the end %d (-whole +resumed):\n%s", p.End, diff)
		}
	}
}

func FuzzRead(f *testing.F) {
	a := rec("a")
	for _, s := range []string{
		a + "\n" + a, a + a, "[\n" + a + "\n{\n}\n", "{\"a\":\"" + a + "\n", "\xff\xfe" + toUTF16(a+"\n"+a) + "x", "\xef\xbb\xbf" + a,
		"\x00" + a + "\x00\n", "[[1],\n[2]\n{}", "{\n\"a\":[\n{}\n],\"b\":\"\\ud800\"}x" + a, "[\n[\n]\n,\n{\n}\n{\n}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { resumed(t, data) })
}
