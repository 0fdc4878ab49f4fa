package checkpoint

import (
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// UsageOptions say how requests are grouped.
type UsageOptions struct {
	Origin string         // the session whose entries are folded
	Zone   *time.Location // in which days begin; nil is UTC, which checkpoints are kept in
}

// UsageFold sums up entries that are added one by one, in the order of the
// file. It keeps no entry.
//
// A request is told by its records (gjc-index/usage), of which the last one
// holds. An answer's own usage is the final record of its request, unless the
// last record of a request is final and names the answer. A request without a
// final record is counted with what is known of it, and as incomplete.
type UsageFold struct {
	opt      UsageOptions
	fields   jsonl.Fields
	kept     Usage // what checkpoints say
	answers  []answer
	requests map[string]*request
	order    []string // request names, each once
	held     []answer // see Hold

	named  map[string]bool // the answers that records name; nil: any may be
	direct Usage           // answers that are requests by themselves
}

// request is the last record of a request.
type request struct {
	answer string // id of the entry that answers it
	final  bool
	group  UsageGroup
	sum    Sum
}

// answer is a message of the assistant.
type answer struct {
	id        string
	timestamp string
	r         Response
}

// NewUsageFold begins a fold.
func NewUsageFold(opt UsageOptions) *UsageFold {
	return &UsageFold{opt: opt, requests: make(map[string]*request)}
}

// FoldUsage is the usage of all entries, checkpoints included.
func FoldUsage(entries []*jsonl.Entry, opt UsageOptions) *Usage {
	f := NewUsageFold(opt)
	for _, e := range entries {
		f.Add(e)
	}
	return f.Usage()
}

// Add takes the next entry.
func (f *UsageFold) Add(e *jsonl.Entry) {
	switch {
	case e.Role() == "assistant":
		f.answer(answerOf(&f.fields, e))
	case e.Type() == "custom":
		switch name, data := customOf(e); name {
		case jsonl.KindUsage:
			if d, ok := jsonl.ParseCustom(name, data); ok {
				f.record(d.(*jsonl.UsageRecord), e.Timestamp())
			}
		case jsonl.KindUsageCheckpoint:
			if u := readUsage(data); u != nil {
				f.kept.Add(u)
				f.answers = append(f.answers, u.open...)
			}
		}
	}
}

// answer takes an answer. One that no record names needn't be remembered.
func (f *UsageFold) answer(a answer) {
	if f.named == nil || f.named[a.id] {
		f.answers = append(f.answers, a)
		return
	}
	f.direct.add(f.group(a.timestamp, a.r.Provider, a.r.Model), a.r.sum())
}

func answerOf(f *jsonl.Fields, e *jsonl.Entry) answer {
	fieldsOf(f, e)
	id, _ := e.ID()
	r, _ := ResponseOf(f)
	return answer{id: id, timestamp: e.Timestamp(), r: r}
}

func (f *UsageFold) record(u *jsonl.UsageRecord, timestamp string) {
	q := f.requests[u.Request]
	if q == nil {
		q = &request{}
		f.requests[u.Request] = q
		f.order = append(f.order, u.Request)
	}
	if u.EntryID != "" {
		q.answer = u.EntryID
	}
	q.final = u.State == jsonl.UsageFinal
	q.group = f.group(timestamp, u.Provider, u.Model)
	q.sum = Sum{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Cost: u.Cost, Requests: 1}
	if !q.final {
		q.sum.Incomplete = 1
	}
	if u.Cost == nil {
		q.sum.Unpriced = 1
	}
}

func (f *UsageFold) group(timestamp, provider, model string) UsageGroup {
	return UsageGroup{f.opt.Origin, DayOf(timestamp, f.opt.Zone), provider, model}
}

// Usage is the sum so far. More entries may be added afterwards.
func (f *UsageFold) Usage() *Usage {
	u := &Usage{}
	u.Add(&f.kept)
	u.Add(&f.direct)
	said := make(map[string]bool) // by answer: it says itself what was used
	for i := range f.answers {
		a := &f.answers[i]
		said[a.id] = said[a.id] || a.r.Known
	}
	final := make(map[string]bool)    // by answer: a final record speaks for it
	open := make(map[string]*request) // by answer: its request, if no record is final
	for _, name := range f.order {
		if q := f.requests[name]; q.final {
			final[q.answer] = true
		} else {
			open[q.answer] = q
		}
	}
	delete(final, "")
	delete(open, "")
	for _, name := range f.order {
		q := f.requests[name]
		if !q.final && open[q.answer] == q && said[q.answer] && !final[q.answer] {
			continue // the answer is its final record
		}
		u.add(q.group, q.sum)
	}
	for i := range f.answers {
		a := &f.answers[i]
		if final[a.id] || (!a.r.Known && open[a.id] != nil) {
			continue // the request's record speaks for it
		}
		u.add(f.group(a.timestamp, a.r.Provider, a.r.Model), a.r.sum())
	}
	return u
}

// sum is what one answer adds.
func (r *Response) sum() Sum {
	s := Sum{Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite,
		Premium: r.Premium, Cost: r.Cost, Requests: 1}
	if !r.Whole {
		s.Incomplete = 1
	}
	if r.Known && r.Cost == nil {
		s.Unpriced = 1
	}
	return s
}

// value is the answer as a checkpoint keeps it.
func (a *answer) value() jsonl.Value {
	o := jsonl.NewObj(
		jsonl.Member{Key: "entryId", Value: jsonl.StringValue(a.id)},
		jsonl.Member{Key: "timestamp", Value: jsonl.StringValue(a.timestamp)},
		jsonl.Member{Key: "provider", Value: jsonl.StringValue(a.r.Provider)},
		jsonl.Member{Key: "model", Value: jsonl.StringValue(a.r.Model)},
		jsonl.Member{Key: "known", Value: jsonl.BoolValue(a.r.Known)},
		jsonl.Member{Key: "whole", Value: jsonl.BoolValue(a.r.Whole)})
	for i, key := range tokenKeys {
		setAmount(o, key, a.r.tokens()[i])
	}
	if a.r.Cost != nil {
		o.Set("cost", jsonl.NumberValue(*a.r.Cost))
	}
	return jsonl.ObjectValue(o)
}

var tokenKeys = [...]string{"input", "output", "cacheRead", "cacheWrite", "premiumRequests"}

func (r *Response) tokens() [5]float64 {
	return [5]float64{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.Premium}
}

// readAnswer reads what value wrote.
func readAnswer(v jsonl.Value) answer {
	a := answer{id: v.Get("entryId").Str(), timestamp: v.Get("timestamp").Str(), r: Response{
		Provider: v.Get("provider").Str(), Model: v.Get("model").Str(),
		Input: getAmount(v, "input"), Output: getAmount(v, "output"),
		CacheRead: getAmount(v, "cacheRead"), CacheWrite: getAmount(v, "cacheWrite"),
		Premium: getAmount(v, "premiumRequests"),
		Known:   v.Get("known").Bool(), Whole: v.Get("whole").Bool(),
	}}
	if c := v.Get("cost"); c.Is(jsonl.Number) && amount(c.Num()) {
		cost := c.Num()
		a.r.Cost = &cost
	}
	return a
}
