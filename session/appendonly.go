package session

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// firstTail is how much is read of a transcript's end to find its last entry,
// in bytes; it grows as long as nothing was found.
const firstTail = 64 << 10

// openEnd opens a transcript from its first line, its end and its leaf file.
// ok is false if it must be read whole: it is missing, of an older format, or
// its end is not plain.
func (c *core) openEnd(ctx context.Context) (ok bool, err error) {
	head, st, err := storage.ReadPrefix(c.st.fsys, c.path, jsonl.ScopeHeader)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	header := plainHeader(head)
	if header == nil {
		return false, nil
	}
	last, err := c.st.lastEntry(ctx, c.path, st.Size)
	if err != nil || last == nil {
		return false, err
	}
	c.startWith(header)
	c.partial, c.onDisk, c.cwd = true, true, header.Cwd()
	c.size, c.base = st.Size, st.Size
	c.resumeMeta()
	if err := c.readEndPatches(); err != nil {
		return false, err
	}
	id, _ := last.ID()
	c.leaf = jsonl.LeafAt(id)
	leaf, chosen, err := ReadLeaf(c.st.fsys, c.path, header.ID(), st.Size)
	if err != nil {
		return false, err
	}
	if c.leafFile = chosen; chosen {
		c.leaf = leaf
	}
	return true, errors.Join(c.keepLocked(), c.st.prepare())
}

// plainHeader is the header on the first line, if it needs no upgrade.
func plainHeader(head []byte) *jsonl.Header {
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	var f jsonl.Fields
	if !whole || !f.Scan(line) || !f.Type.Equal("session") || !f.ID.Ok() || f.Cwd.Text() == "" {
		return nil
	}
	if f.VersionKind != jsonl.Number || f.Version != jsonl.CurrentVersion {
		return nil
	}
	v, _, err := jsonl.Parse(line)
	if err != nil {
		return nil
	}
	return jsonl.NewHeader(v.Obj())
}

// lastEntry is the last entry of a file of the given length; nil if the file
// must be read whole to know.
func (s *Store) lastEntry(ctx context.Context, path string, size int64) (*jsonl.Entry, error) {
	for n := int64(firstTail); ; n *= 4 {
		tail, st, err := storage.ReadTail(s.fsys, path, int(min(n, size)))
		if err != nil || st.Size != size {
			return nil, err
		}
		last, err := lastIn(ctx, tail, int64(len(tail)) == size)
		if err != nil || last != nil {
			return last, err
		}
		if n >= size || n > jsonl.DefaultMaxLine {
			return nil, nil
		}
	}
}

// lastIn is the last entry in a file's end, read from the first line there that
// is a record by itself; whole says that the end is the whole file.
func lastIn(ctx context.Context, tail []byte, whole bool) (*jsonl.Entry, error) {
	if !whole {
		_, tail, _ = bytes.Cut(tail, []byte{'\n'})
	}
	var f jsonl.Fields
	for len(tail) > 0 {
		line, rest, ended := bytes.Cut(tail, []byte{'\n'})
		if ended && f.Scan(line) {
			break
		}
		tail = rest
	}
	var last *jsonl.Entry
	var damaged bool
	opt := jsonl.ReadOptions{Report: func(jsonl.LineReport) { damaged = true }}
	for rec, err := range jsonl.Read(ctx, bytes.NewReader(tail), opt) {
		if err != nil {
			return nil, err
		}
		if isNode(rec.Fields) {
			last = jsonl.ParseText(string(rec.Raw))[0]
		}
	}
	if damaged && last == nil {
		return nil, nil
	}
	return last, nil
}

// isNode tells a record that is an entry with an id.
func isNode(f *jsonl.Fields) bool {
	switch f.Type.Text() {
	case "session", "title", "header_patch", "entry_patch":
		return false
	}
	return f.ID.Ok()
}

// readEndPatches takes the newest title and workspace from the file's end, as
// listing does.
func (c *core) readEndPatches() error {
	data, st, err := storage.ReadTail(c.st.fsys, c.path, jsonl.ListingTail)
	if err != nil {
		return err
	}
	tail := patchesOf(data, st.Size > int64(len(data)))
	if tail.hasTitle {
		c.header.Set("title", jsonl.StringValue(tail.title))
	}
	if tail.hasCwd {
		c.cwd = tail.cwd
	}
	return nil
}
