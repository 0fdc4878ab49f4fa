package redact

import (
	"slices"
	"strings"
	"sync"
)

// words finds the rules' literals in one pass: of each literal its rarest two
// bytes are looked up in a set of all pairs, and where they stand the literal
// is compared.
type words struct {
	pairs   [1 << 10]uint64 // a bit for each pair
	slots   [1 << 16]uint16 // by pair: its bucket
	buckets [][]candidate   // the first is that of pairs in no word
	rules   []rule
}

type candidate struct {
	rule int
	off  int // of the pair in the word
}

// tables are made when the first text is read: of all rules, and of those that
// find tokens, which a joined view is scanned for; joins has a bit for each two
// bytes that stand beside one another in the word of one of these.
var tables = sync.OnceValue(func() *tableSet {
	t := &tableSet{}
	t.all, t.tokens = newWords(rules()), newWords(slices.DeleteFunc(rules(), func(r rule) bool { return r.find != nil }))
	for _, r := range t.tokens.rules {
		for k := 1; k < len(r.word); k++ {
			pair := uint16(r.word[k-1]) | uint16(r.word[k])<<8
			t.joins[pair>>6] |= 1 << (pair & 63)
		}
	}
	return t
})

type tableSet struct {
	all, tokens *words
	joins       [1 << 10]uint64
}

func newWords(rules []rule) *words {
	w := &words{buckets: make([][]candidate, 1), rules: rules}
	for i := range w.rules {
		word := w.rules[i].word
		off := rarest(word)
		for _, a := range cases(word[off], w.rules[i].fold) {
			for _, b := range cases(word[off+1], w.rules[i].fold) {
				pair := uint16(a) | uint16(b)<<8
				w.pairs[pair>>6] |= 1 << (pair & 63)
				if w.slots[pair] == 0 {
					w.slots[pair] = uint16(len(w.buckets))
					w.buckets = append(w.buckets, nil)
				}
				bucket := &w.buckets[w.slots[pair]]
				*bucket = append(*bucket, candidate{i, off})
			}
		}
	}
	return w
}

// rarest is where the pair of a word's bytes stands that text has least often.
func rarest(word string) int {
	// Bytes of English and of code, the commonest first.
	const common = " etaonisrlhdcu\"mp:f,gyw{}/bv._-=k0123456789xqjzETAONISRLHDCUMPFGYWBVKXQJZ"
	rank := func(c byte) int {
		for i := 0; i < len(common); i++ {
			if common[i] == c {
				return i
			}
		}
		return len(common)
	}
	best, at := -1, 0
	for i := 0; i+1 < len(word); i++ {
		if r := rank(word[i]) + rank(word[i+1]) + 1; r > best {
			best, at = r, i
		}
	}
	return at
}

func cases(c byte, fold bool) []byte {
	if fold && c >= 'a' && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// scan adds the secrets of a text to found. v says where the text stands in
// the source; nil: it is the source. Of a joined view only those tokens count
// that were broken.
func scan(found []Finding, s string, v *view) []Finding {
	w := tables().all
	if v != nil && v.joins {
		w = tables().tokens
	}
	var passed []int // by rule: up to where it need not be tried again
	for i := 0; i+1 < len(s); i++ {
		pair := uint16(s[i]) | uint16(s[i+1])<<8
		if w.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, c := range w.buckets[w.slots[pair]] {
			r := &w.rules[c.rule]
			at := i - c.off
			if !hasWord(s, at, r) || (passed != nil && at < passed[c.rule]) {
				continue
			}
			start, end, next := r.match(s, at, v)
			if passed == nil {
				passed = make([]int, len(w.rules))
			}
			passed[c.rule] = max(passed[c.rule], next)
			if end > start {
				found = append(found, Finding{r.name, v.source(start), v.end(end)})
			}
		}
	}
	return found
}

func hasWord(s string, at int, r *rule) bool {
	switch {
	case at < 0:
		return false
	case r.fold:
		return hasPrefixFold(s[at:], r.word)
	}
	return strings.HasPrefix(s[at:], r.word)
}

// hasPrefixFold is strings.HasPrefix for a prefix in lower case, in any case.
func hasPrefixFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := 0; i < len(prefix); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// match tries a rule where its word stands.
func (r *rule) match(s string, at int, v *view) (start, end, next int) {
	if r.find != nil {
		return r.find(s, at)
	}
	if !bound(s, at) {
		return 0, 0, at
	}
	end = at + len(r.word)
	for end < len(s) && r.class[s[end]] {
		end++
	}
	next = end
	// What ends a sentence is not the token's.
	for end > at && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	if v != nil && v.joins {
		end = v.wrapped(at, end, r.whole)
	}
	if !r.whole(s[at:end]) {
		return 0, 0, next
	}
	return at, end, next
}

// whole reports whether a run that begins with the rule's word is its token.
func (r *rule) whole(token string) bool {
	return len(token)-len(r.word) >= r.min && (r.ok == nil || r.ok(token))
}

// bound reports whether a token may begin at a position: not in the middle of
// a word. A single hyphen may stand before it, as in a diff or a list, and so
// may what only looks like a word: the end of a terminal's colour code or of a
// byte in percent form.
func bound(s string, at int) bool {
	if at == 0 {
		return true
	}
	c := s[at-1]
	switch {
	case c == '-':
		return at == 1 || (s[at-2] != '-' && !isWord(s[at-2]))
	case !isWord(c):
		return true
	case at >= 3 && s[at-3] == '%':
		_, high := hexDigit(s[at-2])
		_, low := hexDigit(c)
		return high && low
	}
	i := at - 2
	for i >= 0 && at-i < 20 && (s[i] == ';' || s[i] >= '0' && s[i] <= '9') {
		i--
	}
	return i > 0 && s[i] == '[' && s[i-1] == 0x1b
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

const (
	// minPiece is the least that a token's last line must hold, and
	// minPlainPiece if it has no digit.
	minPiece      = 4
	minPlainPiece = 16
	// wrapColumn is how long a line must be to have been wrapped, if what it
	// ends in is a token by itself.
	wrapColumn = 60
)

// wrapped is the end of a token that begins at start and, in this joined view,
// goes on to end: without the lines at its end that rather are other text. It
// is start if nothing is left that a line break stood in.
func (v *view) wrapped(start, end int, whole func(string) bool) int {
	from, to := v.breaks(start, end)
	if from == to {
		return start
	}
	line := 0
	if from > 0 {
		line = v.steps[from-1].at
	}
	first := v.steps[from].at
	if first-line < wrapColumn && whole(v.text[start:first]) {
		return start
	}
	for n := to - 1; n >= from; n-- {
		piece := v.text[v.steps[n].at:end]
		if len(piece) >= minPlainPiece || (len(piece) >= minPiece && hasDigit(piece)) {
			return end
		}
		end = v.steps[n].at
	}
	return start
}

func hasDigit(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
	}
	return false
}
