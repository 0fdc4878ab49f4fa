package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// ArchiveFold makes the checkpoints of a plan while the entries stream by.
type ArchiveFold struct {
	plan         *ArchivePlan
	usage        *UsageFold
	effects      Effects
	scope, whole TaskScope
}

// Fold begins to make the plan's checkpoints. origin is the session's id.
func (p *ArchivePlan) Fold(origin string) *ArchiveFold {
	usage := NewUsageFold(UsageOptions{Origin: origin})
	usage.named = p.named
	return &ArchiveFold{plan: p, usage: usage}
}

// Add takes the entry at a position, whether it moves or stays; all are given,
// in order. fields are those of its line, if they are known: they spare
// parsing it.
func (f *ArchiveFold) Add(i int, e *jsonl.Entry, fields *jsonl.Fields) {
	if f.plan.Moved == 0 {
		return
	}
	live := f.plan.onLive[i]
	if live {
		f.whole.Add(e)
	}
	if !f.plan.Moves[i] {
		if e.Role() == "assistant" || e.Type() == "custom" {
			f.effects.note(e, fields) // results may move whose calls stay
		}
		return
	}
	if f.plan.Held[i] {
		f.usage.Hold(e)
	} else {
		f.usage.Add(e)
	}
	f.effects.take(e, fields)
	if live { // the steering of a dead branch steers nothing else
		f.scope.Add(e)
	}
}

// MaxCheckpoints is how many checkpoints an archived prefix leaves at most.
const MaxCheckpoints = 3

// Checkpoints are what the archived entries leave behind; none for a plan by
// which nothing moves.
func (f *ArchiveFold) Checkpoints() []jsonl.CustomData {
	if f.plan.Moved == 0 {
		return nil
	}
	var made []jsonl.CustomData
	if u := f.usage.Checkpoint(); !u.Empty() {
		made = append(made, u)
	}
	if !f.effects.Empty() {
		made = append(made, &f.effects)
	}
	if c := f.scope.Checkpoint(&f.whole); c != nil {
		made = append(made, c)
	}
	return made
}

// Rest are the entries that stay by the plan, with the checkpoints among them.
// base gives a new entry its id and timestamp, and may leave out its parent.
// Entries whose parent changes are copies; none of entries is changed.
func (p *ArchivePlan) Rest(entries []*jsonl.Entry, checkpoints []jsonl.CustomData, base func() jsonl.Base) []*jsonl.Entry {
	rest := make([]*jsonl.Entry, 0, len(entries)-p.Moved+len(checkpoints))
	idAt := func(i int) jsonl.Value {
		if i < 0 {
			return jsonl.NullValue()
		}
		id, _ := entries[i].ID()
		return jsonl.StringValue(id)
	}
	for i, e := range entries {
		if p.Moves[i] {
			continue
		}
		parent, relinked := idAt(p.Parents[i]), p.Relinked[i]
		if i == p.First {
			for _, c := range checkpoints {
				b := base()
				o := jsonl.DataEntry(b, c)
				o.Set("parentId", parent)
				rest = append(rest, jsonl.NewEntry(o))
				parent, relinked = jsonl.StringValue(b.ID), true
			}
		}
		rest = append(rest, Relink(e, parent, relinked))
	}
	return rest
}

// Relink is the entry with another parentId, or itself if it isn't relinked.
func Relink(e *jsonl.Entry, parent jsonl.Value, relinked bool) *jsonl.Entry {
	if !relinked {
		return e
	}
	o := e.Value().Clone()
	o.Set("parentId", parent)
	return jsonl.NewEntry(o)
}
