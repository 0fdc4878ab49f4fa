package jsonl

// Redactor takes secrets out of a text before it is written or shown. It must
// return the text itself if there is nothing to take out.
type Redactor func(text string) string

// Value is v with the text of its strings redacted. Names that join records,
// and payloads that a changed byte makes worthless (images, signatures), are
// left alone. What doesn't change is shared; a nil Redactor changes nothing.
func (r Redactor) Value(v Value) Value {
	if r == nil {
		return v
	}
	v, _ = r.value(v, "")
	return v
}

func (r Redactor) value(v Value, key string) (Value, bool) {
	switch v.kind {
	case String:
		if keepsText(key) || isRef(v.str) || isImageURL(v.str) {
			return v, false
		}
		if text := r(v.str); text != v.str {
			return StringValue(text), true
		}
	case Array:
		var out []Value
		for i, item := range v.Items() {
			made, changed := r.value(item, key)
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
		return r.object(v)
	}
	return v, false
}

func (r Redactor) object(v Value) (Value, bool) {
	var out *Obj
	isImage := v.Get("type").Str() == "image"
	for _, m := range v.obj.Members() {
		if isImage && m.Key == "data" {
			continue
		}
		made, changed := r.value(m.Value, m.Key)
		if !changed {
			continue
		}
		if out == nil {
			out = v.obj.Clone()
		}
		out.Set(m.Key, made)
	}
	if out == nil {
		return v, false
	}
	recountLines(out)
	return ObjectValue(out), true
}

// keepsText tells the keys whose strings no redactor may change.
func keepsText(key string) bool {
	switch key {
	case "type", "role", "id", "parentId", "timestamp", "event_id", "entryId", "targetId", "fromId",
		"firstKeptEntryId", "customType", "toolCallId", "parentSession", "mimeType",
		"thinkingSignature", "thoughtSignature", "textSignature", "encrypted_content":
		return true
	}
	return false
}
