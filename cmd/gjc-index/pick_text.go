package main

// Text on the picker's screen. What is drawn must be as wide as it is thought
// to be, on every terminal: one that is off by a column tears the whole screen.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// drawn is text on one line in which every character is as wide on any
// terminal as it is here: an emoji made of several shows its first, a flag its
// letters, and what has no width is gone.
func drawn(text string) string { return evenWidth(plain(text)) }

// evenWidth keeps lines and replaces the characters on whose width terminals
// differ.
func evenWidth(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= 0xad }) < 0 {
		return text
	}
	var b strings.Builder
	for state := -1; text != ""; {
		var cluster string
		cluster, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		writeEven(&b, cluster)
	}
	return b.String()
}

func writeEven(b *strings.Builder, cluster string) {
	first, size := utf8.DecodeRuneInString(cluster)
	if size == len(cluster) && !weightless(first) && !isFlagLetter(first) {
		b.WriteString(cluster)
		return
	}
	pictures := first >= 0x2000 && first < 0x2e80 || first >= 0x1f000
	for _, r := range cluster {
		switch {
		case isFlagLetter(r):
			b.WriteRune('A' + r - 0x1f1e6)
		case pictures && r == 0x200d: // what follows is part of the same picture
			return
		case r >= 0xfe00 && r <= 0xfe0f, r >= 0x1f3fb && r <= 0x1f3ff && r != first, weightless(r) && r != 0x200d && r != 0x200c:
		default:
			b.WriteRune(r)
		}
	}
}

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// weightless reports marks that take no room, or none on some terminals.
func weightless(r rune) bool {
	return r == 0xad || r >= 0x200b && r <= 0x200f || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r >= 0xe0000 && r <= 0xe0fff
}

// wrapped is text in lines of at most width columns, broken where its script
// allows it, and at most lines of them; an ellipsis marks that there was more.
func wrapped(text string, width, lines int) []string {
	if width < 1 || lines < 1 {
		return nil
	}
	if most := maxBytesPerColumn * (width + 1) * (lines + 1); len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + " …"
	}
	var out []string
	for para := range strings.SplitSeq(evenWidth(strings.TrimSpace(safeText(text))), "\n") {
		if para = strings.TrimRightFunc(para, unicode.IsSpace); para == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		for first := true; first || para != ""; first = false {
			if len(out) == lines {
				for out[len(out)-1] == "" {
					out = out[:len(out)-1]
				}
				out[len(out)-1] = fit(out[len(out)-1]+" …", width)
				return out
			}
			var line string
			line, para = brokenOff(para, width)
			out = append(out, line)
		}
	}
	return out
}

// brokenOff takes the first line from text.
func brokenOff(text string, width int) (line, rest string) {
	used, end, can := 0, 0, 0
	state := -1
	for left := text; left != ""; {
		cluster, next, bounds, st := uniseg.StepString(left, state)
		w := bounds >> uniseg.ShiftWidth
		if used+w > width && strings.TrimSpace(cluster) != "" {
			if can == 0 {
				can = end
			}
			if can == 0 {
				can = len(cluster)
			}
			return strings.TrimRightFunc(text[:can], unicode.IsSpace), strings.TrimLeftFunc(text[can:], unicode.IsSpace)
		}
		used, end = used+w, end+len(cluster)
		if bounds&uniseg.MaskLine != uniseg.LineDontBreak {
			can = end
		}
		left, state = next, st
	}
	return strings.TrimRightFunc(text, unicode.IsSpace), ""
}

// inputLine is a line that somebody types.
type inputLine struct {
	text string
	at   int // byte before which the cursor stands
}

// maxTyped bounds what may be pasted into a line, in bytes.
const maxTyped = 4096

func (t *inputLine) set(text string) { t.text, t.at = text, len(text) }

func (t *inputLine) insert(text string) {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, safeText(text))
	if len(t.text)+len(text) > maxTyped {
		return
	}
	t.text = t.text[:t.at] + text + t.text[t.at:]
	t.at += len(text)
}

// before is where the character before the cursor begins.
func (t *inputLine) before() int {
	last, state := 0, -1
	for rest := t.text[:t.at]; rest != ""; {
		last = t.at - len(rest)
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return last
}

// after is where the character at the cursor ends.
func (t *inputLine) after() int {
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(t.text[t.at:], -1)
	return t.at + len(cluster)
}

func (t *inputLine) cut(from, to int) { t.text, t.at = t.text[:from]+t.text[to:], from }

// edit does what a key of line editing does; false if it is none.
func (t *inputLine) edit(key string) bool {
	switch key {
	case "left", "ctrl+b":
		t.at = t.before()
	case "right", "ctrl+f":
		t.at = t.after()
	case "ctrl+a":
		t.at = 0
	case "ctrl+e":
		t.at = len(t.text)
	case "backspace", "ctrl+h":
		t.cut(t.before(), t.at)
	case "delete":
		to := t.after()
		t.cut(t.at, to)
	case "ctrl+u":
		t.cut(0, t.at)
	case "ctrl+k":
		t.text = t.text[:t.at]
	case "ctrl+w", "alt+backspace":
		from := strings.LastIndexByte(strings.TrimRight(t.text[:t.at], " "), ' ') + 1
		t.cut(from, t.at)
	default:
		return false
	}
	return true
}

// shown is the part of the line around the cursor that fits in width columns,
// and the cursor's column in it.
func (t *inputLine) shown(width int) (text string, column int) {
	left, right := evenWidth(t.text[:t.at]), evenWidth(t.text[t.at:])
	if over := uniseg.StringWidth(left) - (width - 1); over > 0 {
		for state := -1; left != "" && over >= 0; {
			var w int
			_, left, w, state = uniseg.FirstGraphemeClusterInString(left, state)
			over -= w
		}
		left = "…" + left
	}
	column = uniseg.StringWidth(left)
	return left + fit(right, max(0, width-column)), column
}
