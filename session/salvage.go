package session

import (
	"bytes"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// salvagePrefix takes a header from the raw first line by looking for its
// keys, for a header longer than what is read of a file. Its version stays
// unknown. Source: behaviour part 15.
func salvagePrefix(data []byte) (prefix, error) {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\ufeff")), []byte{'\n'})
	raw := string(bytes.ToValidUTF8(line, []byte("\ufffd")))
	if kind, ok := valueOf(raw, "type"); !ok || kind != "session" {
		return prefix{}, errNoHeader
	}
	id, ok := valueOf(raw, "id")
	if !ok || id == "" {
		return prefix{}, errNoHeader
	}
	p := prefix{info: Info{ID: id}}
	p.info.Cwd, _ = valueOf(raw, "cwd")
	p.info.Title, p.info.HasTitle = valueOf(raw, "title")
	p.info.ParentSession, _ = valueOf(raw, "parentSession")
	timestamp, _ := valueOf(raw, "timestamp")
	p.info.created(timestamp)
	return p, nil
}

// valueOf is the string value after the first occurrence of the quoted key;
// ok is false if there is none or it is no string.
func valueOf(raw, key string) (string, bool) {
	i := strings.Index(raw, `"`+key+`"`)
	if i < 0 {
		return "", false
	}
	return stringAfterColon(raw[i+len(key)+2:])
}

// stringAfterColon reads `: "…"`; a literal that isn't closed goes to the end.
func stringAfterColon(raw string) (string, bool) {
	rest := strings.TrimLeft(raw, " \t\r\n")
	if rest, _ = strings.CutPrefix(rest, ":"); len(rest) == len(strings.TrimLeft(raw, " \t\r\n")) {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if !strings.HasPrefix(rest, `"`) {
		return "", false
	}
	return literal(rest[1:]), true
}

// literal decodes a string literal's inside up to its closing quote, or to
// where the text was cut.
func literal(raw string) string {
	end := len(raw)
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' {
			i++
		} else if raw[i] == '"' {
			end = i
			break
		}
	}
	return unescape(raw[:end])
}

// unescape decodes escapes one by one, so that a cut escape spoils itself only.
func unescape(raw string) string {
	if v, err := jsonl.ParseString(`"` + raw + `"`); err == nil {
		return v.Str()
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		n := 1
		if raw[i] == '\\' {
			n = min(2, len(raw)-i)
			if n == 2 && raw[i+1] == 'u' {
				n = min(6, len(raw)-i)
			}
			if v, err := jsonl.ParseString(`"` + raw[i:i+n] + `"`); err == nil {
				b.WriteString(v.Str())
			}
		} else {
			b.WriteByte(raw[i])
		}
		i += n - 1
	}
	return b.String()
}

// salvageFirstUser is the first user's text by string search: after the first
// "role":"user" the next "content" or "text" whose value is a string.
func salvageFirstUser(raw string) string {
	_, rest, ok := strings.Cut(raw, `"role":"user"`)
	if !ok {
		return ""
	}
	if text, ok := valueOf(rest, "content"); ok {
		return text
	}
	text, _ := valueOf(rest, "text")
	return text
}
