package jsonl

import "math"

// UsageStatistics is the sum of what a session's requests have used.
type UsageStatistics struct {
	Input, Output, CacheRead, CacheWrite float64 // tokens
	PremiumRequests                      float64
	Cost                                 float64 // of the requests whose price is known
}

// Add takes an entry: an answer, or the result of a delegation, which holds
// the usage of its subagents. A usage with a token count that is no number, or
// negative, is passed over whole.
func (s *UsageStatistics) Add(e *Entry) {
	switch e.Role() {
	case "assistant":
		s.add(e.Value().Get("message").Get("usage"))
	case "toolResult":
		if m := e.Value().Get("message"); m.Get("toolName").Str() == "task" {
			s.add(m.Get("details").Get("usage"))
		}
	}
}

func (s *UsageStatistics) add(usage Value) {
	tokens := [4]float64{}
	for i, key := range []string{"input", "output", "cacheRead", "cacheWrite"} {
		v := usage.Get(key)
		if !v.Is(Number) || !countable(v.Num()) {
			return
		}
		tokens[i] = v.Num()
	}
	s.Input += tokens[0]
	s.Output += tokens[1]
	s.CacheRead += tokens[2]
	s.CacheWrite += tokens[3]
	if n := usage.Get("premiumRequests").Num(); countable(n) {
		s.PremiumRequests += n
	}
	if n := usage.Get("cost").Get("total").Num(); countable(n) {
		s.Cost += n
	}
}

func countable(n float64) bool { return n >= 0 && !math.IsInf(n, 0) }

// UsageOf sums over entries, on whatever branch.
func UsageOf(entries []*Entry) UsageStatistics {
	var s UsageStatistics
	for _, e := range entries {
		s.Add(e)
	}
	return s
}

// Value is the sum as one JSON object, keys in the original's order.
func (s UsageStatistics) Value() Value {
	return ObjectValue(NewObj(
		Member{"input", NumberValue(s.Input)},
		Member{"output", NumberValue(s.Output)},
		Member{"cacheRead", NumberValue(s.CacheRead)},
		Member{"cacheWrite", NumberValue(s.CacheWrite)},
		Member{"premiumRequests", NumberValue(s.PremiumRequests)},
		Member{"cost", NumberValue(s.Cost)},
	))
}
