package jsonl

// Label is what a person called an entry.
type Label struct {
	Target string // id of the entry; it need not exist
	Text   string
}

// labelMap is the labels by target, in the order in which each was first set;
// one that was cleared and set again goes last.
type labelMap struct {
	slots []labelSlot
	at    map[string]int // target to slot
}

type labelSlot struct {
	Label
	cleared bool
}

// apply takes a label entry: a label sets, one that is absent, null or empty
// clears.
func (m *labelMap) apply(o *Obj) {
	target, label := o.Get("targetId"), o.Get("label")
	if !target.Is(String) {
		return
	}
	i, known := m.at[target.Str()]
	switch {
	case !label.Truthy():
		if known {
			m.slots[i] = labelSlot{cleared: true}
			delete(m.at, target.Str())
		}
	case known:
		m.slots[i].Text = textOf(label)
	default:
		if m.at == nil {
			m.at = make(map[string]int)
		}
		m.at[target.Str()] = len(m.slots)
		m.slots = append(m.slots, labelSlot{Label: Label{Target: target.Str(), Text: textOf(label)}})
	}
}

// Label is the label of the entries with id; ok is false without one.
func (t *Tree) Label(id string) (text string, ok bool) {
	i, ok := t.labels.at[id]
	if !ok {
		return "", false
	}
	return t.labels.slots[i].Text, true
}

// Labels are all labels in force, over all branches, in the order in which
// they were first set; one that was cleared and set again goes last.
func (t *Tree) Labels() []Label {
	var labels []Label
	for _, s := range t.labels.slots {
		if !s.cleared {
			labels = append(labels, s.Label)
		}
	}
	return labels
}
