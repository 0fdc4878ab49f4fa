package jsonl

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/blob"
)

// Evicted reports whether content of the entry was moved to blobs.
func Evicted(o *Obj) bool { return o.Get(evictedKey).Is(Object) }

// Rehydrate puts evicted content back in its places, for an export; the entry
// keeps saying what was evicted. Content whose blob is missing, damaged or not
// what the entry says is shown as a placeholder and reported. o isn't changed;
// an entry without evicted content is returned itself. err is for the end of
// ctx alone.
func Rehydrate(ctx context.Context, blobs BlobGetter, o *Obj) (*Obj, []MissingBlob, error) {
	if !Evicted(o) {
		return o, nil, nil
	}
	v, root := ObjectValue(o), strings.Join(contentPath(o), ".")+"."
	var missing []MissingBlob
	for _, m := range o.Get(evictedKey).Get("payloads").Obj().Members() {
		if !strings.HasPrefix(m.Key, root) {
			continue // nothing but content is ever evicted
		}
		content, lost, err := coldContent(ctx, blobs, m.Value)
		if err != nil {
			return o, missing, err
		}
		if lost != nil {
			missing = append(missing, *lost)
		}
		v = setAt(v, strings.Split(m.Key, "."), content)
	}
	return v.obj, missing, nil
}

// coldContent reads one payload; one that can't be had is its placeholder.
func coldContent(ctx context.Context, blobs BlobGetter, payload Value) (Value, *MissingBlob, error) {
	name := payload.Get("ref").Str()
	lost := StringValue("[Cold-spill blob unavailable: " + name + "]")
	ref, err := blob.ParseRef(name)
	if err != nil {
		return lost, &MissingBlob{Kind: "coldSpill", Err: err}, nil
	}
	data, err := blobs.Get(ctx, ref)
	if ctx.Err() != nil {
		return Value{}, nil, ctx.Err()
	}
	sum, size := payload.Get("sha256"), payload.Get("bytes")
	if err == nil && (sum.Is(String) && sum.str != ref.Hex() || size.Is(Number) && size.num != float64(len(data))) {
		err = blob.ErrCorrupt
	}
	var content Value
	if err == nil {
		content, err = decodeCold(data, payload.Get("encoding").Str())
	}
	if err != nil {
		return lost, &MissingBlob{Ref: ref, Kind: "coldSpill", Err: err}, nil
	}
	return content, nil, nil
}

func decodeCold(data []byte, encoding string) (Value, error) {
	if encoding == encodingJSON {
		return parseWhole(data)
	}
	if !utf8.Valid(data) {
		return Value{}, blob.ErrCorrupt
	}
	return StringValue(string(data)), nil
}

// setAt is v with another value at path; v itself if the path leads nowhere.
// What is not on the path is shared. A key may hold dots: then it takes
// several parts of the path.
func setAt(v Value, path []string, to Value) Value {
	if len(path) == 0 {
		return to
	}
	switch v.kind {
	case Array:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v.Items()) {
			return v
		}
		out := append([]Value(nil), v.Items()...)
		out[i] = setAt(out[i], path[1:], to)
		return ArrayValue(out...)
	case Object:
		for n := 1; n <= len(path); n++ {
			key := strings.Join(path[:n], ".")
			if !v.obj.Has(key) {
				continue
			}
			out := v.obj.Clone()
			out.Set(key, setAt(out.Get(key), path[n:], to))
			return ObjectValue(out)
		}
	}
	return v
}
