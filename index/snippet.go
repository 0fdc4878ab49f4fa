package index

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// snippetWidth is how wide a snippet is at most, in terminal cells.
	snippetWidth = 160
	// snippetBefore is how many cells before the first match are shown.
	snippetBefore = 40
	// snippetSearched bounds how far a match is looked for, in bytes.
	snippetSearched = 1 << 20
)

// Snippet is one line of text around the first place where one of the folded
// terms stands, or its beginning; for people. White space is one blank, control
// characters are U+FFFD, and no grapheme cluster is cut, so that it can be
// printed on a terminal. Where text is left out stands "…".
func Snippet(text string, terms [][]byte) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	start := 0
	if at := firstMatch(text, terms); at > 0 {
		start = clusterBefore(text, at, snippetBefore)
	}
	var b strings.Builder
	if start > 0 {
		b.WriteString("…")
	}
	width, blank := 0, true
	rest := text[start:]
	for state := -1; rest != ""; {
		var cluster string
		var cells int
		cluster, rest, cells, state = uniseg.FirstGraphemeClusterInString(rest, state)
		shown := visible(cluster)
		if shown == " " {
			if blank {
				continue
			}
			cells = 1
		}
		if width += cells; width > snippetWidth {
			b.WriteString("…")
			break
		}
		blank = shown == " "
		b.WriteString(shown)
	}
	return strings.TrimRight(b.String(), " ")
}

// visible is a cluster as a snippet shows it. A cluster of many marks (they can
// be stacked without end) is shown by its first runes.
func visible(cluster string) string {
	const mostBytes = 64
	if len(cluster) > mostBytes {
		cluster = strings.ToValidUTF8(cluster[:mostBytes], "")
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069,
			r == 0x200E, r == 0x200F, r == 0x061C:
			return '\uFFFD'
		}
		return r
	}, cluster)
	if strings.Trim(clean, " ") == "" {
		return " "
	}
	return clean
}

// firstMatch is the offset in text of the first term that stands in it, or -1.
func firstMatch(text string, terms [][]byte) int {
	if len(terms) == 0 {
		return -1
	}
	head := text[:min(len(text), snippetSearched)]
	folded := Fold(nil, head)
	first := -1
	for _, t := range terms {
		if i := bytes.Index(folded, t); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 {
		return -1
	}
	return unfoldedAt(head, first)
}

// unfoldedAt is the offset in text of what is at folded in its fold.
func unfoldedAt(text string, folded int) int {
	for at := 0; ; {
		// Folding never looks across the border before an ASCII byte from
		// its right side.
		end := min(at+256, len(text))
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		part := text[at:end]
		size := len(Fold(nil, part))
		if size <= folded && end < len(text) {
			folded -= size
			at = end
			continue
		}
		// The last beginning of the part whose fold is no longer.
		n := sort.Search(len(part), func(n int) bool { return len(Fold(nil, part[:n+1])) > folded })
		for n > 0 && n < len(part) && !utf8.RuneStart(part[n]) {
			n--
		}
		return at + n
	}
}

// clusterBefore is the start of a grapheme cluster about cells before at.
func clusterBefore(text string, at, cells int) int {
	from := max(0, at-8*cells)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	// A blank is a border of clusters whatever stands around it.
	if i := strings.IndexByte(text[from:at], ' '); from > 0 && i >= 0 {
		from += i + 1
	}
	var starts []int
	rest := text[from:]
	for pos, state := from, -1; rest != "" && pos < at; {
		starts = append(starts, pos)
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		pos += len(cluster)
	}
	if len(starts) <= cells {
		if from > 0 && len(starts) > 0 {
			return starts[0]
		}
		return from
	}
	return starts[len(starts)-cells]
}
