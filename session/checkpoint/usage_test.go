package checkpoint

import (
	"slices"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCheckpointsAndSuffixEqualTheWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawWorld(r, 40)
		entries := parse(t, w.lines...)
		opt := UsageOptions{Origin: "s1"}
		cut := rapid.IntRange(0, len(entries)).Draw(r, "cut")
		usage, stay := CutUsage(entries[:cut], entries[cut:], opt)
		suffix := append(append([]*jsonl.Entry{asEntry(t, usage)}, stay...), entries[cut:]...)
		if diff := cmp.Diff(FoldUsage(entries, opt).Totals(), FoldUsage(suffix, opt).Totals()); diff != "" {
			r.Errorf("usage (-whole +cut at %d):\n%s", cut, diff)
		}
		effects := FoldEffects(nil, entries[:cut])
		got := FoldEffects(nil, append([]*jsonl.Entry{asEntry(t, effects)}, entries[cut:]...))
		want := FoldEffects(nil, entries)
		if diff := cmp.Diff(want.ExecutionEffects, got.ExecutionEffects); diff != "" {
			r.Errorf("effects (-whole +cut at %d):\n%s", cut, diff)
		}
		suffix = slices.Clone(entries[cut:])
		if c := CutTaskScope(entries[:cut], FoldTaskScope(nil, entries)); c != nil {
			suffix = append([]*jsonl.Entry{asEntry(t, c)}, suffix...)
		}
		scope := FoldTaskScope(nil, suffix)
		if diff := cmp.Diff(FoldTaskScope(nil, entries).Steering, scope.Steering); diff != "" {
			r.Errorf("steering (-whole +cut at %d):\n%s", cut, diff)
		}
		if err := scope.Check(false); err != nil {
			r.Errorf("Check: %v", err)
		}
	})
}

func answerLine(id, stamp, rest string) string {
	return `{"type":"message","id":"` + id + `","parentId":null,"timestamp":"` + stamp + `","message":{"role":"assistant","provider":"p","model":"m"` + rest + `}}`
}

func usageLine(request, state, entry, rest string) string {
	if entry != "" {
		entry = `,"entryId":"` + entry + `"`
	}
	return `{"type":"custom","customType":"gjc-index/usage","data":{"v":1,"request":"` + request + `","state":"` + state + `"` + entry +
		`,"provider":"p","model":"m",` + rest + `},"id":"u","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z"}`
}

const (
	t0    = "2026-03-01T00:00:00.000Z"
	ten   = `,"usage":{"input":10,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.5}}`
	three = `"input":3,"output":0,"cacheRead":0,"cacheWrite":0,"cost":0.25`
)

func price(p float64) *float64 { return &p }

func TestUsageTotal(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  Sum
	}{
		{"an answer's own usage is final", []string{answerLine("a", t0, ten)}, Sum{Input: 10, Cost: price(0.5), Requests: 1}},
		{"an answer without usage is incomplete, not free", []string{answerLine("a", t0, "")}, Sum{Requests: 1, Incomplete: 1}},
		{"an answer whose usage is damaged is incomplete", []string{answerLine("a", t0, `,"usage":{"input":"1","output":1,"cacheRead":0,"cacheWrite":0}`)}, Sum{Requests: 1, Incomplete: 1}},
		{"a negative count is damage", []string{answerLine("a", t0, `,"usage":{"input":-1,"output":1,"cacheRead":0,"cacheWrite":0}`)}, Sum{Requests: 1, Incomplete: 1}},
		{"an unknown price is not zero", []string{answerLine("a", t0, `,"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0}`)}, Sum{Input: 1, Output: 1, Requests: 1, Unpriced: 1}},
		{"an aborted answer is incomplete", []string{answerLine("a", t0, ten+`,"stopReason":"aborted"`)}, Sum{Input: 10, Cost: price(0.5), Requests: 1, Incomplete: 1}},
		{"a failed answer of zeros says nothing", []string{answerLine("a", t0, `,"stopReason":"error","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}}`)}, Sum{Requests: 1, Incomplete: 1}},
		{"a final record that names the answer replaces its usage", []string{answerLine("a", t0, ten), usageLine("r", "final", "a", three)}, Sum{Input: 3, Cost: price(0.25), Requests: 1}},
		{"a final record may come before its answer", []string{usageLine("r", "final", "a", three), answerLine("a", t0, ten)}, Sum{Input: 3, Cost: price(0.25), Requests: 1}},
		{"later snapshots replace earlier ones", []string{usageLine("r", "partial", "", `"input":1,"output":0,"cacheRead":0,"cacheWrite":0`), usageLine("r", "final", "", three)}, Sum{Input: 3, Cost: price(0.25), Requests: 1}},
		{"a partial record is finished by its answer", []string{usageLine("r", "partial", "a", three), answerLine("a", t0, ten)}, Sum{Input: 10, Cost: price(0.5), Requests: 1}},
		{"a request without a final record is incomplete", []string{usageLine("r", "aborted", "", three)}, Sum{Input: 3, Cost: price(0.25), Requests: 1, Incomplete: 1}},
		{"a partial record counts where its answer says nothing", []string{usageLine("r", "partial", "a", three), answerLine("a", t0, "")}, Sum{Input: 3, Cost: price(0.25), Requests: 1, Incomplete: 1}},
		{"a try that failed is a request of its own", []string{usageLine("r1", "error", "a", three), usageLine("r2", "final", "a", three), answerLine("a", t0, ten)}, Sum{Input: 6, Cost: price(0.5), Requests: 2, Incomplete: 1}},
		{"a record of a wrong shape is none", []string{usageLine("r", "done", "", three)}, Sum{}},
		{"user messages are no requests", []string{message("a", "null", "user")}, Sum{}},
		{"costs add up exactly", []string{answerLine("a", t0, `,"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.1}}`), answerLine("b", t0, `,"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.2}}`)}, Sum{Cost: price(0.3), Requests: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := FoldUsage(parse(t, tt.lines...), UsageOptions{}).Total()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Total (-want +got):\n%s", diff)
			}
		})
	}
}

// A patch has been applied by the time entries are folded: the case of an
// answer patched, one aborted and one without a price.
func TestUsageOfAPatchedTranscript(t *testing.T) {
	patched := parse(t, answerLine("p2", t0, ""))[0]
	message, err := jsonl.ParseString(`{"role":"assistant","provider":"p","model":"m","usage":{"input":100,"output":40,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.4}}}`)
	if err != nil {
		t.Fatal(err)
	}
	patched.SetMessage(message)
	entries := append([]*jsonl.Entry{patched}, parse(t,
		answerLine("p4", t0, `,"stopReason":"aborted"`),
		answerLine("p5", t0, `,"usage":{"input":7,"output":1,"cacheRead":0,"cacheWrite":0}`))...)
	want := Sum{Input: 107, Output: 41, Cost: price(0.4), Requests: 3, Incomplete: 1, Unpriced: 1}
	if diff := cmp.Diff(want, FoldUsage(entries, UsageOptions{}).Total()); diff != "" {
		t.Errorf("Total (-want +got):\n%s", diff)
	}
}

func TestDayOf(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	tests := []struct {
		name, stamp, want string
		zone              *time.Location
	}{
		{"utc", "2026-03-28T23:30:00.000Z", "2026-03-28", nil},
		{"an hour ahead in winter", "2026-03-28T22:59:59.999Z", "2026-03-28", berlin},
		{"the day of 23 hours begins", "2026-03-28T23:00:00.000Z", "2026-03-29", berlin},
		{"and ends an hour early", "2026-03-29T21:59:59.999Z", "2026-03-29", berlin},
		{"two hours ahead in summer", "2026-03-29T22:00:00.000Z", "2026-03-30", berlin},
		{"the day of 25 hours", "2026-10-25T22:59:59.999Z", "2026-10-25", berlin},
		{"after it", "2026-10-25T23:00:00.000Z", "2026-10-26", berlin},
		{"no time", "yesterday", "", berlin},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := DayOf(tt.stamp, tt.zone); got != tt.want {
				t.Errorf("DayOf(%q) = %q, want %q", tt.stamp, got, tt.want)
			}
		})
	}
}

func TestUsageByGroup(t *testing.T) {
	u := FoldUsage(parse(t, answerLine("a", t0, ten), answerLine("b", "2026-03-02T00:00:00.000Z", ten), answerLine("c", t0, "")), UsageOptions{Origin: "s"})
	want := []UsageTotal{
		{UsageGroup{"s", "2026-03-01", "p", "m"}, Sum{Input: 10, Cost: price(0.5), Requests: 2, Incomplete: 1}},
		{UsageGroup{"s", "2026-03-02", "p", "m"}, Sum{Input: 10, Cost: price(0.5), Requests: 1}},
	}
	if diff := cmp.Diff(want, u.Totals()); diff != "" {
		t.Errorf("Totals (-want +got):\n%s", diff)
	}
	by := u.By(func(g UsageGroup) string { return g.Model })
	if diff := cmp.Diff(map[string]Sum{"m": {Input: 20, Cost: price(1), Requests: 3, Incomplete: 1}}, by); diff != "" {
		t.Errorf("By (-want +got):\n%s", diff)
	}
}

func TestIdentityTellsAnswersApart(t *testing.T) {
	identity := func(line string) Identity {
		var f jsonl.Fields
		e := parse(t, line)[0]
		fieldsOf(&f, e)
		r, ok := ResponseOf(&f)
		if !ok {
			t.Fatalf("no answer: %s", line)
		}
		id, _ := e.ID()
		return IdentityOf(id, e.Timestamp(), r)
	}
	a := identity(answerLine("a", t0, ten))
	if a != identity(answerLine("a", t0, ten+`,"content":"copied by a fork"`)) {
		t.Error("a copy of an answer is another answer")
	}
	for _, other := range []string{answerLine("b", t0, ten), answerLine("a", "2026-03-01T00:00:01.000Z", ten), answerLine("a", t0, "")} {
		if a == identity(other) {
			t.Errorf("same identity: %s", other)
		}
	}
}

func TestWithoutCheckpoints(t *testing.T) {
	entries := parse(t, answerLine("a", t0, ten))
	u, _ := CutUsage(entries, nil, UsageOptions{Origin: "s"})
	both := append([]*jsonl.Entry{asEntry(t, u)}, entries...)
	if got := FoldUsage(WithoutCheckpoints(both), UsageOptions{}).Total().Requests; got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}
