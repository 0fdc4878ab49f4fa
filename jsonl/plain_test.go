package jsonl

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/blob"
)

// countingBlobs takes blobs and keeps none.
type countingBlobs struct{ puts int }

func (c *countingBlobs) Put(_ context.Context, data []byte) (blob.Ref, error) {
	c.puts++
	return blob.RefOf(data), nil
}

// anyValue draws values with all that Prepare and its like look for.
func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return Value{}
		case 1:
			return NumberValue(float64(rapid.IntRange(-3, 3).Draw(t, "number")))
		case 2:
			if depth > 0 {
				return ArrayValue(rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "items")...)
			}
		case 3, 4, 5:
			if depth == 0 {
				break
			}
			o := &Obj{}
			keys := []string{"content", "data", "image_url", "url", "type", "partialJson", "lineCount", "text", "0"}
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				o.Set(rapid.SampledFrom(keys).Draw(t, "key"), anyValue(depth-1).Draw(t, "value"))
			}
			return ObjectValue(o)
		}
		return StringValue(rapid.SampledFrom([]string{"", "image", "text", "data:image/png;base64,QUJD", strings.Repeat("QUJD\n", 300), strings.Repeat("x", MaxText+1)}).Draw(t, "string"))
	})
}

func TestPlainValuesStayAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(4).Draw(t, "value")
		if !Plain(v) {
			return
		}
		normal, err := Normalize(v)
		if err != nil {
			t.Fatal(err)
		}
		blobs := &countingBlobs{}
		_, changed, err := Prepare(context.Background(), blobs, v)
		if err != nil || changed || blobs.puts > 0 || normal.JSON() != v.JSON() || CanonicalImages(v).JSON() != v.JSON() {
			t.Errorf("plain value %s is changed", v.JSON())
		}
	})
}

func TestPlainTakesMostMessages(t *testing.T) {
	v, err := ParseString(`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"toolCall","arguments":{"path":"a"}}],"usage":{"input":1}}}`)
	if err != nil || !Plain(v) {
		t.Errorf("Plain(%s) = false, %v", v.JSON(), err)
	}
}
