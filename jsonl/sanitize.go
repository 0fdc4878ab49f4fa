package jsonl

// Sanitized is the message that an entry should have instead of its own before
// its session is continued; changed is false if it is fine as it is. Messages
// of the assistant lose a provider's hidden history and the signatures of
// thinking that belong to it. Nothing is changed here: the session writes an
// entry patch, or the whole file. Source: behaviour part 9.
func Sanitized(e *Entry) (message Value, changed bool) {
	if e.kind != "message" || e.role != "assistant" {
		return Value{}, false
	}
	old := e.Value().Get("message")
	if old.Get("providerPayload").Get("type").Str() != "openaiResponsesHistory" {
		return Value{}, false
	}
	o := old.Obj().Clone()
	o.Delete("providerPayload")
	content := o.Get("content")
	if !content.Is(Array) {
		return ObjectValue(o), true
	}
	blocks := append([]Value{}, content.Items()...)
	for i, b := range blocks {
		if b.Get("type").Str() == "thinking" && b.Obj().Has("thinkingSignature") {
			block := b.Obj().Clone()
			block.Delete("thinkingSignature")
			blocks[i] = ObjectValue(block)
		}
	}
	o.Set("content", ArrayValue(blocks...))
	return ObjectValue(o), true
}
