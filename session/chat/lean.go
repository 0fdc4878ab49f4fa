package chat

import (
	"bytes"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// record is the record of an entry, not kept parsed. The content of a tool
// result, which nobody is shown and which is most of a session, is left out.
func record(e *jsonl.Entry) jsonl.Value {
	raw := e.Raw()
	if raw == nil {
		return jsonl.ObjectValue(e.Value())
	}
	if e.Role() == "toolResult" {
		raw = withoutContent(raw)
	}
	v, _, err := jsonl.Parse(raw)
	if err != nil {
		return jsonl.ObjectValue(e.Value())
	}
	return v
}

// withoutContent is a record, known to be JSON, with an empty array for its
// message.content.
func withoutContent(raw []byte) []byte {
	start, end := member(raw, 0, "message")
	if start == end {
		return raw
	}
	from, to := member(raw[:end], start, "content")
	if to-from < 256 {
		return raw
	}
	lean := make([]byte, 0, len(raw)-(to-from)+2)
	return append(append(append(lean, raw[:from]...), "[]"...), raw[to:]...)
}

// member is where the value of a key stands in the object that begins at a
// position; the last one if there are several.
func member(raw []byte, at int, key string) (start, end int) {
	if at >= len(raw) || raw[at] != '{' {
		return 0, 0
	}
	for at++; at < len(raw); {
		at = blank(raw, at)
		if at >= len(raw) || raw[at] != '"' {
			break // the object's end
		}
		after := value(raw, at)
		name := raw[at:after]
		at = blank(raw, after)
		if at >= len(raw) || raw[at] != ':' {
			break
		}
		at = blank(raw, at+1)
		after = value(raw, at)
		if string(name[1:max(1, len(name)-1)]) == key {
			start, end = at, after
		}
		at = blank(raw, after)
		if at >= len(raw) || raw[at] != ',' {
			break
		}
		at++
	}
	return start, end
}

func blank(raw []byte, at int) int {
	for at < len(raw) && raw[at] <= ' ' {
		at++
	}
	return at
}

// value is where the value that begins at a position ends.
func value(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			at = quoted(raw, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			n := 0
			for at+n < len(raw) && strings.IndexByte("\"{}[],: \t\r\n", raw[at+n]) < 0 {
				n++
			}
			at += max(n, 1)
		}
		if depth <= 0 {
			return at
		}
	}
	return at
}

// quoted is where the string that begins at a position ends.
func quoted(raw []byte, at int) int {
	for at++; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return len(raw)
		}
		at += n
		slashes := 0
		for raw[at-1-slashes] == '\\' {
			slashes++
		}
		at++
		if slashes%2 == 0 {
			return at
		}
	}
	return at
}
