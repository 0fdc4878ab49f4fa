package main

import (
	"context"
	"fmt"
	"sort"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

// hugeFile is the size from which a session is not loaded whole if the index
// knows where its entries lie.
const hugeFile = 32 << 20

// byLines makes the tree of a session from the index: its entries have their
// places only, but for those that the tree itself looks into. ok is false where
// the index can't answer for the file: it must be loaded.
func (a *app) byLines(ctx context.Context, x *index.Index, row index.Row) (f found, ok bool, err error) {
	if row.State != index.StateOK || row.Damage != "" || row.Estimated || row.Version < 3 || row.Entries == 0 {
		return f, false, nil
	}
	if _, err := x.Record(ctx, row.Path, 0); err != nil {
		return f, false, ctx.Err()
	}
	stubs := make([]*jsonl.Entry, 0, row.Entries)
	for r, err := range x.Entries(ctx, row.Path) {
		if err != nil {
			return f, false, ctx.Err()
		}
		stubs = append(stubs, stub(r))
	}
	for i, e := range stubs {
		if t := e.Type(); t != "label" && t != "compaction" {
			continue
		}
		o, err := x.Record(ctx, row.Path, i)
		if err != nil {
			return f, false, ctx.Err()
		}
		stubs[i] = whole(e, o)
	}
	f = found{row: row, tree: jsonl.NewTree(stubs)}
	f.entry = func(e *jsonl.Entry) (*jsonl.Entry, error) {
		seq := sort.Search(len(stubs), func(i int) bool { return stubs[i].Offset >= e.Offset })
		o, err := x.Record(ctx, row.Path, seq)
		if err != nil {
			return nil, fmt.Errorf("read line %d of %s: %s%w", e.Line, row.Path, cause(err), silent{err})
		}
		return whole(e, o), nil
	}
	return f, true, nil
}

// stub is an entry with what the index says of it.
func stub(r index.EntryRow) *jsonl.Entry {
	o := jsonl.NewObj(jsonl.Member{Key: "type", Value: jsonl.StringValue(r.Type)})
	if r.ID != "" {
		o.Set("id", jsonl.StringValue(r.ID))
	}
	if r.Parent != "" {
		o.Set("parentId", jsonl.StringValue(r.Parent))
	}
	if t := jsonTime(r.Time); t != nil {
		o.Set("timestamp", jsonl.StringValue(*t))
	}
	e := jsonl.NewEntry(o)
	e.Line, e.Offset, e.Size = r.Line, r.Offset, r.Size
	return e
}

// whole is the entry at the place of stub.
func whole(stub *jsonl.Entry, o *jsonl.Obj) *jsonl.Entry {
	e := jsonl.NewEntry(o)
	e.Line, e.Offset, e.Size = stub.Line, stub.Offset, stub.Size
	return e
}
