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
	return (&Preparer{Blobs: blobs}).Prepare(ctx, v)
}

// Preparer prepares records and counts what it had to cut. For one goroutine.
type Preparer struct {
	Blobs BlobPutter // nil takes no image out
	Cut   int        // texts that were longer than MaxText, cut or cleared
}

// Prepare is the function of that name.
func (p *Preparer) Prepare(ctx context.Context, v Value) (prepared Value, changed bool, err error) {
	prepared, how, err := p.value(ctx, v, "")
	return prepared, how != same, err
}

// change says how a prepared value differs from the given one. A placeholder
// that became its reference again is no change of what the file says, so no
// line count follows it.
type change uint8

const (
	same change = iota
	restored
	altered
)

// value prepares v, which stands under key; elements of an array stand under
// the array's key.
func (p *Preparer) value(ctx context.Context, v Value, key string) (Value, change, error) {
	switch v.kind {
	case String:
		return p.text(ctx, v, key, key == "image_url")
	case Array:
		return p.array(ctx, v, key)
	case Object:
		return p.object(ctx, v, key)
	}
	return v, same, nil
}

func (p *Preparer) text(ctx context.Context, v Value, key string, isURL bool) (Value, change, error) {
	if isURL && isImageURL(v.str) && p.Blobs != nil {
		ref, err := p.Blobs.Put(ctx, []byte(v.str))
		if err != nil {
			return v, same, fmt.Errorf("store image: %w", err)
		}
		return StringValue(ref.String()), altered, nil
	}
	if isURL || key == "data" {
		if ref, ok := missingRef(v.str); ok {
			return StringValue(ref), restored, nil
		}
	}
	text, cut := truncateText(v.str, key)
	if !cut {
		return v, same, nil
	}
	p.Cut++
	return StringValue(text), altered, nil
}

func (p *Preparer) array(ctx context.Context, v Value, key string) (Value, change, error) {
	var out []Value
	how := same
	for i, item := range v.Items() {
		prepared, did, err := p.element(ctx, item, key)
		if err != nil {
			return v, same, err
		}
		if did == same {
			continue
		}
		if out == nil {
			out = append(out, v.Items()...)
		}
		out[i] = prepared
		how = max(how, did)
	}
	if out == nil {
		return v, same, nil
	}
	return ArrayValue(out...), how, nil
}

func (p *Preparer) element(ctx context.Context, item Value, key string) (Value, change, error) {
	if key == "content" && p.Blobs != nil {
		if data, ok := imageBytes(item); ok {
			ref, err := p.Blobs.Put(ctx, data)
			if err != nil {
				return item, same, fmt.Errorf("store image: %w", err)
			}
			o := item.obj.Clone()
			o.Set("data", StringValue(ref.String()))
			return ObjectValue(o), altered, nil
		}
	}
	return p.value(ctx, item, key)
}

func (p *Preparer) object(ctx context.Context, v Value, key string) (Value, change, error) {
	var out *Obj
	how := same
	for _, m := range v.obj.Members() {
		var prepared Value
		var did change
		var err error
		switch {
		case isTransient(m.Key):
			did = altered
		case m.Value.kind == String && m.Key == "url" && key == "image_url":
			prepared, did, err = p.text(ctx, m.Value, m.Key, true)
		default:
			prepared, did, err = p.value(ctx, m.Value, m.Key)
		}
		if err != nil {
			return v, same, err
		}
		if did == same {
			continue
		}
		if out == nil {
			out = v.obj.Clone()
		}
		if isTransient(m.Key) {
			out.Delete(m.Key)
		} else {
			out.Set(m.Key, prepared)
		}
		how = max(how, did)
	}
	if out == nil {
		return v, same, nil
	}
	if how == altered {
		recountLines(out)
	}
	return ObjectValue(out), how, nil
}
