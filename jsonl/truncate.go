package jsonl

import "strings"

// What a string may be long in a session file, in UTF-16 code units, and what
// stands at the end of one that was longer. Source: behaviour part 12.
const (
	maxText          = 500_000
	truncationNotice = "\n\n[Session persistence truncated large content]"
)

// truncateText shortens a string that is too long for the file. Signatures are
// worth nothing in part, so they go whole.
func truncateText(text, key string) (string, bool) {
	if !longer16(text, maxText) {
		return text, false
	}
	switch key {
	case "thinkingSignature", "thoughtSignature", "textSignature":
		return "", true
	}
	return Cut16(text, maxText-len(truncationNotice)) + truncationNotice, true
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
