package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSummaryAgreesWithTheFaultCases compares what reading alone can tell.
func TestSummaryAgreesWithTheFaultCases(t *testing.T) {
	paths, err := filepath.Glob("../testdata/faults/*/expect.json")
	if err != nil || len(paths) < 20 {
		t.Fatalf("found %d expect.json, %v: are the cases there?", len(paths), err)
	}
	for _, path := range paths {
		for _, m := range readRecorded(t, path).Obj().Members() {
			file := filepath.Join(filepath.Dir(path), m.Key)
			if !m.Value.Get("state").Is(String) || !exists(file) {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(path))+"/"+m.Key, func(t *testing.T) {
				compareSummary(t, file, m.Value)
			})
		}
	}
}

func compareSummary(t *testing.T, file string, expect Value) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	limit := int64(expect.Get("line_limit_bytes").Num())
	tr, err := ParseTranscript(t.Context(), f, LoadOptions{MaxLine: limit})
	if tr == nil {
		t.Fatalf("ParseTranscript(%s): %v", file, err)
	}
	if (err == nil) != (tr.State == StateOK) {
		t.Errorf("ParseTranscript(%s) = %s with error %v", file, tr.State, err)
	}
	var tree []Warning
	if err == nil {
		tr.Upgrade(nil)
		tree = tr.Tree(true).Warnings()
	}
	got := tr.Summary(tree...).Value()
	for _, m := range got.Members() {
		want := expect.Get(m.Key)
		if want.Is(Absent) || (m.Key == "cwd" && strings.Contains(file, "B012")) {
			continue // B012's file has another cwd than its expect.json says
		}
		if diff := cmp.Diff(want.JSON(), m.Value.JSON()); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", m.Key, file, diff)
		}
	}
}
