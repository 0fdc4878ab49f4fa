package index

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// archived adds what was archived of a session to the reading of its
// transcript: entries, prompts, usage, changed files and references to blobs.
// What stands in both is taken from the transcript. An archive that can't be
// read adds nothing, and the checkpoints count instead of it; why is said.
func (w *worker) archived(ctx context.Context, path string, r *reading) (reason string, err error) {
	a := &archiveReading{x: w.ex, r: r, at: map[string]int{}, covered: map[uint64]bool{},
		patches: map[string]archivedPatch{}, folded: map[string]bool{}}
	read := func(fn func(*session.ArchivedLine) error) error {
		for l, err := range session.ReadArchive(ctx, w.x.fsys, path) {
			if err == nil {
				err = fn(&l)
			}
			if err = errors.Join(ctx.Err(), err); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(func(l *session.ArchivedLine) error { a.any = true; a.line(l); return nil }); err != nil {
		return reasonOf(err), errors.Join(ctx.Err(), w.ex.foldIfAsked(ctx))
	}
	if !a.any {
		return "", w.ex.foldIfAsked(ctx)
	}
	a.finish()
	err = w.ex.foldAgain(ctx, a, func() error { return read(a.fold) })
	return "", err
}

// archiveReading gathers what an archive says.
type archiveReading struct {
	x       *extractor
	r       *reading
	any     bool
	fields  jsonl.Fields
	at      map[string]int // by id of a moved message: its place in moved
	moved   []movedEntry
	covered map[uint64]bool // checkpoints whose entries are here

	patches map[string]archivedPatch // by id: the last one, of archive or transcript
	folded  map[string]bool          // ids of entries whose effects were folded
	carry   []carried                // execution_effects checkpoints in the archive
	fold    func(*session.ArchivedLine) error
}

// archivedPatch is the record of a patch.
type archivedPatch []byte

func (p archivedPatch) message() (jsonl.Value, error) {
	v, _, err := jsonl.Parse(p)
	return v.Get("patch").Get("message"), err
}

// carried is a checkpoint of effects.
type carried struct {
	id   string
	data jsonl.Value
}

// movedEntry is what one archived entry says.
type movedEntry struct {
	prompt *promptRow
	facts  []usageFact
	stamp  string
	time   millis
	id     string
}

// archivedRow is a row of archived.
type archivedRow struct {
	id, parent, kind, role string
	hasID, hasParent       bool
	time                   millis
	run, line              int
	offset, size           int64
}

// scan reads the fields of a line; ok is false for one without a record.
func (a *archiveReading) scan(l *session.ArchivedLine) (f *jsonl.Fields, ok bool) {
	if l.Record == nil {
		return nil, false
	}
	f = &a.fields
	if !f.Scan(l.Record) {
		v, _, err := jsonl.Parse(l.Record)
		if err != nil {
			return nil, false
		}
		f.Of(l.Record, v)
	}
	return f, true
}

// isNode reports whether a record is a node of the tree.
func isNode(f *jsonl.Fields) bool {
	for _, kind := range [...]string{"session", "title", "header_patch", "entry_patch"} {
		if f.Type.Equal(kind) {
			return false
		}
	}
	return true
}

func (a *archiveReading) line(l *session.ArchivedLine) {
	for _, id := range l.Checkpoints {
		a.covered[nameSum(id)] = true
	}
	f, ok := a.scan(l)
	if !ok {
		return
	}
	if f.Type.Equal("entry_patch") {
		a.patch(l.Record)
		return
	}
	if !l.Moved || !isNode(f) {
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
	m.take(f, l.Line, l.Record)
	a.moved = append(a.moved, m)
	a.x.addRefs(f)
	row := archivedRow{id: id, parent: f.Parent.Text(), kind: a.x.word(f.Type), hasID: f.IDKind == jsonl.String,
		hasParent: f.ParentKind == jsonl.String, time: m.time, run: l.Run, line: l.Line, offset: l.Offset, size: int64(len(l.Record))}
	if row.kind == "message" {
		row.role = a.x.word(f.Role)
	}
	a.r.archived = append(a.r.archived, row)
	if row.kind == "custom" && f.CustomType.Equal(jsonl.KindExecutionEffects) {
		if v, _, err := jsonl.Parse(l.Record); err == nil {
			a.carry = append(a.carry, carried{id, v.Get("data")})
		}
	}
}

// take reads the fields of the entry, or of the patch that replaces its
// message.
func (m *movedEntry) take(f *jsonl.Fields, line int, record []byte) {
	message := f.Type.Equal("message") || f.Type.Equal("entry_patch")
	m.prompt, m.facts = nil, nil
	switch {
	case message && f.Role.Equal("user"):
		m.prompt = &promptRow{id: m.id, line: line, time: m.time, text: joinTexts(f.Texts)}
	case message:
		if r, ok := checkpoint.ResponseOfMessage(f); ok {
			m.facts = []usageFact{responseFact(factAnswer, 0, m.id, m.stamp, m.time, r)}
		}
	case f.Type.Equal("custom") && f.CustomType.Equal(jsonl.KindUsage):
		if v, _, err := jsonl.Parse(record); err == nil {
			m.facts = customFacts(0, m.id, m.stamp, jsonl.KindUsage, v)
		}
	}
}

// patch takes the record of a patch, whose fields are those scanned last.
func (a *archiveReading) patch(record []byte) {
	id, message, ok := jsonl.ParseEntryPatch(record)
	if !ok || !message.Is(jsonl.Object) {
		return
	}
	a.patches[id] = bytes.Clone(record)
	at, moved := a.at[id]
	if !moved || a.r.archived[at].kind != "message" {
		return
	}
	line := a.r.archived[at].line
	a.moved[at].take(&a.fields, line, record)
	a.r.archived[at].role = a.x.word(a.fields.Role)
	a.x.addRefs(&a.fields)
}

// finish puts what was archived before what the transcript says.
func (a *archiveReading) finish() {
	for _, record := range a.x.loose { // patches that came when the entry was gone
		if _, ok := a.scan(&session.ArchivedLine{Record: record}); ok {
			a.patch(record)
		}
	}
	r := a.r
	facts := newFactList()
	var prompts []promptRow
	for i := range a.moved {
		m := &a.moved[i]
		for j := range m.facts {
			facts.add(&m.facts[j])
		}
		if m.prompt != nil {
			prompts = append(prompts, *m.prompt)
		}
	}
	r.spent.each(func(u *usageFact) {
		if u.kind == factTotal && a.covered[u.name] {
			u.known, u.whole, u.priced, u.cost = false, false, false, 0
			u.tokens, u.counts = [5]float64{}, [3]int64{}
		}
		facts.add(u)
	})
	r.spent = facts
	if i := slices.IndexFunc(prompts, func(p promptRow) bool { return p.text != "" }); i >= 0 {
		r.firstPrompt = cutText(prompts[i].text, maxFirstPrompt)
	}
	r.prompts = append(prompts, r.prompts...)
	a.carry = slices.DeleteFunc(a.carry, func(c carried) bool { return a.covered[nameSum(c.id)] })
}
