package jsonl

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/blob"
)

// The kinds of content that are kept outside of a record, as placeholders name
// them.
const (
	kindImageData = "imageData" // the base64 text of an image block
	kindImageURL  = "imageUrl"  // text: a data URL, or what stands under a key data
)

// MissingBlob is a reference whose blob Resolve could not read.
type MissingBlob struct {
	Ref  blob.Ref
	Kind string // imageData, imageUrl or coldSpill
	Err  error  // fs.ErrNotExist, blob.ErrCorrupt, or what the disk answered
}

// Resolve puts the blobs that a loaded record refers to in their places: image
// blocks anywhere get base64 text; image_url and its url, and any key data but
// that of an object directly under content, get the blob as text. References
// elsewhere stay what they are, as do those to bytes that are no text, and
// those to content so long that Prepare would cut it rather than take it out
// again.
//
// A blob that can't be read is shown as a placeholder, which Prepare turns
// back into the reference, and is reported; err is for the end of ctx alone.
// v itself isn't changed. Source: behaviour part 12, decision 6.
func Resolve(ctx context.Context, blobs BlobGetter, v Value) (resolved Value, missing []MissingBlob, err error) {
	r := resolver{blobs: blobs}
	resolved, _, err = r.value(ctx, v, spot{})
	return resolved, r.missing, err
}

type resolver struct {
	blobs   BlobGetter
	missing []MissingBlob
}

// spot is where a value stands: under which key, as elements of an array do
// under the array's, and whether it is such an element.
type spot struct {
	key     string
	element bool
}

func (r *resolver) value(ctx context.Context, v Value, at spot) (Value, bool, error) {
	switch v.kind {
	case Array:
		return r.array(ctx, v, at.key)
	case Object:
		return r.object(ctx, v, at)
	}
	return v, false, nil
}

func (r *resolver) array(ctx context.Context, v Value, key string) (Value, bool, error) {
	var out []Value
	for i, item := range v.Items() {
		resolved, changed, err := r.value(ctx, item, spot{key, true})
		if err != nil {
			return v, false, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = append(out, v.Items()...)
		}
		out[i] = resolved
	}
	if out == nil {
		return v, false, nil
	}
	return ArrayValue(out...), true, nil
}

func (r *resolver) object(ctx context.Context, v Value, at spot) (Value, bool, error) {
	var out *Obj
	isImage := v.Get("type").Str() == "image"
	for _, m := range v.obj.Members() {
		var resolved Value
		var changed bool
		var err error
		if kind := kindAt(m, at.key, isImage); kind != "" {
			takenOut := m.Key != "data" || isImage && at == spot{"content", true}
			resolved, changed, err = r.reference(ctx, m.Value, kind, takenOut)
		} else {
			resolved, changed, err = r.value(ctx, m.Value, spot{m.Key, false})
		}
		if err != nil {
			return v, false, err
		}
		if !changed {
			continue
		}
		if out == nil {
			out = v.obj.Clone()
		}
		out.Set(m.Key, resolved)
	}
	if out == nil {
		return v, false, nil
	}
	return ObjectValue(out), true, nil
}

// kindAt says what a member that is a reference stands for; "" for one that
// stays, and for what is no reference. key is where the member's object stands.
func kindAt(m Member, key string, isImage bool) string {
	if m.Value.kind != String || !isRef(m.Value.str) {
		return ""
	}
	switch m.Key {
	case "data":
		if isImage {
			return kindImageData
		}
		if key != "content" {
			return kindImageURL
		}
	case "image_url":
		return kindImageURL
	case "url":
		if key == "image_url" {
			return kindImageURL
		}
	}
	return ""
}

// reference reads what v refers to; takenOut tells that Prepare takes content
// out of this place again.
func (r *resolver) reference(ctx context.Context, v Value, kind string, takenOut bool) (Value, bool, error) {
	ref, err := blob.ParseRef(v.str)
	if err != nil {
		return v, false, nil
	}
	data, err := r.blobs.Get(ctx, ref)
	if ctx.Err() != nil {
		return v, false, ctx.Err()
	}
	if err != nil {
		r.missing = append(r.missing, MissingBlob{Ref: ref, Kind: kind, Err: err})
		return StringValue(placeholder(kind, ref.Hex())), true, nil
	}
	var text string
	if kind == kindImageData {
		text = base64.StdEncoding.EncodeToString(data)
	} else {
		text = string(data)
		takenOut = takenOut && isImageURL(text)
	}
	if !utf8.ValidString(text) || !takenOut && longer16(text, MaxText) {
		return v, false, nil
	}
	return StringValue(text), true, nil
}

const (
	placeholderStart  = "[Session resident "
	placeholderMiddle = " blob missing: sha256:"
	placeholderEnd    = "; original content unavailable]"
)

// placeholder is the text shown in place of content whose blob is missing.
func placeholder(kind, hex string) string {
	return fmt.Sprint(placeholderStart, kind, placeholderMiddle, hex, placeholderEnd)
}

// missingRef gives the reference that a placeholder stands for.
func missingRef(text string) (ref string, ok bool) {
	rest, ok := strings.CutPrefix(text, placeholderStart)
	if !ok {
		return "", false
	}
	kind, rest, ok := strings.Cut(rest, placeholderMiddle)
	if !ok || (kind != kindImageData && kind != kindImageURL) {
		return "", false
	}
	hex, ok := strings.CutSuffix(rest, placeholderEnd)
	ref = refPrefix + hex
	return ref, ok && isRef(ref)
}
