package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// show is text as it may be shown: redacted whole, then cut.
func (o *Options) show(text string) (shown string, cut bool) {
	text = o.redact(text)
	most := o.MaxText
	if most <= 0 {
		most = DefaultMaxText
	}
	if len(text) <= most {
		return text, false
	}
	return cutText(text, most), true
}

// redact is text for people without its secrets.
func (o *Options) redact(text string) string {
	text = jsonl.Display(text)
	if o.Redact != nil {
		text = o.Redact(text)
	}
	return text
}

// cutText is at most the first n bytes, no character broken.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}

// line is a text in one line: redacted whole, control characters and runs of
// white space made one blank, then cut.
func (o *Options) line(text string, most int) string {
	text = o.redact(text)
	var b strings.Builder
	blank := false
	for _, r := range text {
		if r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == 0x2028 || r == 0x2029 {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		if b.WriteRune(r); b.Len() > most {
			return cutText(b.String(), most) + "…"
		}
	}
	return b.String()
}

// summaryKeys are the arguments of a call that say in a line what it is about,
// the most telling first.
var summaryKeys = [...]string{"command", "cmd", "path", "file_path", "filePath", "url", "pattern", "query", "description", "task", "prompt", "name", "code"}

// summary is a call in one line.
func (o *Options) summary(arguments jsonl.Value) string {
	for _, key := range summaryKeys {
		if v := arguments.Get(key); v.Is(jsonl.String) && v.Str() != "" {
			return o.line(v.Str(), maxSummary)
		}
	}
	return ""
}

// contentText is the text of a message's content, blocks in paragraphs, and
// how many images it has.
func contentText(content jsonl.Value) (text string, images int) {
	if content.Is(jsonl.String) {
		return content.Str(), 0
	}
	var texts []string
	for _, b := range content.Items() {
		switch b.Get("type").Str() {
		case "text":
			if s := b.Get("text").Str(); s != "" {
				texts = append(texts, s)
			}
		case "image":
			images++
		}
	}
	return strings.Join(texts, "\n\n"), images
}
