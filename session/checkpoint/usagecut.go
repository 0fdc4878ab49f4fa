package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// usageFact is what decides which usage records may leave.
type usageFact struct {
	request string // of a usage record; "" for an answer
	answer  string // id of the answer: its own, or the one that the record names
	partial bool   // a record whose state is partial
	kept    bool   // it is among the entries that stay
}

// usageFactOf is the fact of an entry; ok is false if it has none.
func usageFactOf(e *jsonl.Entry) (f usageFact, ok bool) {
	if e.Role() == "assistant" {
		id, _ := e.ID()
		return usageFact{answer: id}, true
	}
	if e.Type() != "custom" {
		return usageFact{}, false
	}
	name, data := customOf(e)
	if name != jsonl.KindUsage {
		return usageFact{}, false
	}
	d, ok := jsonl.ParseCustom(name, data)
	if !ok {
		return usageFact{}, false
	}
	u := d.(*jsonl.UsageRecord)
	return usageFact{request: u.Request, answer: u.EntryID, partial: u.State == jsonl.UsagePartial}, true
}

// unfinished says of each fact whether its request is not finished by the
// entries that leave: one of its records, or of those that name the same
// answer, or that answer, stays, or its last record is partial, so that
// another may come. Records of such requests stay; such answers are kept in
// the checkpoint by themselves.
func unfinished(facts []usageFact) []bool {
	up := make(map[string]string)
	find := func(s string) string {
		for up[s] != "" && up[s] != s {
			s = up[s]
		}
		return s
	}
	last := make(map[string]*usageFact)
	named := make(map[string]bool) // answers that a record names
	for i := range facts {
		f := &facts[i]
		if f.request == "" {
			continue
		}
		last[f.request] = f
		if f.answer != "" {
			named[f.answer] = true
			up[find("r"+f.request)] = find("a" + f.answer)
		}
	}
	group := func(f *usageFact) string {
		if f.request != "" {
			return find("r" + f.request)
		}
		return find("a" + f.answer)
	}
	open := make(map[string]bool)
	for i := range facts {
		if f := &facts[i]; f.kept {
			open[group(f)] = true
		}
	}
	for _, f := range last {
		if f.partial {
			open[group(f)] = true
		}
	}
	stay := make([]bool, len(facts))
	for i := range facts {
		f := &facts[i]
		stay[i] = open[group(f)] && (f.request != "" || (f.answer != "" && named[f.answer]))
	}
	return stay
}

// CutUsage folds the entries that leave a transcript into a checkpoint. kept
// are the entries that stay anyway; stay are those among the removed that must
// not leave: the records of requests that are not finished, and checkpoints.
func CutUsage(removed, kept []*jsonl.Entry, opt UsageOptions) (checkpoint *Usage, stay []*jsonl.Entry) {
	var facts []usageFact
	at := make(map[int]int) // place in removed to place in facts
	for i, e := range removed {
		if fact, ok := usageFactOf(e); ok {
			at[i] = len(facts)
			facts = append(facts, fact)
		}
	}
	for _, e := range removed {
		facts = append(facts, carriedAnswers(e)...)
	}
	for _, e := range kept {
		if fact, ok := usageFactOf(e); ok {
			fact.kept = true
			facts = append(facts, fact)
		}
		facts = append(facts, carriedAnswers(e)...)
	}
	open := unfinished(facts)
	opt.Zone = nil
	f := NewUsageFold(opt)
	for i, e := range removed {
		n, ok := at[i]
		switch {
		case ok && open[n] && facts[n].request != "", e.Type() == "custom" && e.Kind().Checkpoint:
			stay = append(stay, e)
		case ok && open[n]:
			f.Hold(e)
		default:
			f.Add(e)
		}
	}
	return f.Checkpoint(), stay
}

// Hold takes an answer whose request is not finished: the checkpoint keeps it
// by itself.
func (f *UsageFold) Hold(e *jsonl.Entry) { f.held = append(f.held, answerOf(&f.fields, e)) }

// Checkpoint is the checkpoint of what was added and held.
func (f *UsageFold) Checkpoint() *Usage {
	u := f.Usage()
	u.open = f.held
	return u
}

// carriedAnswers are the facts of the answers that a checkpoint keeps; it
// stays, and so they do.
func carriedAnswers(e *jsonl.Entry) []usageFact {
	if e.Type() != "custom" {
		return nil
	}
	name, data := customOf(e)
	if name != jsonl.KindUsageCheckpoint {
		return nil
	}
	var facts []usageFact
	if u := readUsage(data); u != nil {
		for _, a := range u.open {
			facts = append(facts, usageFact{answer: a.id, kept: true})
		}
	}
	return facts
}
