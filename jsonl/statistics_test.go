package jsonl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUsageOfSkipsWhatIsMalformed(t *testing.T) {
	entries := parseEntries(t,
		`{"type":"message","message":{"role":"assistant","usage":{"input":3,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.5}}}}`,
		`{"type":"message","message":{"role":"assistant","usage":{"input":"5","output":1,"cacheRead":0,"cacheWrite":0}}}`,
		`{"type":"message","message":{"role":"assistant","usage":{"input":1,"output":1,"cacheRead":1,"cacheWrite":1,"premiumRequests":2}}}`,
		`{"type":"message","message":{"role":"toolResult","toolName":"task","details":{"usage":{"input":7,"output":7,"cacheRead":0,"cacheWrite":0,"cost":{"total":1}}}}}`,
		`{"type":"message","message":{"role":"toolResult","toolName":"read","details":{"usage":{"input":7,"output":7,"cacheRead":0,"cacheWrite":0}}}}`,
		`{"type":"message","message":{"role":"assistant","usage":{"input":-1,"output":1,"cacheRead":1,"cacheWrite":1}}}`,
		`{"type":"message","message":{"role":"assistant"}}`,
		userOne)
	want := `{"input":11,"output":10,"cacheRead":1,"cacheWrite":1,"premiumRequests":2,"cost":1.5}`
	if diff := cmp.Diff(want, UsageOf(entries).Value().JSON()); diff != "" {
		t.Errorf("UsageOf (-want +got):\n%s", diff)
	}
}
