package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// UsageStatistics is what the requests of a session have cost, over all its
// branches.
type UsageStatistics struct {
	Input, Output, CacheRead, CacheWrite float64 // tokens
	PremiumRequests                      float64
	Cost                                 float64 // sum of the known prices
}

// Usage sums up the usage that answers and the results of delegated tasks
// tell. Usage that is not whole is passed over.
func (s *Session) Usage(ctx context.Context) (UsageStatistics, error) {
	var u UsageStatistics
	err := s.View(ctx, func(tree *jsonl.Tree, _ jsonl.Leaf) error {
		for _, e := range tree.Entries() {
			switch e.Role() {
			case "assistant":
				u.add(e.Value().Get("message").Get("usage"))
			case "toolResult":
				if m := e.Value().Get("message"); m.Get("toolName").Str() == "task" {
					u.add(m.Get("details").Get("usage"))
				}
			}
		}
		return nil
	})
	return u, err
}

func (u *UsageStatistics) add(v jsonl.Value) {
	tokens := [4]float64{}
	for i, key := range []string{"input", "output", "cacheRead", "cacheWrite"} {
		n := v.Get(key)
		if !n.Is(jsonl.Number) || !(n.Num() >= 0) {
			return
		}
		tokens[i] = n.Num()
	}
	u.Input += tokens[0]
	u.Output += tokens[1]
	u.CacheRead += tokens[2]
	u.CacheWrite += tokens[3]
	if n := v.Get("premiumRequests"); n.Num() > 0 {
		u.PremiumRequests += n.Num()
	}
	if n := v.Get("cost").Get("total"); n.Num() > 0 {
		u.Cost += n.Num()
	}
}
