package export

import (
	"html"
	"strings"
)

// outline is the page's tree of branches: what was asked, each branch indented
// below the fork it begins at.
type outline struct{ rows []outlineRow }

type outlineRow struct {
	to    string // anchor
	text  string
	depth int
	fork  bool
}

const (
	maxOutline      = 20_000 // rows
	maxOutlineDepth = 8      // indents
)

func (o *outline) add(it item) {
	if len(o.rows) >= maxOutline {
		return
	}
	depth := min(it.step.depth, maxOutlineDepth)
	if fork := it.step.forkText(); fork != "" {
		o.rows = append(o.rows, outlineRow{"b" + number(it.n), fork, max(depth-1, 0), true})
	}
	text := ""
	for _, p := range it.parts {
		if p.kind == plain || p.kind == prose {
			text = firstLine(strings.TrimLeft(p.text, "#>*- \t\n"))
			break
		}
	}
	switch {
	case it.label != "":
		text = it.label + ": " + text
	case it.voice == note:
		text = it.who
	case it.voice != user:
		return
	}
	if text != "" {
		o.rows = append(o.rows, outlineRow{"e" + number(it.n), text, depth, false})
	}
}

func (o *outline) write(w writer) {
	w.WriteString("<nav id=\"outline\" aria-label=\"Outline\"><ol>\n")
	for _, r := range o.rows {
		class := "i" + number(r.depth)
		if r.fork {
			class += " fork"
		}
		w.WriteString(`<li class="` + class + `"><a href="#` + r.to + `">` + html.EscapeString(r.text) + "</a></li>\n")
	}
	w.WriteString("</ol></nav>\n")
}
