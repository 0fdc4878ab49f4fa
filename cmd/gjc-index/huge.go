package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// hugeFile is the size from which a session is not loaded whole if the index
// knows where its entries lie.
const hugeFile = 32 << 20

// maxGap bounds what is read between two entries to see if it is a patch.
const maxGap = 1 << 20

// hugeSession reads single entries of a session file.
type hugeSession struct {
	ctx     context.Context // of the command, which is the life of it
	index   *index.Index
	path    string
	file    storage.File
	stubs   []*jsonl.Entry
	patched bool // patches stand between the entries: the index must put them in
	buf     []byte
}

// byLines makes the tree of a session from the index: its entries have their
// places only, but for those that the tree itself looks into. ok is false where
// the index can't answer for the file: it must be loaded. found.close ends it.
func (a *app) byLines(ctx context.Context, x *index.Index, row index.Row) (f found, ok bool, err error) {
	if row.State != index.StateOK || row.Damage != "" || row.Estimated || row.Version < 3 || row.Entries == 0 {
		return f, false, nil
	}
	if _, err := x.Record(ctx, row.Path, 0); err != nil { // the file is not as it was indexed
		return f, false, ctx.Err()
	}
	file, err := a.fsys.Open(row.Path)
	if err != nil {
		return f, false, loadError(row.Path, err)
	}
	h := &hugeSession{ctx: ctx, index: x, path: row.Path, file: file}
	if ok, err = h.open(row); err != nil || !ok {
		return f, false, errors.Join(err, file.Close())
	}
	return found{row: row, tree: jsonl.NewTree(h.stubs), entry: h.entry, close: file.Close}, true, nil
}

// open reads the places of the entries, and those entries that a tree is made of.
func (h *hugeSession) open(row index.Row) (ok bool, err error) {
	h.stubs = make([]*jsonl.Entry, 0, row.Entries)
	for r, err := range h.index.Entries(h.ctx, h.path) {
		if err != nil {
			return false, h.ctx.Err()
		}
		h.stubs = append(h.stubs, stub(r))
	}
	for i := range h.stubs {
		if err := h.lookAfter(i, row.Size); err != nil {
			return false, h.ctx.Err()
		}
	}
	for i, e := range h.stubs {
		if t := e.Type(); t != "label" && t != "compaction" {
			continue
		}
		if h.stubs[i], err = h.entry(e); err != nil {
			return false, h.ctx.Err()
		}
	}
	return true, nil
}

// lookAfter looks at what stands between an entry and the one after it.
func (h *hugeSession) lookAfter(i int, size int64) error {
	from, to := h.stubs[i].Offset+h.stubs[i].Size, size
	if i+1 < len(h.stubs) {
		to = h.stubs[i+1].Offset
	}
	switch {
	case h.patched || to-from <= 2: // a line end
		return nil
	case to-from > maxGap:
		h.patched = true
		return nil
	}
	gap, err := h.read(from, to-from)
	h.patched = h.patched || bytes.Contains(gap, []byte("entry_patch"))
	return err
}

// entry is the whole entry at the place of a stub.
func (h *hugeSession) entry(e *jsonl.Entry) (*jsonl.Entry, error) {
	o, err := h.record(e)
	if err != nil {
		return nil, fmt.Errorf("read line %d of %s: %s%w", e.Line, h.path, cause(err), silent{err})
	}
	whole := jsonl.NewEntry(o)
	whole.Line, whole.Offset, whole.Size = e.Line, e.Offset, e.Size
	return whole, nil
}

var errChanged = errors.New("the file was changed while it was read")

func (h *hugeSession) record(e *jsonl.Entry) (*jsonl.Obj, error) {
	if h.patched {
		seq := sort.Search(len(h.stubs), func(i int) bool { return h.stubs[i].Offset >= e.Offset })
		return h.index.Record(h.ctx, h.path, seq)
	}
	raw, err := h.read(e.Offset, e.Size)
	if err != nil {
		return nil, err
	}
	v, _, err := jsonl.Parse(raw)
	want, _ := e.ID()
	if err != nil || !v.Is(jsonl.Object) || v.Get("id").Str() != want {
		return nil, errChanged
	}
	return v.Obj(), nil
}

// read gives bytes of the file; they are good until the next read.
func (h *hugeSession) read(offset, size int64) ([]byte, error) {
	if int64(cap(h.buf)) < size {
		h.buf = make([]byte, size)
	}
	buf := h.buf[:size]
	n, err := h.file.ReadAt(buf, offset)
	if n == len(buf) || errors.Is(err, io.EOF) {
		err = nil
	}
	return buf[:n], err
}

// stub is an entry with what the index says of it.
func stub(r index.EntryRow) *jsonl.Entry {
	members := make([]jsonl.Member, 1, 4)
	members[0] = jsonl.Member{Key: "type", Value: jsonl.StringValue(r.Type)}
	if r.ID != "" {
		members = append(members, jsonl.Member{Key: "id", Value: jsonl.StringValue(r.ID)})
	}
	if r.Parent != "" {
		members = append(members, jsonl.Member{Key: "parentId", Value: jsonl.StringValue(r.Parent)})
	}
	if t := jsonTime(r.Time); t != nil {
		members = append(members, jsonl.Member{Key: "timestamp", Value: jsonl.StringValue(*t)})
	}
	e := jsonl.NewEntry(jsonl.NewObj(members...))
	e.Line, e.Offset, e.Size = r.Line, r.Offset, r.Size
	return e
}
