package index

import "slices"

// toldRequest is what the records of one request say: the last one holds.
type toldRequest struct {
	first  uint64 // identity of its first record: the same in every fork
	answer uint64 // sum of the id of the entry that answers it
	last   *usageFact
}

// told counts the facts of a session that holds records of requests. An
// answer's own usage is the final record of its request, unless the last record
// of the request is final and names the answer. A request without a final
// record counts with what is known of it, as incomplete. The rule is that of
// checkpoint.UsageFold.
func (s *usageSum) told(facts []usageFact) {
	requests := map[uint64]*toldRequest{}
	var order []*toldRequest
	var answers, rest []*usageFact
	said := map[uint64]bool{} // by answer: it says itself what was used
	for i := range facts {
		u := &facts[i]
		switch u.kind {
		case factRecord:
			q := requests[u.request]
			if q == nil {
				q = &toldRequest{first: u.identity}
				requests[u.request] = q
				order = append(order, q)
			}
			if u.name != 0 {
				q.answer = u.name
			}
			q.last = u
		case factAnswer, factOpen:
			answers = append(answers, u)
			said[u.name] = said[u.name] || u.known
		default:
			rest = append(rest, u)
		}
	}
	final, open := map[uint64]bool{}, map[uint64]*toldRequest{}
	for _, q := range order {
		switch {
		case q.answer == 0:
		case q.last.whole:
			final[q.answer] = true
		default:
			open[q.answer] = q
		}
	}
	s.requests(order, answers, func(q *toldRequest) bool {
		// The answer is its final record.
		return !q.last.whole && q.answer != 0 && open[q.answer] == q && said[q.answer] && !final[q.answer]
	})
	for _, u := range answers {
		if !final[u.name] && (u.known || open[u.name] == nil) {
			s.add(u)
		}
	}
	for _, u := range rest {
		s.add(u)
	}
}

// requests counts requests by their records. An answer that a record speaks for
// is not counted in a fork that has no record of it.
func (s *usageSum) requests(order []*toldRequest, answers []*usageFact, answered func(*toldRequest) bool) {
	named := map[uint64][]uint64{} // identities of answers, by id
	for _, u := range answers {
		if u.name != 0 {
			named[u.name] = append(named[u.name], u.identity)
		}
	}
	for _, q := range order {
		if answered(q) {
			continue
		}
		u := *q.last
		u.identity = q.first
		spoken := u.whole && slices.ContainsFunc(named[q.answer], s.seen.has)
		if !spoken {
			s.add(&u)
		}
	}
	for _, q := range order {
		if q.last.whole {
			for _, a := range named[q.answer] {
				s.seen.add(a)
			}
		}
	}
}
