package jsonl

import "strconv"

// Redactor takes secrets out of a text before it is written or shown. It must
// return the text itself if there is nothing to take out.
type Redactor func(text string) string

// Value is v with the text of its strings redacted, and with the names of its
// properties. A string is looked at by itself and then with its name before it,
// as in "password":"…", since a name can say that a secret follows. Names that
// join records, and payloads that a changed byte makes worthless (images,
// signatures), are left alone. What doesn't change is shared; a nil Redactor
// changes nothing.
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
		if text := r.text(v.str, key); text != v.str {
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
	renamed := false
	for _, m := range v.obj.Members() {
		if isImage && m.Key == "data" {
			continue
		}
		key := m.Key
		if !isPlainName(key) {
			key = r(key)
			renamed = renamed || key != m.Key
		}
		made, changed := r.value(m.Value, key)
		if !changed {
			continue
		}
		if out == nil {
			out = v.obj.Clone()
		}
		out.Set(m.Key, made)
	}
	if renamed {
		if out == nil {
			out = v.obj
		}
		out = r.rename(out)
	}
	if out == nil {
		return v, false
	}
	recountLines(out)
	return ObjectValue(out), true
}

// rename is an object with the names of its properties redacted, each still
// another.
func (r Redactor) rename(o *Obj) *Obj {
	taken := make(map[string]bool, o.Len())
	for _, m := range o.Members() {
		if isPlainName(m.Key) || r(m.Key) == m.Key {
			taken[m.Key] = true
		}
	}
	made := &Obj{}
	for _, m := range o.Members() {
		key := m.Key
		if !taken[key] {
			key = r(key)
			for n, base := 2, key; taken[key]; n++ {
				key = base + "-" + strconv.Itoa(n)
			}
			taken[key] = true
		}
		made.Set(key, m.Value)
	}
	return made
}

// maxNamed is the length up to which a text is looked at together with its
// name; a longer one is no password.
const maxNamed = 4096

// text is a text that stands under a name, redacted.
func (r Redactor) text(text, key string) string {
	text = r(text)
	if text == "" || len(text) > maxNamed || key == "" || isPlainName(key) {
		return text
	}
	named := string(AppendJSON(append(AppendJSON(nil, StringValue(key)), ':'), StringValue(text)))
	made := r(named)
	if made == named {
		return text
	}
	v, err := ParseString("{" + made + "}")
	if members := v.Obj().Members(); err == nil && len(members) == 1 && members[0].Value.Is(String) {
		return members[0].Value.Str()
	}
	return made // what was taken out went over the quotes
}

// isPlainName tells names of the format, and such as every tool has: they say
// nothing of the text under them.
func isPlainName(key string) bool {
	switch key {
	case "content", "text", "thinking", "message", "arguments", "name", "toolName", "model", "modelId", "provider", "api", "usage", "details",
		"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost", "total", "stopReason", "path", "command", "summary", "title",
		"cwd", "data", "label", "label_set", "patch", "isError", "version", "display", "diff":
		return true
	}
	return keepsText(key)
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
