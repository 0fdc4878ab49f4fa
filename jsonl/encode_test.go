package jsonl

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

// FuzzAppendJSON holds that what is written reads as the same value, that
// writing it again gives the same bytes, that it stays on one line, and that
// others take it for JSON.
func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{
		`{"b":1,"9":[null,true,false],"1":{},"a":"\ud800\udc00\ud800 \u2028é\u0000\"\\"}`,
		`[1e400,-0,1E+2,1e21,1e-7,0.000001,5e-324,1.7976931348623157e308,9007199254740993]`,
		`{"":"","a":1,"a":2,"4294967294":1,"4294967295":2,"01":3}`, "[\"\xe2\x82A\xff\xed\xa0\x80\"]", `[[[[{"a":[]}]]]]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, _, err := Parse(data)
		if err != nil {
			return
		}
		first := AppendJSON(nil, v)
		again, n, err := Parse(first)
		if err != nil || n != len(first) {
			t.Fatalf("%q was written as %q, which does not parse: %v", data, first, err)
		}
		if !sameValue(v, again) {
			t.Errorf("%q was written as %q, which is another value", data, first)
		}
		if second := AppendJSON(nil, again); !bytes.Equal(first, second) {
			t.Errorf("%q was written as %q, then as %q", data, first, second)
		}
		if bytes.ContainsAny(first, "\n\r") {
			t.Errorf("%q was written on more than one line: %q", data, first)
		}
		if len(first) < 10_000 && !json.Valid(first) { // that reader has a limit of depth
			t.Errorf("%q was written as %q, which is no JSON", data, first)
		}
	})
}

// sameValue compares as a writer must: a number that JSON has no text for
// reads as null.
func sameValue(a, b Value) bool {
	if a.Kind() == Number && math.IsInf(a.Num(), 0) {
		return b.Is(Null)
	}
	if a.Kind() != b.Kind() || a.Bool() != b.Bool() || a.Num() != b.Num() || a.Str() != b.Str() {
		return false
	}
	if len(a.Items()) != len(b.Items()) || a.Obj().Len() != b.Obj().Len() {
		return false
	}
	for i, item := range a.Items() {
		if !sameValue(item, b.Items()[i]) {
			return false
		}
	}
	for i, m := range a.Obj().Members() {
		other := b.Obj().Members()[i]
		if m.Key != other.Key || !sameValue(m.Value, other.Value) {
			return false
		}
	}
	return true
}
