package export

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"strings"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// html writes a page that needs nothing else. Its policy lets it load nothing
// and run nothing but the script in it, whatever the session's texts say; all
// of them are escaped besides. The outline stands behind the entries, since it
// is made while they are written; the style puts it beside them.
func (d *document) html() error {
	d.pageHead()
	d.w.WriteString("<main id=\"entries\">\n<section>\n")
	out, shown := outline{}, 0
	_, err := d.items(func(it item) error {
		if shown++; shown%sectionItems == 0 {
			d.w.WriteString("</section><section>\n")
		}
		out.add(it)
		return d.article(it)
	})
	if err != nil {
		return err
	}
	d.w.WriteString("</section>\n</main>\n")
	out.write(d.w)
	d.w.WriteString("<footer>")
	for _, line := range d.ending() {
		d.w.WriteString("<p>" + html.EscapeString(line) + "</p>")
	}
	d.w.WriteString("</footer>\n<script>" + pageScript + "</script>\n</body></html>\n")
	return nil
}

// sectionItems is how many entries stand in a section of the page. A browser
// leaves a section that is out of view alone, whatever is in it, so that it
// lays out and draws a few of them, not thousands of entries.
const sectionItems = 40

// policy is what the page may do: show itself.
func policy() string {
	return "default-src 'none'; img-src data:; style-src '" + sourceHash(pageStyle) + "'; script-src '" + sourceHash(pageScript) +
		"'; base-uri 'none'; form-action 'none'"
}

func sourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (d *document) pageHead() {
	title := html.EscapeString(d.title())
	d.w.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="` + policy() + "\">\n" +
		`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n" +
		`<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">` + "\n" +
		"<title>" + title + "</title>\n<style>" + pageStyle + "</style></head>\n<body>\n" +
		"<header><h1>" + title + "</h1>\n<dl>")
	for _, line := range d.head()[2:] {
		key, value, _ := strings.Cut(line, ": ")
		d.w.WriteString("<div><dt>" + key + "</dt><dd>" + html.EscapeString(value) + "</dd></div>")
	}
	d.w.WriteString("</dl></header>\n" + toolbar)
}

// toolbar is of use with the script only, which shows it.
const toolbar = `<div id="bar" hidden role="toolbar" aria-label="Page">
<button type="button" id="open-outline" aria-expanded="false">Outline</button>
<input id="find" type="search" placeholder="Find (press /)" aria-label="Find in this page" autocomplete="off" spellcheck="false">
<output id="hits" for="find"></output>
<button type="button" id="prev" aria-label="Previous hit" title="Previous hit (N)">↑</button>
<button type="button" id="next" aria-label="Next hit" title="Next hit (n)">↓</button>
<button type="button" id="tools" aria-pressed="false" title="Open or fold all tools (t)">Tools</button>
<button type="button" id="thoughts" aria-pressed="false" title="Open or fold all thinking (h)">Thinking</button>
<button type="button" id="theme" title="Light or dark (d)" aria-label="Light or dark">◐</button>
<span id="keys" title="j, k: next and previous entry. /: find. n, N: next and previous hit. t: tools. h: thinking. d: light or dark.">?</span>
</div>
`

// article writes one entry.
func (d *document) article(it item) error {
	if fork := it.step.forkText(); fork != "" {
		class := "fork"
		if it.step.branch == 0 {
			class += " other"
		}
		d.w.WriteString(`<p class="` + class + `" id="b` + number(it.n) + `">`)
		if it.step.branch > 0 && it.step.after >= 0 {
			fork = strings.TrimSuffix(fork, "entry #"+number(it.step.after+1))
			d.w.WriteString(html.EscapeString(fork) + `<a href="#e` + number(it.step.after) + `">entry #` + number(it.step.after+1) + "</a>")
		} else {
			d.w.WriteString(html.EscapeString(fork))
		}
		d.w.WriteString("</p>\n")
	}
	if len(it.parts) == 0 {
		return nil
	}
	if it.voice == aside {
		_, err := d.w.WriteString(`<p class="aside" id="e` + number(it.n) + `">` + html.EscapeString(it.who+": "+firstLine(it.parts[0].text)) + "</p>\n")
		return err
	}
	d.w.WriteString(`<article class="` + string(it.voice) + `" id="e` + number(it.n) + `" tabindex="-1"><h2>` + html.EscapeString(it.who))
	if it.model != "" {
		d.w.WriteString(` <small>` + html.EscapeString(it.model) + "</small>")
	}
	if it.label != "" {
		d.w.WriteString(` <mark>` + html.EscapeString(it.label) + "</mark>")
	}
	d.w.WriteString(`<a class="at" href="#e` + number(it.n) + `">#` + number(it.n+1))
	if !it.when.IsZero() {
		d.w.WriteString(` <time>` + stamp(it.when) + "</time>")
	}
	d.w.WriteString("</a></h2>\n")
	for _, p := range it.parts {
		if err := d.htmlPart(p); err != nil {
			return err
		}
	}
	_, err := d.w.WriteString("</article>\n")
	return err
}

func (d *document) htmlPart(p part) error {
	switch p.kind {
	case prose:
		return writeProse(d.w, p.text)
	case plain:
		d.w.WriteString(`<div class="typed">` + html.EscapeString(strings.Trim(p.text, "\n")) + "</div>\n")
	case thinking:
		d.w.WriteString(`<details class="thinking"><summary>Thinking</summary>`)
		if err := writeProse(d.w, p.text); err != nil {
			return err
		}
		d.w.WriteString("</details>\n")
	case call:
		d.w.WriteString(`<details class="tool"><summary>` + html.EscapeString(p.title) + "</summary>")
		writeCode(d.w, p.text, p.lang)
		d.w.WriteString("</details>\n")
	case output:
		d.w.WriteString(`<details class="tool"><summary>` + html.EscapeString(p.title) + ` <small>` + linesOf(p.text) + "</small></summary>")
		writeCode(d.w, p.text, p.lang)
		d.w.WriteString("</details>\n")
	case picture:
		writePicture(d.w, p.mime, p.text)
	case failure:
		d.w.WriteString(`<p class="failure">` + html.EscapeString(p.text) + "</p>\n")
	}
	return nil
}

func linesOf(text string) string {
	return count(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line", "lines")
}
