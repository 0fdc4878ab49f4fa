package index

import (
	"context"
	"errors"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// archived adds what was archived of a session to the reading of its
// transcript: prompts, usage and references to blobs. What stands in both is
// taken from the transcript. An archive that can't be read adds nothing, and
// the checkpoints count instead of it. The transcript is always written anew
// when its archive changes, so the one reading serves both.
func (w *worker) archived(ctx context.Context, path string, r *reading) error {
	a := &archiveReading{x: w.ex, r: r, at: map[string]int{}, covered: map[uint64]bool{}}
	any := false
	for l, err := range session.ReadArchive(ctx, w.x.fsys, path) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, session.ErrArchive) || err != nil {
			return nil
		}
		any = true
		a.line(&l)
	}
	if any {
		a.finish()
	}
	return nil
}

// archiveReading gathers what an archive says.
type archiveReading struct {
	x       *extractor
	r       *reading
	fields  jsonl.Fields
	at      map[string]int // by id of a moved message: its place in moved
	moved   []movedEntry
	covered map[uint64]bool // checkpoints whose entries are here
}

// movedEntry is what one archived entry says.
type movedEntry struct {
	prompt *promptRow
	facts  []usageFact
	stamp  string
	time   millis
	id     string
}

func (a *archiveReading) line(l *session.ArchivedLine) {
	for _, id := range l.Checkpoints {
		a.covered[nameSum(id)] = true
	}
	if l.Record == nil {
		return
	}
	f := &a.fields
	if !f.Scan(l.Record) {
		v, _, err := jsonl.Parse(l.Record)
		if err != nil {
			return
		}
		f.Of(l.Record, v)
	}
	if f.Type.Equal("entry_patch") {
		a.patch(l)
		return
	}
	if !l.Moved {
		return
	}
	id := f.ID.Text()
	if _, again := a.at[id]; again && id != "" {
		return // moved by an earlier run too
	}
	if _, there := a.x.ids[id]; there && id != "" {
		return // the transcript has it
	}
	a.at[id] = len(a.moved)
	m := movedEntry{id: id, stamp: f.Timestamp.Text(), time: timeOf(f.Timestamp)}
	m.take(f, l)
	a.moved = append(a.moved, m)
	a.x.addRefs(f)
}

// take reads the fields of the entry, or of the patch that replaces its
// message.
func (m *movedEntry) take(f *jsonl.Fields, l *session.ArchivedLine) {
	message := f.Type.Equal("message") || f.Type.Equal("entry_patch")
	m.prompt, m.facts = nil, nil
	switch {
	case message && f.Role.Equal("user"):
		m.prompt = &promptRow{id: m.id, line: l.Line, time: m.time, text: joinTexts(f.Texts)}
	case message:
		if r, ok := checkpoint.ResponseOfMessage(f); ok {
			m.facts = []usageFact{responseFact(factAnswer, 0, m.id, m.stamp, m.time, r)}
		}
	case f.Type.Equal("custom") && f.CustomType.Equal(jsonl.KindUsage):
		if v, _, err := jsonl.Parse(l.Record); err == nil {
			m.facts = customFacts(0, m.id, m.stamp, jsonl.KindUsage, v)
		}
	}
}

func (a *archiveReading) patch(l *session.ArchivedLine) {
	id, _, ok := jsonl.ParseEntryPatch(l.Record)
	at, moved := a.at[id]
	if !ok || !moved {
		return
	}
	a.moved[at].take(&a.fields, l)
	a.x.addRefs(&a.fields)
}

// finish puts what was archived before what the transcript says.
func (a *archiveReading) finish() {
	r := a.r
	var facts []usageFact
	var prompts []promptRow
	for i := range a.moved {
		m := &a.moved[i]
		facts = append(facts, m.facts...)
		if m.prompt != nil {
			prompts = append(prompts, *m.prompt)
		}
	}
	for i := range r.spent {
		if u := &r.spent[i]; u.kind == factTotal && a.covered[u.name] {
			u.known, u.whole, u.priced, u.cost = false, false, false, 0
			u.tokens, u.counts = [5]float64{}, [3]int64{}
		}
	}
	r.spent = append(facts, r.spent...)
	if i := slices.IndexFunc(prompts, func(p promptRow) bool { return p.text != "" }); i >= 0 {
		r.firstPrompt = cutText(prompts[i].text, maxFirstPrompt)
	}
	r.prompts = append(prompts, r.prompts...)
}
