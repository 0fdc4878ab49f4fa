package main

// A path is bytes, and JSON is text. Where a path is not UTF-8 a second field
// with its bytes in base64 follows it: "pathBytes" after "path".

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// pathKeys are the fields that hold paths.
var pathKeys = []string{"path", "cwd", "project", "scope", "trash", "archive", "from", "to", "dir", "canonical", "source", "destination", "home", "index"}

// lostByte is what the encoder writes for a byte that is no UTF-8. The character
// itself is written as it is.
const lostByte = `\ufffd`

// withPathBytes is line, the JSON of v, with the bytes of paths that it can't
// hold.
func withPathBytes(line string, v any) (string, error) {
	if !strings.Contains(line, lostByte) {
		return line, nil
	}
	var b strings.Builder
	if err := appendWithBytes(&b, reflect.ValueOf(v)); err != nil {
		return line, err
	}
	return b.String() + "\n", nil
}

// appendWithBytes writes a value as encoding/json does, and the bytes of paths.
func appendWithBytes(b *strings.Builder, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct:
		return appendWithBytes(b, v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && !v.IsNil():
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendWithBytes(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case v.Kind() == reflect.Struct:
		b.WriteByte('{')
		_, err := appendFields(b, v, true)
		b.WriteByte('}')
		return err
	}
	text, err := plainJSON(v.Interface())
	b.WriteString(strings.TrimSuffix(text, "\n"))
	return err
}

// appendFields writes the fields of a struct; first says that none was written
// before, and so does what is returned of those that follow.
func appendFields(b *strings.Builder, v reflect.Value, first bool) (bool, error) {
	for i := range v.NumField() {
		f, in := v.Type().Field(i), v.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "" && in.Kind() == reflect.Struct:
			var err error
			if first, err = appendFields(b, in, first); err != nil {
				return first, err
			}
			continue
		case !f.IsExported() || key == "-" || strings.Contains(options, "omitempty") && (in.IsZero() || in.Kind() == reflect.Slice && in.Len() == 0):
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(`"` + key + `":`)
		if err := appendWithBytes(b, in); err != nil {
			return first, err
		}
		if in.Kind() == reflect.Pointer && !in.IsNil() {
			in = in.Elem()
		}
		if in.Kind() == reflect.String && slices.Contains(pathKeys, key) && !utf8.ValidString(in.String()) {
			b.WriteString(`,"` + key + `Bytes":"` + base64.StdEncoding.EncodeToString([]byte(in.String())) + `"`)
		}
	}
	return first, nil
}
