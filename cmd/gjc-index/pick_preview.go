package main

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"
)

// lookPart is the part of the preview that its box shows, each line as wide as
// the box.
func (m *picker) lookPart(b box) []string {
	if b.height <= 0 {
		return nil
	}
	all := m.lookLines(b.width)
	from := min(m.scroll, max(0, len(all)-b.height))
	lines := make([]string, 0, b.height)
	for _, line := range all[from:] {
		if len(lines) == b.height {
			break
		}
		lines = append(lines, line)
	}
	if rest := len(all) - from - b.height; rest > 0 {
		lines[b.height-1] = m.style.paint(dim, fit("… "+comma(rest+1)+" more lines (^↓)", b.width))
	}
	for len(lines) < b.height {
		lines = append(lines, "")
	}
	return lines
}

// lookLines is the whole preview: what the session is, then how it began and
// how it ends. Below the list there is little room: what the session is takes
// three lines there.
func (m *picker) lookLines(width int) []string {
	item, ok := m.current()
	if !ok {
		return nil
	}
	look, known := m.looks[item.Path]
	tight := !m.layout().beside && m.mode != modeLook
	var lines []string
	titles := 2
	if tight {
		titles = 1
	}
	for _, line := range wrapped(titleOf(item.Row), width, titles) {
		lines = append(lines, m.style.paint(bold, line))
	}
	lines = append(lines, m.factLines(item, look, known, width, tight)...)
	if item.Damage != "" {
		lines = append(lines, m.style.paint(red, fit("! "+drawn(item.Damage), width)))
	}
	if !known {
		return append(lines, "", m.style.paint(dim, "…"))
	}
	if look.trouble != "" {
		for _, line := range wrapped(look.trouble, width, 4) {
			lines = append(lines, m.style.paint(red, line))
		}
	}
	return append(lines, m.talkLines(look, width, tight)...)
}

// factLines say what a session is: where, how much, when, by which model.
func (m *picker) factLines(item pickItem, look pickLook, known bool, width int, tight bool) []string {
	where := m.tilde(item.Cwd) + goneWord(item)
	size, when := m.sizeLine(item, look, known), m.timeLine(item)
	model, id := "", ""
	if known {
		model, id = modelLine(look), idLine(look)
	}
	facts := []struct{ code, text string }{{cyan, where}, {"", size}, {dim, when}, {"", model}, {dim, id}}
	if tight {
		facts = []struct{ code, text string }{{cyan, besides(where, when)}, {dim, besides(size, besides(model, id))}}
	}
	var lines []string
	for _, f := range facts {
		if f.text != "" {
			lines = append(lines, m.style.paint(f.code, fit(f.text, width)))
		}
	}
	return lines
}

// besides is two facts on one line.
func besides(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}

func goneWord(item pickItem) string {
	if item.CwdMissing {
		return goneMark
	}
	return ""
}

// tilde is a directory with the person's own written as ~.
func (m *picker) tilde(dir string) string {
	if rest, ok := strings.CutPrefix(dir, m.user); ok && m.user != "" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	return drawn(dir)
}

// sizeLine says how much there is, and how it branches.
func (m *picker) sizeLine(item pickItem, look pickLook, known bool) string {
	parts := []string{about(item.Row) + " messages"}
	if item.Messages == 1 && !item.Estimated {
		parts[0] = "1 message"
	}
	if known && look.entries > 0 {
		parts = append(parts, count(look.entries, "entry"))
		if look.leaves > 1 {
			parts = append(parts, comma(look.leaves)+" branches")
		}
	}
	parts = append(parts, humanize.Bytes(uint64(max(0, item.Size))))
	if known && look.archived {
		parts = append(parts, "archived in part")
	}
	return strings.Join(parts, " · ")
}

func (m *picker) timeLine(item pickItem) string {
	text := "active " + ago(m.now(), item.Active)
	if !item.Created.IsZero() {
		text += " · begun " + day(item.Created)
	}
	return text
}

// modelLine is the model and what the session has cost.
func modelLine(look pickLook) string {
	var parts []string
	if look.model != "" {
		parts = append(parts, drawn(look.model))
	}
	if look.tokens > 0 {
		parts = append(parts, strings.Replace(humanize.SIWithDigits(look.tokens, 1, ""), " ", "", 1)+" tokens")
	}
	if look.cost != nil {
		parts = append(parts, "$"+humanize.FormatFloat("#,###.##", *look.cost))
	}
	return strings.Join(parts, " · ")
}

func idLine(look pickLook) string {
	parts := []string{"id " + drawn(look.short)}
	if look.pinned {
		parts = append(parts, "* pinned")
	}
	for i, label := range look.labels {
		if i == 3 {
			parts = append(parts, comma(len(look.labels)-3)+" more labels")
			break
		}
		parts = append(parts, "“"+fit(drawn(label), 24)+"”")
	}
	return strings.Join(parts, " · ")
}

// talkLines are the first prompts, how many were left out, and the last.
func (m *picker) talkLines(look pickLook, width int, tight bool) []string {
	var lines []string
	gap := func() {
		if !tight {
			lines = append(lines, "")
		}
	}
	tell := func(p pickPrompt, most int) {
		head := drawn(p.who)
		if when := ago(m.now(), p.when); !p.when.IsZero() {
			head += "  " + when
		}
		gap()
		lines = append(lines, m.style.paint(cyan, fit(head, width)))
		lines = append(lines, wrapped(p.text, width, most)...)
	}
	first := 6
	if tight {
		first = 2
	}
	for _, p := range look.first {
		tell(p, first)
	}
	if left := look.prompts - len(look.first) - lastPrompts(look); left > 0 && len(look.first) > 0 {
		gap()
		lines = append(lines, m.style.paint(dim, middle("… "+count(left, "more prompt")+" …", width)))
	}
	for _, p := range look.last {
		tell(p, 12)
	}
	return lines
}

// lastPrompts counts what a person typed among the last texts.
func lastPrompts(look pickLook) int {
	n := 0
	for _, p := range look.last {
		if p.who == pickYou {
			n++
		}
	}
	return n
}

// pickYou is who typed a prompt.
const pickYou = "you"

func middle(text string, width int) string {
	return strings.Repeat(" ", max(0, (width-uniseg.StringWidth(text))/2)) + fit(text, width)
}

// cutPrompt bounds the text of a prompt that a preview keeps.
func cutPrompt(who string, when time.Time, text string) pickPrompt {
	const most = 4 << 10
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return pickPrompt{who, when, text}
}
