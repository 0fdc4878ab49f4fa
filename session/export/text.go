package export

import (
	"strings"
	"time"
)

// text writes plain text. What a line of it looks like depends on no text of
// the session: bodies are indented, so nothing in them can pass for a heading.
func (d *document) text() error {
	for _, line := range d.head() {
		d.w.WriteString(line + "\n")
	}
	_, err := d.items(func(it item) error {
		if it.voice == aside && len(it.parts) > 0 {
			_, err := d.w.WriteString("\n-- " + it.heading() + ": " + firstLine(it.parts[0].text) + "\n")
			return err
		}
		if fork := it.step.forkText(); fork != "" {
			d.w.WriteString("\n==== " + fork + "\n")
		}
		if len(it.parts) > 0 {
			d.w.WriteString("\n== " + it.heading() + "\n")
		}
		for _, p := range it.parts {
			d.textPart(p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.w.WriteByte('\n')
	for _, line := range d.ending() {
		d.w.WriteString(line + "\n")
	}
	return nil
}

func (d *document) textPart(p part) {
	switch p.kind {
	case thinking:
		d.w.WriteString("  (thinking)\n")
	case call:
		d.w.WriteString("  -> " + p.title + "\n")
	case output:
		d.w.WriteString("  <- " + p.title + "\n")
	case failure:
		d.w.WriteString("  !! failed\n")
	case picture:
		d.w.WriteString("  [image " + safeMIME(p.mime) + "]\n")
		return
	}
	for line := range strings.Lines(p.text) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			line = "  " + line
		}
		d.w.WriteString(line + "\n")
	}
}

// head are the facts that stand above the entries, for text and Markdown.
func (d *document) head() []string {
	shown := len(d.s.Tree.Path(d.leaf))
	lines := []string{d.title(), "", "Session: " + d.s.ID}
	if d.s.Cwd != "" {
		lines = append(lines, "Workspace: "+d.s.Cwd)
	}
	if !d.s.Created.IsZero() {
		lines = append(lines, "Created: "+stamp(d.s.Created))
	}
	return append(lines, "Shown: "+d.shown(shown), "Redaction: "+d.redaction())
}

// heading says who speaks and when.
func (it item) heading() string {
	text := it.who
	if it.model != "" {
		text += " (" + it.model + ")"
	}
	if !it.when.IsZero() {
		text += " · " + stamp(it.when)
	}
	if it.label != "" {
		text += " · label: " + it.label
	}
	return text
}

// forkText says that a branch begins; "" if none does.
func (s step) forkText() string {
	switch {
	case s.of < 2:
		return ""
	case s.branch == 0:
		return count(s.of-1, "other branch begins", "other branches begin") + " here"
	case s.after < 0:
		return "Branch " + number(s.branch) + " of " + number(s.of) + ", from the beginning"
	}
	return "Branch " + number(s.branch) + " of " + number(s.of) + ", after entry #" + number(s.after+1)
}

// stamp is a time for people, in UTC so that it means the same anywhere.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// safeMIME is a MIME type that is shown; anything odd is just an image.
func safeMIME(mime string) string {
	if len(mime) > 64 || strings.IndexFunc(mime, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '/' || r == '+' || r == '-' || r == '.')
	}) >= 0 {
		return ""
	}
	return mime
}
