package export

import (
	"bytes"
	"html"
	"io"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// prosePage is the Markdown of answers: GitHub's, with raw HTML shown as text,
// code coloured, and pictures from the network replaced by links to them. It is
// made when it is first used.
var prosePage = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{}, 1))))
})

const (
	maxProse  = 256 << 10 // a longer text is shown as it stands
	maxNested = 60        // quotes, list items and brackets that one line opens
)

// parses reports whether a text is worth parsing: not so long, and not so
// deeply nested, that a parser takes long over it.
func parses(source string) bool {
	if len(source) > maxProse {
		return false
	}
	for line := range strings.Lines(source) {
		opened := 0
		for i := range len(line) {
			switch line[i] {
			case '>', '[', '(':
				opened++
			case '-', '+', '*', '.', ')':
				if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
					opened++
				}
			}
		}
		if opened > maxNested && opened*8 > len(line) {
			return false
		}
		if indent := len(line) - len(strings.TrimLeft(line, " \t")); indent > 8*maxNested {
			return false
		}
	}
	return true
}

// writeProse writes Markdown as HTML.
func writeProse(w io.Writer, source string) error {
	if !parses(source) {
		_, err := io.WriteString(w, `<pre class="plain">`+html.EscapeString(source)+"</pre>")
		return err
	}
	return prosePage().Convert([]byte(source), w)
}

// safeNodes renders what must not be rendered as it comes.
type safeNodes struct{}

// RegisterFuncs takes over the nodes that could carry something active, and
// code.
func (safeNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, rawAsText)
	reg.Register(ast.KindHTMLBlock, blockAsText)
	reg.Register(ast.KindImage, imageAsLink)
	reg.Register(ast.KindLink, safeLink)
	reg.Register(ast.KindAutoLink, safeAutoLink)
	reg.Register(ast.KindHeading, lowHeading)
	reg.Register(ast.KindFencedCodeBlock, fencedCode)
	reg.Register(ast.KindCodeBlock, fencedCode)
}

func rawAsText(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			seg := segments.At(i)
			w.WriteString(html.EscapeString(string(seg.Value(src))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func blockAsText(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		b := n.(*ast.HTMLBlock)
		text := string(b.Lines().Value(src))
		if b.HasClosure() {
			text += string(b.ClosureLine.Value(src))
		}
		w.WriteString(`<p class="raw">` + html.EscapeString(strings.TrimRight(text, "\n")) + "</p>\n")
	}
	return ast.WalkSkipChildren, nil
}

// imageAsLink names a picture and where it is: nothing is fetched by a page.
func imageAsLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString("[image: ")
	} else {
		w.WriteString("]")
		openLink(w, string(n.(*ast.Image).Destination))
		w.WriteString("(link)</a>")
	}
	return ast.WalkContinue, nil
}

func safeLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		openLink(w, string(n.(*ast.Link).Destination))
	} else {
		w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func safeAutoLink(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		n := node.(*ast.AutoLink)
		url := string(n.URL(src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(url), "mailto:") {
			url = "mailto:" + url
		}
		openLink(w, url)
		w.WriteString(html.EscapeString(string(n.Label(src))) + "</a>")
	}
	return ast.WalkContinue, nil
}

// openLink opens a link if its address is one that a click may follow; any
// other becomes text.
func openLink(w util.BufWriter, url string) {
	if followable(url) {
		w.WriteString(`<a href="` + html.EscapeString(string(util.URLEscape([]byte(url), false))) + `" rel="noopener noreferrer nofollow">`)
		return
	}
	w.WriteString(`<a class="dead">`)
}

func followable(url string) bool {
	low := strings.ToLower(url)
	return strings.HasPrefix(low, "https://") || strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "mailto:")
}

// lowHeading keeps the headings of a message below those of the page.
func lowHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + number(min(6, n.(*ast.Heading).Level+2)) + ">"
	if entering {
		w.WriteString("<" + tag)
	} else {
		w.WriteString("</" + tag + "\n")
	}
	return ast.WalkContinue, nil
}

func fencedCode(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	lang := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		lang = string(f.Language(src))
	}
	var text bytes.Buffer
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		text.Write(seg.Value(src))
	}
	writeCode(w, text.String(), lang)
	return ast.WalkSkipChildren, nil
}
