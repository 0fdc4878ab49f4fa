package checkpoint

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/jsonl"
)

// A node made of a record's fields is the node of its entry.
func TestNodesOfRecordsAreThoseOfEntries(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lines := append(drawWorld(r, 30).lines, `{"type":"message","id":7,"message":{"role":"assist\u0061nt"}}`, `{"type":"message","message":{}}`, `{"type":"message","id":"\u0061","message":"x"}`)
		var maker NodeMaker
		for rec, err := range jsonl.Read(t.Context(), strings.NewReader(strings.Join(lines, "\n")), jsonl.ReadOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			got, _ := maker.Node(&rec)
			want := NodeOf(jsonl.ParseText(string(rec.Raw))[0])
			gf, gotFact := got.usage()
			wf, wantFact := want.usage()
			same := got.FirstKept() == want.FirstKept() && gotFact == wantFact && gf == wf && len(got.open()) == len(want.open())
			got.said, want.said = nil, nil
			if got != want || !same {
				r.Fatalf("%s\nof the record %+v\nof the entry %+v", rec.Raw, got, want)
			}
		}
	})
}
