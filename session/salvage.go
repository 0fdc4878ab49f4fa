package session

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// salvagePrefix takes a header from the raw first line by looking for its
// keys, for a header longer than what is read of a file. Its version stays
// unknown. Source: behaviour part 15.
func salvagePrefix(data []byte) (prefix, error) {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("\ufeff")), []byte{'\n'})
	raw := wellFormed(line)
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
	if timestamp, ok := valueOf(raw, "timestamp"); ok {
		p.info.created(jsonl.StringValue(timestamp))
	}
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
	for len(raw) > 0 {
		n := strings.IndexByte(raw, '\\')
		if n != 0 {
			if n < 0 {
				n = len(raw)
			}
			b.WriteString(raw[:n])
			raw = raw[n:]
			continue
		}
		text, n := oneEscape(raw)
		b.WriteString(text)
		raw = raw[n:]
	}
	return b.String()
}

// oneEscape decodes the escape that raw begins with, or the two of a surrogate
// pair, and says how long it is. One that is cut or wrong is no text.
func oneEscape(raw string) (text string, n int) {
	for _, n := range []int{len(`\ud83d\ude00`), len(`\u0000`), len(`\n`)} {
		if len(raw) < n || n > len(`\n`) && raw[1] != 'u' || n > len(`\u0000`) && raw[len(`\u0000`):len(`\u0000`)+2] != `\u` {
			continue
		}
		if v, err := jsonl.ParseString(`"` + raw[:n] + `"`); err == nil {
			return v.Str(), n
		}
	}
	if len(raw) > 1 && raw[1] == 'u' {
		return "", min(len(raw), len(`\u0000`))
	}
	return "", min(len(raw), len(`\n`))
}

// wellFormed is data as text, each longest part of a broken sequence replaced
// by one U+FFFD, as the WHATWG decoder does.
func wellFormed(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			n = brokenLen(data)
		}
		b.WriteRune(r)
		data = data[n:]
	}
	return b.String()
}

// brokenLen is how many bytes of a sequence that is broken belong to it.
func brokenLen(data []byte) int {
	lo, hi, more := byte(0x80), byte(0xbf), 0
	switch b := data[0]; {
	case b >= 0xc2 && b <= 0xdf:
		more = 1
	case b >= 0xe0 && b <= 0xef:
		more = 2
	case b >= 0xf0 && b <= 0xf4:
		more = 3
	}
	switch data[0] {
	case 0xe0:
		lo = 0xa0
	case 0xed:
		hi = 0x9f
	case 0xf0:
		lo = 0x90
	case 0xf4:
		hi = 0x8f
	}
	n := 1
	for n <= more && n < len(data) && data[n] >= lo && data[n] <= hi {
		lo, hi = 0x80, 0xbf
		n++
	}
	return n
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
