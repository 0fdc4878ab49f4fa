package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"pgregory.net/rapid"
)

// parse reads the lines of a transcript's entries.
func parse(t testing.TB, lines ...string) []*jsonl.Entry {
	t.Helper()
	entries := jsonl.ParseText(strings.Join(lines, "\n") + "\n")
	if len(entries) != len(lines) {
		t.Fatalf("%d entries of %d lines", len(entries), len(lines))
	}
	return entries
}

// world draws the entries of a transcript.
type world struct {
	t       *rapid.T
	lines   []string
	ids     []string
	leaf    string
	prefix  string // of new ids
	calls   []string
	answers []string
}

func drawWorld(t *rapid.T, most int) *world {
	w := &world{t: t}
	for n := rapid.IntRange(1, most).Draw(t, "entries"); n > 0; n-- {
		w.step()
	}
	return w
}

func (w *world) pick(name string, from []string) string {
	if len(from) == 0 {
		return "none"
	}
	return rapid.SampledFrom(from).Draw(w.t, name)
}

// add writes an entry below the leaf, or now and then below another one.
func (w *world) add(kind, rest string) string {
	id := fmt.Sprintf("%se%d", w.prefix, len(w.ids))
	if len(w.ids) > 0 && rapid.IntRange(0, 7).Draw(w.t, "branch") == 0 {
		w.leaf = w.pick("from", w.ids)
	}
	parent := "null"
	if w.leaf != "" {
		parent = `"` + w.leaf + `"`
	}
	hour := len(w.ids) * 5
	stamp := fmt.Sprintf("2026-03-%02dT%02d:00:00.000Z", 27+hour/24%4, hour%24)
	w.lines = append(w.lines, fmt.Sprintf(`{"type":"%s","id":"%s","parentId":%s,"timestamp":"%s"%s}`, kind, id, parent, stamp, rest))
	w.ids = append(w.ids, id)
	w.leaf = id
	return id
}

func (w *world) custom(d jsonl.CustomData) {
	w.add("custom", fmt.Sprintf(`,"customType":"%s","data":%s`, d.Kind(), jsonl.ObjectValue(d.Data()).JSON()))
}

func (w *world) step() {
	word := rapid.SampledFrom([]string{"x", "y", "z"})
	switch rapid.IntRange(0, 15).Draw(w.t, "step") {
	case 0, 1:
		w.add("message", `,"message":{"role":"user","content":"`+word.Draw(w.t, "text")+`"}`)
	case 2, 3, 4:
		w.answer()
	case 5, 6:
		w.result()
	case 7, 8:
		w.usage()
	case 9:
		if len(w.ids) > 0 {
			w.add("compaction", fmt.Sprintf(`,"summary":"s","firstKeptEntryId":"%s","tokensBefore":1`, w.pick("kept", w.ids)))
		}
	case 10:
		w.add("label", fmt.Sprintf(`,"targetId":"%s","label":"%s"`, w.pick("target", w.ids), rapid.SampledFrom([]string{"", "l", "m"}).Draw(w.t, "label")))
	case 11:
		w.add("model_change", fmt.Sprintf(`,"model":"p/%s","role":"%s"`, word.Draw(w.t, "model"), rapid.SampledFrom([]string{"default", "plan"}).Draw(w.t, "role")))
	case 12:
		w.add("thinking_level_change", `,"thinkingLevel":"`+word.Draw(w.t, "level")+`"`)
	case 13:
		w.custom(&jsonl.Steering{ID: word.Draw(w.t, "steering"), Text: "t", State: rapid.SampledFrom([]string{"sent", "acknowledged"}).Draw(w.t, "state")})
	case 14:
		w.add("custom_message", `,"customType":"note","content":"c","display":true`)
	case 15:
		w.add("mcp_tool_selection", `,"selectedToolNames":["`+word.Draw(w.t, "tool")+`"]`)
	}
}

func (w *world) answer() {
	call := fmt.Sprintf("c%d", len(w.ids))
	usage := rapid.SampledFrom([]string{
		``, `,"usage":{"input":"5","output":1,"cacheRead":0,"cacheWrite":0}`,
		`,"usage":{"input":10,"output":2,"cacheRead":1,"cacheWrite":0,"premiumRequests":1}`,
		`,"usage":{"input":7,"output":3,"cacheRead":0,"cacheWrite":2,"cost":{"total":0.1}}`,
		`,"usage":{"input":7,"output":3,"cacheRead":0,"cacheWrite":2,"cost":{"total":0.7000001}},"stopReason":"aborted"`,
	}).Draw(w.t, "usage")
	tool := rapid.SampledFrom([]string{"write", "bash", "edit"}).Draw(w.t, "tool")
	id := w.add("message", fmt.Sprintf(`,"message":{"role":"assistant","provider":"p","model":"%s","content":[{"type":"toolCall","id":"%s","name":"%s","arguments":{"path":"/f%d"}}]%s}`,
		rapid.SampledFrom([]string{"m", "n"}).Draw(w.t, "model"), call, tool, len(w.ids)%5, usage))
	w.calls = append(w.calls, call)
	w.answers = append(w.answers, id)
}

func (w *world) result() {
	details := rapid.SampledFrom([]string{
		``, `,"details":{"diff":"+x"}`, `,"details":{"op":"delete","path":"/gone"}`,
		`,"details":{"mutations":[{"op":"rename","path":"/a","to":"/b"},{"op":"create","path":"/c"}]}`,
	}).Draw(w.t, "details")
	call := w.pick("call", w.calls)
	w.calls = slices.DeleteFunc(w.calls, func(c string) bool { return c == call }) // a call has one result
	w.add("message", fmt.Sprintf(`,"message":{"role":"toolResult","toolCallId":"%s","toolName":"%s","content":[],"isError":%v%s}`,
		call, rapid.SampledFrom([]string{"write", "bash", "edit", "read"}).Draw(w.t, "tool"),
		rapid.Bool().Draw(w.t, "failed"), details))
}

func (w *world) usage() {
	u := &jsonl.UsageRecord{
		Request:  rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}).Draw(w.t, "request"),
		State:    rapid.SampledFrom([]string{"partial", "final", "final", "aborted", "error"}).Draw(w.t, "state"),
		Provider: "p", Model: "m",
		Input: float64(rapid.IntRange(0, 9).Draw(w.t, "input")),
	}
	if rapid.Bool().Draw(w.t, "named") && len(w.answers) > 0 {
		u.EntryID = w.pick("answer", w.answers)
	}
	if rapid.Bool().Draw(w.t, "priced") {
		cost := 0.3
		u.Cost = &cost
	}
	w.custom(u)
}

// asEntry is a checkpoint as it is read again.
func asEntry(t testing.TB, d jsonl.CustomData) *jsonl.Entry {
	t.Helper()
	line := jsonl.ObjectValue(jsonl.DataEntry(jsonl.Base{ID: "cp-" + d.Kind(), Timestamp: "2026-04-01T00:00:00.000Z"}, d)).JSON()
	return parse(t, line)[0]
}
