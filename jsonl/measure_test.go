package jsonl

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inOrder can only be read in order.
type inOrder struct{ io.Reader }

// What is read of long lines does not depend on whether the source can be read
// at any place.
func TestLongLinesAreMeasured(t *testing.T) {
	long := strings.Repeat("x", 3*measuredLine)
	tail := strings.TrimSuffix(msg("a", "", "user", long), "\n")
	for _, tt := range []struct {
		name string
		text string
		max  int64
		want []LineReport
		recs int
	}{
		{"garbage past the limit", head + long + "\n" + tail, 3*measuredLine - 1, []LineReport{{Line: 2, Reason: TooLong}, {Line: 3, Reason: TooLong}}, 1},
		{"garbage of the limit", head + long + "\n" + msg("a", "", "user", "x"), 3 * measuredLine, []LineReport{{Line: 2, Reason: NotJSON}}, 2},
		{"a record of the limit", head + tail + "\n", int64(len(tail)), nil, 2},
		{"a record past the limit", head + tail + "\n", int64(len(tail)) - 1, []LineReport{{Line: 2, Reason: TooLong}}, 1},
		{"a limit below what is measured", head + tail + "\n", measuredLine / 2, []LineReport{{Line: 2, Reason: TooLong}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"in order": inOrder{strings.NewReader(tt.text)}, "anywhere": strings.NewReader(tt.text),
				"a section": io.NewSectionReader(strings.NewReader("before"+tt.text), 6, int64(len(tt.text))),
			} {
				var got []LineReport
				recs := 0
				for _, err := range Read(t.Context(), src, ReadOptions{MaxLine: tt.max, Report: func(r LineReport) { got = append(got, r) }}) {
					if err != nil {
						t.Fatal(err)
					}
					recs++
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || recs != tt.recs {
					t.Errorf("%s: %d records, want %d; reports (-want +got):\n%s", name, recs, tt.recs, diff)
				}
			}
		})
	}
}

func TestLinesPastTheLimitTakeNoMemory(t *testing.T) {
	text := `{"type":"session","version":5,"id":"s"}` + "\n" + strings.Repeat("x", 64<<20) + "\n" + msg("a", "", "user", "x")
	before := heapUse()
	tr, err := ParseTranscript(t.Context(), strings.NewReader(text), LoadOptions{MaxLine: 48 << 20})
	if err != nil || tr.MalformedTotal != 1 || len(tr.Records) != 1 {
		t.Fatalf("ParseTranscript: %+v, %v", tr, err)
	}
	if used := heapUse() - before; used > 6*measuredLine {
		t.Errorf("reading it took %d bytes, want at most %d", used, 6*measuredLine)
	}
}

// A file of nothing but bad lines takes little memory, and each is counted.
func TestReportsAreBounded(t *testing.T) {
	const bad = 500_000
	text := `{"type":"session","version":5,"id":"s"}` + "\n" + strings.Repeat("x\n", bad) +
		msg("a", "gone", "user", "x") + strings.Repeat("y\n", bad) + msg("b", "gone", "user", "x")
	before := heapUse()
	tr, err := ParseTranscript(t.Context(), strings.NewReader(text), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if used := heapUse() - before; used > 4<<20 {
		t.Errorf("reading %d bad lines took %d bytes, want at most 4 MiB", 2*bad, used)
	}
	if len(tr.Malformed) != MaxReports || tr.MalformedTotal != 2*bad {
		t.Errorf("%d of %d malformed lines are named, want %d of %d", len(tr.Malformed), tr.MalformedTotal, MaxReports, 2*bad)
	}
	// The second record's parent is missing where lines were lost that no report names.
	want := []Warning{{bad + 2, OrphanParent}, {2*bad + 3, BridgedParent}}
	if diff := cmp.Diff(want, tr.Tree(true).Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	s := tr.Summary().Value()
	if got := s.Get("malformedTotal").Num(); got != 2*bad || len(s.Get("malformed").Items()) != MaxReports {
		t.Errorf("the summary names %d and counts %v", len(s.Get("malformed").Items()), got)
	}
	if o := (Summary{}).Value(); o.Has("malformedTotal") || o.Has("recoveredTotal") {
		t.Error("a total is told where nothing was left out")
	}
}
