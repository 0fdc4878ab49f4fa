package jsonl

import (
	"encoding/base64"
	"strings"
)

// minImage is the length of an image's base64 text, in UTF-16 units, from
// which it is kept outside of the record.
const minImage = 1024

// isImageURL reports whether text is an image in a data URL, which is kept
// outside whatever its length. Text that UTF-8 can't say stays where it is.
func isImageURL(text string) bool {
	return strings.HasPrefix(text, "data:image/") && strings.Contains(text, ";base64,") && !hasSurrogate(text)
}

// imageBytes gives the bytes of an image block that is to be kept outside.
// Data that is no base64, however leniently read, stays where it is: decoding
// it would lose what it says.
func imageBytes(block Value) ([]byte, bool) {
	data := block.Get("data")
	if !data.Is(String) || block.Get("type").Str() != "image" {
		return nil, false
	}
	if len(data.str) < minImage || strings.HasPrefix(data.str, refPrefix) || !longer16(data.str, minImage-1) {
		return nil, false
	}
	return decodeBase64(data.str)
}

// CanonicalImages is a record as it reads when it is loaded again: the base64
// text of each image that Prepare would take out is written canonically. It
// shares what doesn't change.
func CanonicalImages(v Value) Value {
	v, _ = canonicalImages(v, "")
	return v
}

func canonicalImages(v Value, key string) (Value, bool) {
	switch v.kind {
	case Array:
		var out []Value
		for i, item := range v.Items() {
			made, changed := canonicalImage(item, key)
			if !changed {
				continue
			}
			if out == nil {
				out = append(out, v.Items()...)
			}
			out[i] = made
		}
		if out != nil {
			return ArrayValue(out...), true
		}
	case Object:
		var out *Obj
		for _, m := range v.obj.Members() {
			made, changed := canonicalImages(m.Value, m.Key)
			if !changed {
				continue
			}
			if out == nil {
				out = v.obj.Clone()
			}
			out.Set(m.Key, made)
		}
		if out != nil {
			return ObjectValue(out), true
		}
	}
	return v, false
}

func canonicalImage(item Value, key string) (Value, bool) {
	if key == "content" {
		if data, ok := imageBytes(item); ok {
			text := base64.StdEncoding.EncodeToString(data)
			if text == item.Get("data").str {
				return item, false
			}
			o := item.obj.Clone()
			o.Set("data", StringValue(text))
			return ObjectValue(o), true
		}
	}
	return canonicalImages(item, key)
}

// decodeBase64 reads base64 as leniently as Node does: white space anywhere,
// the URL-safe alphabet as well, padding or not. Anything else is not base64.
func decodeBase64(text string) ([]byte, bool) {
	if data, err := base64.StdEncoding.DecodeString(text); err == nil {
		return data, true
	}
	out := make([]byte, 0, len(text)/4*3+2)
	bits, have, padding := uint32(0), 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || (c >= '\t' && c <= '\r'):
			continue
		case c == '=':
			padding++
			continue
		}
		d := base64Digit[c]
		if d == 0 || padding > 0 {
			return nil, false
		}
		bits = bits<<6 | uint32(d-1)
		if have++; have == 4 {
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, have = 0, 0
		}
	}
	switch have { // a single digit over is no whole byte and is dropped
	case 2:
		out = append(out, byte(bits>>4))
	case 3:
		out = append(out, byte(bits>>10), byte(bits>>2))
	}
	return out, padding <= 2
}

// base64Digit gives a digit's value plus one, of both alphabets.
var base64Digit = func() (table [256]byte) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range digits {
		table[digits[i]] = byte(i + 1)
	}
	table['+'], table['-'], table['/'], table['_'] = 63, 63, 64, 64
	return table
}()
