package jsonl

import (
	"context"
	"fmt"

	"github.com/gajae-code/gjc-index/blob"
)

// BlobPutter stores bytes under their sum; *blob.Store is one.
type BlobPutter interface {
	Put(ctx context.Context, data []byte) (blob.Ref, error)
}

// BlobGetter hands out what a BlobPutter stored; *blob.Store is one. A missing
// blob is fs.ErrNotExist, a damaged one blob.ErrCorrupt.
type BlobGetter interface {
	Get(ctx context.Context, ref blob.Ref) ([]byte, error)
}

// Prepare makes a record, header or patch what goes into the file: images and
// image data URLs become references to blobs, which are stored before Prepare
// returns; strings past 500,000 UTF-16 units are cut with a notice and
// signatures of that length cleared; transient keys are dropped; lineCount
// follows a changed content. The placeholder that Resolve put in place of a
// missing blob becomes its reference again.
//
// v itself isn't changed: what differs is copied, the rest shared. With nil
// blobs nothing is taken out. Source: behaviour part 12, decision 6.
func Prepare(ctx context.Context, blobs BlobPutter, v Value) (prepared Value, changed bool, err error) {
	return preparer{blobs}.value(ctx, v, "")
}

type preparer struct{ blobs BlobPutter }

// value prepares v, which stands under key; elements of an array stand under
// the array's key.
func (p preparer) value(ctx context.Context, v Value, key string) (Value, bool, error) {
	switch v.kind {
	case String:
		return p.text(ctx, v, key, key == "image_url")
	case Array:
		return p.array(ctx, v, key)
	case Object:
		return p.object(ctx, v, key)
	}
	return v, false, nil
}

func (p preparer) text(ctx context.Context, v Value, key string, isURL bool) (Value, bool, error) {
	if isURL && isImageURL(v.str) && p.blobs != nil {
		ref, err := p.blobs.Put(ctx, []byte(v.str))
		if err != nil {
			return v, false, fmt.Errorf("store image: %w", err)
		}
		return StringValue(ref.String()), true, nil
	}
	if isURL || key == "data" {
		if ref, ok := missingRef(v.str); ok {
			return StringValue(ref), true, nil
		}
	}
	text, cut := truncateText(v.str, key)
	if !cut {
		return v, false, nil
	}
	return StringValue(text), true, nil
}

func (p preparer) array(ctx context.Context, v Value, key string) (Value, bool, error) {
	var out []Value
	for i, item := range v.Items() {
		prepared, changed, err := p.element(ctx, item, key)
		if err != nil {
			return v, false, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = append(out, v.Items()...)
		}
		out[i] = prepared
	}
	if out == nil {
		return v, false, nil
	}
	return ArrayValue(out...), true, nil
}

func (p preparer) element(ctx context.Context, item Value, key string) (Value, bool, error) {
	if key == "content" && p.blobs != nil {
		if data, ok := imageBytes(item); ok {
			ref, err := p.blobs.Put(ctx, data)
			if err != nil {
				return item, false, fmt.Errorf("store image: %w", err)
			}
			o := item.obj.Clone()
			o.Set("data", StringValue(ref.String()))
			return ObjectValue(o), true, nil
		}
	}
	return p.value(ctx, item, key)
}

func (p preparer) object(ctx context.Context, v Value, key string) (Value, bool, error) {
	var out *Obj
	change := func() *Obj {
		if out == nil {
			out = v.obj.Clone()
		}
		return out
	}
	for _, m := range v.obj.Members() {
		if isTransient(m.Key) {
			change().Delete(m.Key)
			continue
		}
		var prepared Value
		var changed bool
		var err error
		if m.Value.kind == String && m.Key == "url" && key == "image_url" {
			prepared, changed, err = p.text(ctx, m.Value, m.Key, true)
		} else {
			prepared, changed, err = p.value(ctx, m.Value, m.Key)
		}
		if err != nil {
			return v, false, err
		}
		if changed {
			change().Set(m.Key, prepared)
		}
	}
	if out == nil {
		return v, false, nil
	}
	recountLines(out)
	return ObjectValue(out), true, nil
}
