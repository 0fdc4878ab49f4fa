package scope

import (
	"io"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// The protocol's files are JSON objects with keys in a fixed order and a line
// end. What the original holds as big integers is written as text.

// object is an object of alternating keys (string) and values (jsonl.Value).
func object(pairs ...any) jsonl.Value {
	o := &jsonl.Obj{}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1].(jsonl.Value))
	}
	return jsonl.ObjectValue(o)
}

func text(s string) jsonl.Value    { return jsonl.StringValue(s) }
func number(n int64) jsonl.Value   { return jsonl.NumberValue(float64(n)) }
func bigUint(n uint64) jsonl.Value { return text(strconv.FormatUint(n, 10)) }
func bigInt(n int64) jsonl.Value   { return text(strconv.FormatInt(n, 10)) }
func writeJSON(v jsonl.Value) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(append(jsonl.AppendJSON(nil, v), '\n'))
		return err
	}
}

// whole describes a file as receipts and tombstones do.
func whole(c Candidate, sum string) jsonl.Value {
	i := c.Info
	return object("canonicalPath", text(c.Path), "sessionId", text(c.SessionID),
		"dev", bigUint(i.Dev), "ino", bigUint(i.Inode), "nlink", bigUint(i.Links), "size", number(i.Size),
		"mtimeNs", bigInt(i.ModTime), "ctimeNs", bigInt(i.ChangeTime), "sha256", text(sum),
		"mtimeMs", number(floorDiv(i.ModTime, 1e6)))
}

// whole is the same from a record.
func (r record) whole() jsonl.Value {
	return object("canonicalPath", text(r.canonical), "sessionId", text(r.sessionID),
		"dev", text(r.dev), "ino", text(r.ino), "nlink", bigUint(r.nlink), "size", number(r.size),
		"mtimeNs", text(r.mtimeNs), "ctimeNs", text(r.ctimeNs), "sha256", text(r.sum),
		"mtimeMs", jsonl.NumberValue(r.mtimeMs))
}

// floorDiv rounds down, so that times before 1970 come out right.
func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// short describes a target of a deletion.
func (r record) short() jsonl.Value {
	return object("path", text(r.path), "sessionId", text(r.sessionID), "cwd", text(r.cwd),
		"identity", object("canonicalPath", text(r.canonical), "dev", text(r.dev), "ino", text(r.ino),
			"size", number(r.size), "mtimeMs", jsonl.NumberValue(r.mtimeMs), "mtimeNs", text(r.mtimeNs),
			"sha256", text(r.sum), "sessionId", text(r.sessionID)))
}

// directory describes the root of a session's artifacts; links only in some places.
func directory(i storage.Info, links bool) jsonl.Value {
	o := object("dev", bigUint(i.Dev), "ino", bigUint(i.Inode))
	if links {
		o.Obj().Set("nlink", bigUint(i.Links))
	}
	o.Obj().Set("size", number(i.Size))
	o.Obj().Set("mtimeNs", bigInt(i.ModTime))
	o.Obj().Set("sha256", text(""))
	return o
}
