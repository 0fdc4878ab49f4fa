package jsonl

import "strings"

// What stands at the end of a string that was longer than MaxText.
const truncationNotice = "\n\n[Session persistence truncated large content]"

// truncateText shortens a string that is too long for the file. Signatures are
// worth nothing in part, so they go whole.
func truncateText(text, key string) (string, bool) {
	if !longer16(text, MaxText) {
		return text, false
	}
	switch key {
	case "thinkingSignature", "thoughtSignature", "textSignature":
		return "", true
	}
	return Cut16(text, MaxText-len(truncationNotice)) + truncationNotice, true
}

// isTransient tells the keys that live only while a message streams.
func isTransient(key string) bool { return key == "partialJson" || key == "jsonlEvents" }

// recountLines mends the line count of an object whose content may have
// become another.
func recountLines(o *Obj) {
	content := o.Get("content")
	if content.Is(String) && o.Get("lineCount").Is(Number) {
		o.Set("lineCount", NumberValue(float64(strings.Count(content.Str(), "\n")+1)))
	}
}
