package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// What files a session changed is folded while its records are read, by the
// rule of checkpoint.Effects. Where that can't be right, since a patch changed
// a message that was folded already, a checkpoint keeps calls whose results
// came before, or there is an archive, all is folded again once the file was
// read, from the places of its entries.

// mayChange reports whether a tool result can prove a change: one whose details
// neither name an operation nor have a diff does not, but for those of the tool
// write, whose call names the file.
func mayChange(f *jsonl.Fields) bool {
	return f.ToolName.Equal("write") || bytes.Contains(f.Details, []byte(`"op"`)) || bytes.Contains(f.Details, []byte(`"diff"`)) ||
		bytes.Contains(f.Details, []byte(`\u`)) // a letter may be escaped
}

// noteEffects takes what an entry says of files.
func (x *extractor) noteEffects(e *entry, rec *jsonl.Record, kind string) error {
	f := rec.Fields
	switch {
	case kind == "custom" && f.CustomType.Equal(jsonl.KindExecutionEffects):
		if x.before != nil {
			return errWhole
		}
		x.refold = true
		x.kept = append(x.kept, int(e.seq))
	case kind != "message":
	case e.role == "assistant" && len(f.Calls) > 0:
		feed, err := x.fold()
		if err == nil {
			feed.Called(f)
		}
		return err
	case e.role == "toolResult" && mayChange(f):
		return x.feedMessage(e, rec)
	case e.role == "toolResult":
		feed, err := x.fold()
		if err == nil {
			feed.Answered(f.ToolCallID.WTF8())
		}
		return err
	}
	return nil
}

func (x *extractor) feedMessage(e *entry, rec *jsonl.Record) error {
	feed, err := x.fold()
	if err != nil {
		return err
	}
	if v, _, err := jsonl.Parse(rec.Raw); err == nil {
		feed.Message(e.id, rec.Fields.Timestamp.WTF8(), v.Get("message"))
	}
	return nil
}

// fold is the feed of the file; that of one that has grown goes on from what is
// known.
func (x *extractor) fold() (*checkpoint.Feed, error) {
	if x.feed != nil {
		return x.feed, nil
	}
	x.feed = &checkpoint.Feed{}
	if x.before != nil {
		effects, calls, err := x.before.effects()
		if err != nil {
			return nil, err
		}
		x.feed = checkpoint.ResumeFeed(effects, calls)
	}
	return x.feed, nil
}

// foldsAnew reports whether a patch that gives an entry of the role before a
// message of the role now changes what was folded.
func foldsAnew(before, now string) bool {
	return before == "assistant" || before == "toolResult" || now == "assistant" || now == "toolResult"
}

// patchFolds reports whether a patch of an entry that is in the database already
// may change what is known of files. A session that changed none and waits for
// no result has nothing that an answer without calls could change.
func (x *extractor) patchFolds(before, now string, f *jsonl.Fields) (bool, error) {
	if before == "toolResult" || now == "toolResult" || len(f.Calls) > 0 || x.feed != nil {
		return true, nil
	}
	if x.before == nil {
		return false, nil
	}
	effects, calls, err := x.before.effects()
	return len(effects) > 0 || len(calls) > 0, err
}

// settleEffects gives the reading what was folded.
func (x *extractor) settleEffects() {
	if x.feed == nil {
		return
	}
	x.r.effects, x.r.calls, x.r.folded = x.feed.Effects(), x.feed.Calls(), true
	x.feed = nil
}

// foldIfAsked folds a whole file again if what was folded can't be right.
func (x *extractor) foldIfAsked(ctx context.Context) error {
	if !x.refold || x.inMemory {
		return nil
	}
	return x.foldAgain(ctx, nil, nil)
}

// foldAgain folds a whole file and its archive, if it has one, from the
// beginning, in the order in which the entries stood before anything was
// archived. lines gives the archive's lines to a.fold.
func (x *extractor) foldAgain(ctx context.Context, a *archiveReading, lines func() error) error {
	x.feed = &checkpoint.Feed{}
	kept := x.kept
	seen := map[int]bool{} // entries of the file that stand in the archive too
	if a != nil {
		for _, c := range a.carry {
			x.feed.Carry(c.data)
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(at int) bool { return a.covered[nameSum(x.r.rows.at(at).id)] })
	}
	for _, at := range kept {
		if v, err := x.valueOf(at); err == nil {
			x.feed.Carry(v.Get("data"))
		}
	}
	if a != nil {
		a.fold = func(l *session.ArchivedLine) error { x.foldArchived(a, l, seen); return nil }
		if err := lines(); err != nil {
			return err
		}
	}
	for i := range x.r.rows.len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(kept) > 0 && kept[0] == i {
			kept = kept[1:]
			x.foldCheckpoint(i)
			continue
		}
		if !seen[i] {
			x.foldRow(i)
		}
	}
	x.settleEffects()
	return nil
}

func (x *extractor) foldCheckpoint(at int) {
	if v, err := x.valueOf(at); err == nil {
		x.feed.Checkpoint(x.r.rows.at(at).id, v.Get("data"))
	}
}

// foldRow folds an entry of the file, as its patch has it.
func (x *extractor) foldRow(at int) {
	e := x.r.rows.at(at)
	if e.kind != "message" || e.role != "assistant" && e.role != "toolResult" {
		return
	}
	if v, err := x.valueOf(at); err == nil {
		message := v.Get("message")
		if p, ok := x.r.patches[int(e.seq)]; ok {
			message = x.patchAt(p)
		}
		x.feed.Message(e.id, v.Get("timestamp").Str(), message)
	}
}

// valueOf parses the record of an entry.
func (x *extractor) valueOf(at int) (jsonl.Value, error) {
	e := x.r.rows.at(at)
	return x.valueAt(e.offset, e.size)
}

func (x *extractor) valueAt(offset, size int64) (jsonl.Value, error) {
	raw := make([]byte, size)
	if _, err := x.file.ReadAt(raw, offset); err != nil && !errors.Is(err, io.EOF) {
		return jsonl.Value{}, err
	}
	v, _, err := jsonl.Parse(raw)
	return v, err
}

func (x *extractor) patchAt(p patchRow) jsonl.Value {
	v, err := x.valueAt(p.offset, p.size)
	if err != nil {
		return jsonl.Value{}
	}
	return v.Get("patch").Get("message")
}

// foldArchived folds an entry of the archive, or the one of the file that is the
// same.
func (x *extractor) foldArchived(a *archiveReading, l *session.ArchivedLine, seen map[int]bool) {
	f, ok := a.scan(l)
	if !ok || !isNode(f) {
		return
	}
	id := f.ID.Text()
	if at, there := x.ids[id]; there && id != "" {
		if !seen[at] && !slices.Contains(x.kept, at) {
			seen[at] = true
			x.foldRow(at)
		}
		return
	}
	if !l.Moved || id != "" && a.folded[id] {
		return // it stands in the file, or came in an earlier run
	}
	a.folded[id] = true
	effects := f.Type.Equal("custom") && f.CustomType.Equal(jsonl.KindExecutionEffects) && !a.covered[nameSum(id)]
	patch, patched := a.patches[id]
	if !effects && !(f.Type.Equal("message") && (patched || f.Role.Equal("assistant") || f.Role.Equal("toolResult"))) {
		return
	}
	v, _, err := jsonl.Parse(l.Record)
	if err != nil {
		return
	}
	if effects {
		x.feed.Checkpoint(id, v.Get("data"))
		return
	}
	message := v.Get("message")
	if patched {
		if message, err = patch.message(); err != nil {
			return
		}
	}
	x.feed.Message(id, v.Get("timestamp").Str(), message)
}

// storedEffects are the files that a session changed, as the database has them.
func storedEffects(ctx context.Context, db *migrations.DB, key int64) ([]checkpoint.Effect, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT path, creates, writes, edits, deletes, renames, first, last, entry FROM touched WHERE session = ? ORDER BY seq`, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []checkpoint.Effect
	for rows.Next() {
		var e checkpoint.Effect
		o := &e.Ops
		if err := rows.Scan(&e.Path, &o.Create, &o.Write, &o.Edit, &o.Delete, &o.Rename, &e.First, &e.Last, &e.Entry); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}
