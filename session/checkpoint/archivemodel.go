package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// An answer gives the default model as long as no model_change sets it, and
// the models of a context are in the order in which they were first given. So
// jsonl marks the first and the last answer of a path as needed; mostly they
// are not.

// spareAnswers lets answers go that are not sent and were marked only for the
// default model: for its value, where a model_change sets it, or for its place
// among the models, where something that stays gives it the same one.
func (a *archiver) spareAnswers(path []int, facts []jsonl.PathEntry, needed []bool) {
	sent, kept := a.compaction(path)
	if kept >= 0 {
		sent = kept
	}
	first, last, explicit := -1, -1, -1 // answers, and the first model_change of the default
	for i := range facts {
		switch f := &facts[i]; {
		case f.Type == "message" && f.Role == "assistant":
			if last = i; first < 0 {
				first = i
			}
		case f.Type == "model_change" && f.Role == defaultRole && explicit < 0:
			explicit = i
		}
	}
	if last >= 0 && last < sent && last != first && explicit >= 0 {
		needed[last] = false
	}
	if first < 0 || first >= sent || (first == last && explicit < 0) {
		return
	}
	if explicit >= 0 && explicit < first {
		needed[first] = false
		return
	}
	retained := false
	for i := first + 1; i < len(facts); i++ {
		retained = retained || path[i] == a.plan.First
		switch f := &facts[i]; {
		case f.Type == "message" && f.Role == "assistant" && (needed[i] || retained), f.Type == "model_change" && f.Role == defaultRole:
			needed[first] = false
			return
		case f.Type == "model_change" && f.Role != "":
			return
		}
	}
}
