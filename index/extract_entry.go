package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// maxFirstPrompt bounds the first prompt that a session's row keeps, in bytes.
const maxFirstPrompt = 16 << 10

// entry takes a record that is a node of the tree.
func (x *extractor) entry(rec *jsonl.Record, kind string) error {
	f, r := rec.Fields, x.r
	e := entry{
		seq: int32(r.first + r.rows.len()), kind: kind, line: int32(rec.Line), offset: rec.Offset, size: int64(len(rec.Raw)),
		hasID: f.IDKind == jsonl.String, hasParent: f.ParentKind == jsonl.String,
		time: timeOf(f.Timestamp), state: carriesState(kind), gap: x.lost, parentSeq: noParent,
	}
	if e.hasID {
		e.id = f.ID.Text()
		drop, err := x.repeated(&e, rec)
		if err != nil || drop {
			return err
		}
	}
	if kind == "message" {
		e.role = x.roleOf(f)
		r.messages++
	}
	r.entries++
	r.last = e.time
	if err := x.link(&e, f); err != nil {
		return err
	}
	x.addRefs(f)
	switch {
	case kind == "label" && f.TargetID.Ok():
		x.label(&e, f)
	case kind == "message":
		x.message(&e, f)
	}
	x.noteFacts(&e, rec, kind)
	if err := x.noteEffects(&e, rec, kind); err != nil {
		return err
	}
	r.rows.add(e)
	if e.hasID {
		x.ids[e.id] = int(e.seq)
		x.arrived(&e)
	}
	x.lastID, x.lastRun = e.id, int(e.run)
	x.lost = false
	return nil
}

// roleOf is the role as it is after an upgrade in memory.
func (x *extractor) roleOf(f *jsonl.Fields) string {
	role := x.word(f.Role)
	if x.r.version < 3 && role == "hookMessage" {
		return "custom"
	}
	return role
}

// repeats are the entries of one id, and the sums of their lines: a file whose
// entries all have one id must not be compared line by line.
type repeats struct {
	seqs  []int
	lines map[[sha256.Size]byte]bool
}

// repeated reports whether the record repeats the earlier line of its id byte
// for byte, and keeps count of ids that stand twice.
func (x *extractor) repeated(e *entry, rec *jsonl.Record) (bool, error) {
	at, ok := x.ids[e.id]
	if !ok && x.before != nil {
		_, _, _, known, err := x.before.byID(e.id)
		if err != nil {
			return false, err
		}
		if !known {
			known, err = x.before.archived(e.id)
		}
		if err != nil || known {
			return false, cmp.Or(err, errWhole)
		}
	}
	if !ok {
		return false, nil
	}
	if x.inMemory {
		return false, nil
	}
	all := x.repeats[e.id]
	if all == nil {
		first := x.row(at)
		line := make([]byte, first.size)
		if _, err := x.file.ReadAt(line, first.offset); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		all = &repeats{seqs: []int{at}, lines: map[[sha256.Size]byte]bool{sha256.Sum256(line): true}}
		x.repeats[e.id] = all
	}
	sum := sha256.Sum256(rec.Raw)
	if all.lines[sum] {
		return true, nil
	}
	all.seqs, all.lines[sum] = append(all.seqs, int(e.seq)), true
	return false, nil
}

// link finds the entry's parent: the nearest earlier entry of that id, else
// the first later one.
func (x *extractor) link(e *entry, f *jsonl.Fields) error {
	e.run = e.seq
	if !e.hasParent {
		return nil
	}
	if last := x.r.rows.len() - 1; last >= 0 && f.Parent.Equal(x.lastID) && x.r.rows.at(last).hasID {
		e.parent, e.parentSeq, e.run = x.lastID, e.seq-1, int32(x.lastRun)
		return nil
	}
	e.parent = f.Parent.Text()
	if e.parent == "" {
		return nil
	}
	if at, ok := x.ids[e.parent]; ok {
		e.parentSeq = int32(at)
	} else if x.before != nil {
		at, _, _, ok, err := x.before.byID(e.parent)
		if err != nil {
			return err
		}
		if ok {
			e.parentSeq = int32(at)
			if e.parentSeq == e.seq-1 {
				e.run = int32(x.lastRun)
			}
			return nil
		}
		e.parentSeq = missingParent
	} else {
		e.parentSeq = missingParent
	}
	if e.parentSeq == missingParent {
		x.waiting[e.parent] = append(x.waiting[e.parent], int(e.seq))
	}
	if e.parentSeq == e.seq-1 {
		e.run = int32(x.lastRun)
	}
	return nil
}

// arrived links the children that came before e.
func (x *extractor) arrived(e *entry) {
	children, ok := x.waiting[e.id]
	if !ok {
		return
	}
	delete(x.waiting, e.id)
	for _, seq := range children {
		switch {
		case seq == int(e.seq): // its own parent
			x.row(seq).parentSeq = noParent
		case seq < x.r.first:
			x.r.missing[seq] = int(e.seq)
		default:
			x.row(seq).parentSeq = e.seq
		}
	}
}

func (x *extractor) row(seq int) *entry { return x.r.rows.at(seq - x.r.first) }

func (x *extractor) label(e *entry, f *jsonl.Fields) {
	l := labelRow{seq: int(e.seq), target: f.TargetID.Text(), label: f.Label.Text(), set: f.LabelKind == jsonl.String}
	if at, ok := x.labelled[l.target]; ok {
		x.r.labels[at].overtaken = true
	}
	x.labelled[l.target] = len(x.r.labels)
	x.r.labels = append(x.r.labels, l)
}

// message notes what a message, or the patch that replaces it, says.
func (x *extractor) message(e *entry, f *jsonl.Fields) {
	e.use = 0
	if f.Usage.Has {
		x.r.use.add(x.usage(int(e.seq), e.time, f))
		e.use = int32(x.r.use.len())
	}
	if e.role == "user" {
		x.r.prompts = append(x.r.prompts, promptRow{seq: int(e.seq), id: e.id, line: int(e.line), time: e.time, text: joinTexts(f.Texts)})
	}
}

func (x *extractor) usage(seq int, at millis, f *jsonl.Fields) usageRow {
	return usageRow{seq: seq, time: at, provider: x.word(f.Provider), model: x.word(f.Model), stop: x.word(f.StopReason), use: f.Usage}
}

// entryPatch replaces the message of the latest entry that it names.
func (x *extractor) entryPatch(rec *jsonl.Record) error {
	f := rec.Fields
	x.addRefs(f)
	if x.r.version < 4 || !f.EntryID.Ok() {
		return nil
	}
	if _, message, ok := jsonl.ParseEntryPatch(rec.Raw); !ok || !message.Is(jsonl.Object) {
		return nil
	}
	id := f.EntryID.Text()
	seq, ok := x.patched(id)
	if !ok && x.before != nil {
		return x.patchEarlier(id, rec)
	}
	if !ok {
		if x.archives {
			x.loose = append(x.loose, bytes.Clone(rec.Raw))
		}
		return nil
	}
	e := x.row(seq)
	if e.role == "user" {
		x.r.prompts = slices.DeleteFunc(x.r.prompts, func(p promptRow) bool { return p.seq == seq })
	}
	now := x.roleOf(f)
	if foldsAnew(e.role, now) {
		again, err := x.patchFolds(e.role, now, f)
		if err != nil || again && x.before != nil {
			return cmp.Or(err, errWhole)
		}
		x.refold = x.refold || again
	}
	e.role = now
	x.message(e, f)
	x.r.spent.patch(seq, patchedFact(e, x.stamps[e.seq], f))
	if e.role == "user" { // back to its place
		slices.SortFunc(x.r.prompts, func(a, b promptRow) int { return a.seq - b.seq })
	}
	x.notePatch(seq, rec)
	return nil
}

func (x *extractor) notePatch(seq int, rec *jsonl.Record) {
	x.r.patches[seq] = patchRow{seq: seq, line: rec.Line, offset: rec.Offset, size: int64(len(rec.Raw))}
}

// patched is the latest message of this reading with that id.
func (x *extractor) patched(id string) (int, bool) {
	at, ok := x.ids[id]
	if !ok {
		return 0, false
	}
	if x.row(at).kind == "message" {
		return at, true
	}
	all := x.repeats[id]
	if all == nil {
		return 0, false
	}
	for _, seq := range slices.Backward(all.seqs) {
		if x.row(seq).kind == "message" {
			return seq, true
		}
	}
	return 0, false
}

// patchEarlier patches an entry that is in the database. What a user typed
// stands in more than one row: then the file is read whole.
func (x *extractor) patchEarlier(id string, rec *jsonl.Record) error {
	seq, kind, role, ok, err := x.before.byID(id)
	if err == nil && !ok {
		if ok, err = x.before.archived(id); ok && err == nil {
			err = errWhole
		}
		return err
	}
	if err != nil {
		return err
	}
	now := x.roleOf(rec.Fields)
	if kind != "message" || role == "user" || now == "user" {
		return errWhole
	}
	if foldsAnew(role, now) {
		if again, err := x.patchFolds(role, now, rec.Fields); err != nil || again {
			return cmp.Or(err, errWhole)
		}
	}
	x.r.rerole[seq] = now
	delete(x.r.reuse, seq)
	t, err := x.before.timeOf(seq)
	if err != nil {
		return err
	}
	if rec.Fields.Usage.Has {
		x.r.reuse[seq] = x.usage(seq, t, rec.Fields)
	}
	x.r.respent[seq] = nil
	if r, ok := checkpoint.ResponseOfMessage(rec.Fields); ok {
		if !t.known {
			return errWhole // its fact holds the timestamp as it stands
		}
		fact := responseFact(factAnswer, seq+1, id, "", t, r)
		x.r.respent[seq] = &fact
	}
	x.notePatch(seq, rec)
	return nil
}

// carriesState reports whether entries of this kind change what the context is
// beyond their own message.
func carriesState(kind string) bool {
	switch kind {
	case "thinking_level_change", "service_tier_change", "mode_change", "model_change", "compaction",
		"ttsr_injection", "mcp_tool_selection", "discovered_builtin_tool_selection", "configured_model_chain":
		return true
	}
	return false
}

// joinTexts is a message's text: its text blocks joined with a blank.
func joinTexts(texts []jsonl.Lit) string {
	if len(texts) == 1 {
		return texts[0].Text()
	}
	var b []byte
	for i, l := range texts {
		if i > 0 {
			b = append(b, ' ')
		}
		b = l.AppendText(b)
	}
	return string(b)
}

// cutText is s or its beginning, at most max bytes and no broken rune.
func cutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
