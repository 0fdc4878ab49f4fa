package export

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// markdown writes Markdown. What the session says can't leave its place: prose
// stands in a quote, which ends where its lines end whatever is left open in
// it, and everything else in a fence that is longer than any run inside.
func (d *document) markdown() error {
	head := d.head()
	d.w.WriteString("# " + escapeMarkdown(head[0]) + "\n\n")
	for _, line := range head[2:] {
		d.w.WriteString("- " + escapeMarkdown(line) + "\n")
	}
	_, err := d.items(func(it item) error {
		if fork := it.step.forkText(); fork != "" {
			d.w.WriteString("\n---\n\n*" + fork + "*\n")
		}
		if it.voice == aside && len(it.parts) > 0 {
			_, err := d.w.WriteString("\n*" + escapeMarkdown(it.heading()+": "+firstLine(it.parts[0].text)) + "*\n")
			return err
		}
		if len(it.parts) > 0 {
			d.w.WriteString("\n## " + escapeMarkdown(it.heading()) + "\n")
		}
		for _, p := range it.parts {
			d.markdownPart(p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.w.WriteString("\n---\n")
	for _, line := range d.ending() {
		d.w.WriteString("\n" + line + "\n")
	}
	return nil
}

func (d *document) markdownPart(p part) {
	switch p.kind {
	case prose:
		d.quote(escapeHTMLIn(p.text))
	case plain:
		if longestRun(p.text, '`') < 3 && longestRun(p.text, '~') < 3 && !strings.ContainsAny(p.text, "<\t") {
			d.quote(escapeLines(p.text))
			return
		}
		d.fence(p.text, "text")
	case thinking:
		d.w.WriteString("\nThinking:\n")
		d.fence(p.text, "text")
	case call, output:
		d.w.WriteString("\n" + code(p.title) + "\n")
		d.fence(p.text, infoString(p.lang))
	case failure:
		d.w.WriteString("\nFailed:\n")
		d.fence(p.text, "text")
	case picture:
		d.w.WriteString("\n\\[image " + safeMIME(p.mime) + "\\]\n")
	}
}

func (d *document) quote(text string) {
	d.w.WriteByte('\n')
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		d.w.WriteString(strings.TrimRight("> "+line, " ") + hardBreak(line) + "\n")
	}
}

// hardBreak is what keeps two blanks at a line's end, which break it.
func hardBreak(line string) string {
	if strings.HasSuffix(line, "  ") && strings.TrimSpace(line) != "" {
		return "  "
	}
	return ""
}

func (d *document) fence(text, info string) {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	d.w.WriteString("\n" + fence + info + "\n")
	d.w.WriteString(strings.TrimRight(text, "\n"))
	d.w.WriteString("\n" + fence + "\n")
}

// code is text as a code span on one line.
func code(s string) string {
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// infoString is a language as it may stand behind a fence.
func infoString(lang string) string {
	if name := languageName(lang); name != "" {
		return name
	}
	return "text"
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// escapeMarkdown makes text on one line mean itself.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("\\`*_{}[]<>#|~!$&", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return strings.ReplaceAll(b.String(), "\\<", "&lt;")
}

// escapeLines makes text that was typed mean itself, line by line.
func escapeLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimRight(line, "\n")
		trimmed := strings.TrimLeft(body, " ")
		escaped := escapeMarkdown(trimmed)
		if n := strings.IndexFunc(trimmed, func(r rune) bool { return r < '0' || r > '9' }); n > 0 && (trimmed[n] == '.' || trimmed[n] == ')') {
			escaped = trimmed[:n] + "\\" + escapeMarkdown(trimmed[n:])
		} else if trimmed != "" && strings.IndexByte("-+=", trimmed[0]) >= 0 {
			escaped = "\\" + escaped
		}
		b.WriteString(strings.Repeat("\u00a0", len(body)-len(trimmed)) + escaped)
		if strings.HasSuffix(line, "\n") && body != "" {
			b.WriteString("  ") // the line ends where it was typed to
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// escapeHTMLIn is Markdown in which what would be raw HTML means itself. What
// was inside of an HTML block is Markdown once that block is none, so the
// result is looked at again.
func escapeHTMLIn(source string) string {
	for range maxEscapes {
		if strings.IndexByte(source, '<') < 0 {
			return source
		}
		if !parses(source) {
			break
		}
		made := escapeRawHTML([]byte(source))
		if made == source {
			return source
		}
		source = made
	}
	return strings.ReplaceAll(source, "<", "&lt;")
}

// maxEscapes is how often a text is looked at before each < in it is escaped.
const maxEscapes = 4

func escapeRawHTML(src []byte) string {
	raw := make([]bool, len(src)) // where a < is HTML's
	mark := func(seg text.Segment) {
		for i := seg.Start; i < seg.Stop; i++ {
			raw[i] = src[i] == '<'
		}
	}
	doc := prosePage().Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				mark(n.Segments.At(i))
			}
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				mark(n.Lines().At(i))
			}
			if n.HasClosure() {
				mark(n.ClosureLine)
			}
		}
		return ast.WalkContinue, nil
	})
	var b strings.Builder
	for i := range len(src) {
		if raw[i] {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(src[i])
	}
	return b.String()
}

func number(n int) string { return strconv.Itoa(n) }
