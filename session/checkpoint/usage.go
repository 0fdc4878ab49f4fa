package checkpoint

import (
	"cmp"
	"math"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
)

// UsageGroup is what totals are kept by.
type UsageGroup struct {
	Origin          string // the session that made the requests
	Day             string // 2006-01-02; "" where the time can't be read
	Provider, Model string
}

// Sum is what some requests have used.
type Sum struct {
	Input, Output, CacheRead, CacheWrite float64  // tokens
	Premium                              float64  // premium requests
	Cost                                 *float64 // the sum of the known prices; nil: none is known
	Requests                             int64
	Incomplete                           int64 // requests without a final record
	Unpriced                             int64 // requests that say what they used, but not its price
}

// Add adds o to the sum. Costs are added in whole units of 1e-12, so that the
// order in which they are added makes no difference.
func (s *Sum) Add(o Sum) {
	s.Input += o.Input
	s.Output += o.Output
	s.CacheRead += o.CacheRead
	s.CacheWrite += o.CacheWrite
	s.Premium += o.Premium
	s.Requests += o.Requests
	s.Incomplete += o.Incomplete
	s.Unpriced += o.Unpriced
	if o.Cost != nil {
		var have float64
		if s.Cost != nil {
			have = *s.Cost
		}
		cost := (math.Round(have*costUnit) + math.Round(*o.Cost*costUnit)) / costUnit
		s.Cost = &cost
	}
}

const costUnit = 1e12

// UsageTotal is the sum of one group.
type UsageTotal struct {
	UsageGroup
	Sum
}

// Usage is the totals of a session's requests. The zero Usage is empty. As a
// jsonl.CustomData it is a checkpoint of the entries it was folded from.
type Usage struct {
	sums map[UsageGroup]*Sum
	open []answer // removed answers to requests of which records remain
}

// Totals are the groups in the order of their names.
func (u *Usage) Totals() []UsageTotal {
	totals := make([]UsageTotal, 0, len(u.sums))
	for g, s := range u.sums {
		totals = append(totals, UsageTotal{g, *s})
	}
	slices.SortFunc(totals, func(a, b UsageTotal) int { return a.compare(b.UsageGroup) })
	return totals
}

func (g UsageGroup) compare(o UsageGroup) int {
	return cmp.Or(cmp.Compare(g.Origin, o.Origin), cmp.Compare(g.Day, o.Day),
		cmp.Compare(g.Provider, o.Provider), cmp.Compare(g.Model, o.Model))
}

// Total is the sum over all groups.
func (u *Usage) Total() Sum {
	var total Sum
	for _, t := range u.Totals() {
		total.Add(t.Sum)
	}
	return total
}

// By sums the groups that key names alike.
func (u *Usage) By(key func(UsageGroup) string) map[string]Sum {
	by := make(map[string]Sum)
	for g, s := range u.sums {
		sum := by[key(g)]
		sum.Add(*s)
		by[key(g)] = sum
	}
	return by
}

// Add adds the totals of another session, or of other entries.
func (u *Usage) Add(o *Usage) {
	for g, s := range o.sums {
		u.add(g, *s)
	}
}

// Empty reports whether there is nothing to keep.
func (u *Usage) Empty() bool { return len(u.sums) == 0 && len(u.open) == 0 }

func (u *Usage) add(g UsageGroup, s Sum) {
	if u.sums == nil {
		u.sums = make(map[UsageGroup]*Sum)
	}
	if u.sums[g] == nil {
		u.sums[g] = new(Sum)
	}
	u.sums[g].Add(s)
}

// Kind is jsonl.KindUsageCheckpoint.
func (u *Usage) Kind() string { return jsonl.KindUsageCheckpoint }

// Data is the checkpoint's data: that of jsonl.UsageCheckpoint and, where there
// is something to say, premiumRequests and unpriced of a total and the answers
// whose requests are not finished.
func (u *Usage) Data() *jsonl.Obj {
	totals := u.Totals()
	c := jsonl.UsageCheckpoint{Totals: make([]jsonl.UsageTotal, len(totals))}
	for i, t := range totals {
		c.Totals[i] = jsonl.UsageTotal{Origin: t.Origin, Day: t.Day, Provider: t.Provider, Model: t.Model,
			Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite,
			Cost: t.Cost, Requests: t.Requests, Incomplete: t.Incomplete}
	}
	data := c.Data()
	for i, item := range data.Get("totals").Items() {
		setAmount(item.Obj(), "premiumRequests", totals[i].Premium)
		setAmount(item.Obj(), "unpriced", float64(totals[i].Unpriced))
	}
	if len(u.open) > 0 {
		answers := make([]jsonl.Value, len(u.open))
		for i := range u.open {
			answers[i] = u.open[i].value()
		}
		data.Set("answers", jsonl.ArrayValue(answers...))
	}
	return data
}

// readUsage is the usage that a checkpoint's data keeps; nil if its shape is
// wrong.
func readUsage(data jsonl.Value) *Usage {
	d, ok := jsonl.ParseCustom(jsonl.KindUsageCheckpoint, data)
	if !ok {
		return nil
	}
	u := &Usage{}
	items := data.Get("totals").Items()
	for i, t := range d.(*jsonl.UsageCheckpoint).Totals {
		u.add(UsageGroup{t.Origin, t.Day, t.Provider, t.Model}, Sum{
			Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite,
			Premium: getAmount(items[i], "premiumRequests"), Cost: t.Cost, Requests: t.Requests,
			Incomplete: t.Incomplete, Unpriced: int64(getAmount(items[i], "unpriced"))})
	}
	for _, item := range data.Get("answers").Items() {
		u.open = append(u.open, readAnswer(item))
	}
	return u
}

func setAmount(o *jsonl.Obj, key string, n float64) {
	if n != 0 {
		o.Set(key, jsonl.NumberValue(n))
	}
}

// getAmount is a number that is not negative; 0 for anything else.
func getAmount(v jsonl.Value, key string) float64 {
	if n := v.Get(key); n.Is(jsonl.Number) && amount(n.Num()) {
		return n.Num()
	}
	return 0
}

func amount(n float64) bool { return n >= 0 && n <= 1<<53 }
