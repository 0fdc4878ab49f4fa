package redact

import (
	"bytes"
	"slices"
	"sync"
)

// Suspect reports whether a JSON text may hold a secret in one of its strings
// or names. false is certain: Find has nothing to find in any of them, nor in a
// string together with its name. true says only that it has to be parsed and
// looked at. It reads the text as it stands, once, and is several times as fast
// as parsing it. Safe for several goroutines.
//
// That holds since a rule's word can only be in a string if it stands in the
// JSON as it is, or with an escape in it. The escapes that words could be
// written with are rare, so any of them is suspect; line breaks, which are not,
// are looked at one by one.
func Suspect(json []byte) bool {
	return hasSuspectWord(json) || hasSuspectEscape(json)
}

// hasSuspectWord looks for the rules' words as they are.
func hasSuspectWord(s []byte) bool {
	w := tables().all
	for i := 0; i+1 < len(s); i++ {
		pair := uint16(s[i]) | uint16(s[i+1])<<8
		if w.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, c := range w.buckets[w.slots[pair]] {
			r := &w.rules[c.rule]
			at := i - c.off
			if at >= 0 && hasWordBytes(s[at:], r) && r.suspect(s, at) {
				return true
			}
		}
	}
	return false
}

func hasWordBytes(s []byte, r *rule) bool {
	if len(s) < len(r.word) {
		return false
	}
	head := s[:len(r.word)]
	return string(head) == r.word || r.fold && hasPrefixFold(string(head), r.word)
}

// suspect reports whether the rule may find something where its word stands in
// JSON. It may say so too often, never too seldom.
func (r *rule) suspect(s []byte, at int) bool {
	end := at + len(r.word)
	if r.find == nil {
		return suspectBound(s, at) && r.suspectRun(s, end)
	}
	switch r.name {
	case "address-password":
		return suspectAddress(s[end:])
	case "assignment":
		return suspectAssignment(s, at)
	case "cookie":
		return suspectCookie(s, end)
	case "authorization":
		end = skipBytes(s, end, "\"'\\ ")
		return end < len(s) && (s[end] == ':' || s[end] == '=')
	case "bearer":
		return end < len(s) && bytes.IndexByte([]byte(" :=\\"), s[end]) >= 0
	}
	return true
}

// suspectRun reports whether a token may go on long enough: on the next line
// too.
func (r *rule) suspectRun(s []byte, from int) bool {
	end := from
	for end < len(s) && r.class[s[end]] {
		end++
	}
	if end-from >= r.min {
		return true
	}
	end = skipBytes(s, end, " ")
	return end < len(s) && s[end] == '\\'
}

// suspectBound is bound for JSON: what looks like a letter before a word may be
// an escape's end, or what bound lets pass.
func suspectBound(s []byte, at int) bool {
	return at == 0 || !isWord(s[at-1]) || bytes.ContainsAny(s[max(0, at-24):at], `\%[`)
}

// maxSuspectRun bounds how far anything is looked at, in bytes: a text that goes
// on for longer is suspect.
const maxSuspectRun = 4096

// suspectAddress looks at what stands after "://": there must be a sign that a
// password ends with.
func suspectAddress(s []byte) bool {
	for i, c := range s {
		switch {
		case i > maxSuspectRun:
			return true
		case c == '@':
			return bytes.IndexByte(s[:i], ':') >= 0
		case c <= ' ', c == '/', c == '"', c == '\'', c == '<', c == '>', c == '`':
			return false
		}
	}
	return false
}

// suspectCookie looks at what stands after the word: a name and a value.
func suspectCookie(s []byte, i int) bool {
	if i = skipBytes(s, i, "\"'\\"); i >= len(s) || s[i] != ':' {
		return false
	}
	i = skipBytes(s, i+1, "\"'\\ ")
	for name := i; i < len(s) && bytes.IndexByte([]byte(" (){}<>[]\"'"), s[i]) < 0; i++ {
		if s[i] == '=' {
			return i > name
		}
		if i-name > maxSuspectRun {
			return true
		}
	}
	return false
}

// suspectAssignment looks at a name that may be a secret's, and what it is set
// to.
func suspectAssignment(s []byte, at int) bool {
	end := at
	for end < len(s) && end-at < maxSuffix && (isWord(s[end]) || s[end] == '-') {
		end++
	}
	name := string(s[at:end])
	if isHarmless(name) {
		return false
	}
	i := end
	for i < len(s) && (bytes.IndexByte([]byte("\"'`] "), s[i]) >= 0 || s[i] == '\\') {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == 't' {
			i++
		}
		i++
	}
	if i >= len(s) || (s[i] != ':' && s[i] != '=') {
		return i > end && suspectFlag(s, at)
	}
	i = skipBytes(s, i, ":=>")
	for i < len(s) && (s[i] == ' ' || s[i] == '\\') {
		if s[i] == '\\' && i+1 < len(s) && bytes.IndexByte([]byte("ntr"), s[i+1]) >= 0 {
			i++
		}
		i++
	}
	if i >= len(s) {
		return false
	}
	if c := s[i]; c == 'u' && s[i-1] == '\\' || c == '"' || c == '\'' || c == '`' || c == '[' || c == '{' {
		return true
	}
	value, digit := i, false
	for i < len(s) && i-value <= maxSuspectRun && s[i] > ' ' && bytes.IndexByte([]byte("\"'`,;<>(){}|"), s[i]) < 0 {
		digit = digit || s[i] >= '0' && s[i] <= '9'
		i++
	}
	if isPassword(name) {
		return i-value >= 6
	}
	return i-value > maxSuspectRun || i-value >= 12 && digit
}

// suspectFlag is isFlag for JSON.
func suspectFlag(s []byte, at int) bool {
	for from := at; at > 0 && (isWord(s[at-1]) || s[at-1] == '-'); at-- {
		if from-at > maxSuspectRun {
			return true
		}
		if at > 1 && s[at-1] == '-' && s[at-2] == '-' {
			return true
		}
	}
	return false
}

func skipBytes(s []byte, i int, chars string) int {
	for i < len(s) && bytes.IndexByte([]byte(chars), s[i]) >= 0 {
		i++
	}
	return i
}

// hasSuspectEscape looks for escapes that a rule's word may be written with:
// of slashes, of characters by their numbers, and of line breaks that a token's
// word goes over. How deep JSON stands in JSON does not matter.
func hasSuspectEscape(s []byte) bool {
	for at := 0; ; {
		n := bytes.IndexByte(s[at:], '\\')
		if n < 0 {
			return false
		}
		start := at + n
		for at = start + 1; at < len(s) && s[at] == '\\'; at++ {
		}
		if at >= len(s) {
			return false
		}
		switch s[at] {
		case '/':
			return true
		case 'u':
			if isSuspectNumber(s[at+1:]) {
				return true
			}
		case 'n':
			end, suspect := overBreak(s, start, at+1)
			if suspect {
				return true
			}
			at = end - 1
		}
		at++
	}
}

// isSuspectNumber tells the numbers of characters that words or the white space
// in them may be made of.
func isSuspectNumber(s []byte) bool {
	if len(s) < 4 || s[0] != '0' || s[1] != '0' {
		return false
	}
	high, ok := hexDigit(s[2])
	low, ok2 := hexDigit(s[3])
	c := high<<4 | low
	switch {
	case !ok || !ok2 || high > 7, c == '<', c == '>', c == '&', c == 0x7f:
		return false // in no word; many programs write these by their numbers
	}
	return c >= ' ' || c == '\t' || c == '\n' || c == '\r'
}

// splits are the places where a line break may stand in a token's word, by the
// two bytes around it.
var splits = sync.OnceValue(func() map[[2]byte][]split {
	by := map[[2]byte][]split{}
	for _, r := range tables().tokens.rules {
		for k := 1; k < len(r.word); k++ {
			pair, s := [2]byte{r.word[k-1], r.word[k]}, split{r.word[:k], r.word[k:]}
			if !slices.Contains(by[pair], s) {
				by[pair] = append(by[pair], s)
			}
		}
	}
	return by
})

type split struct{ left, right string }

// overBreak reports whether a token's word may go over the line break that
// stands at [from, to), with the white space around it and other breaks in it;
// end is where that ends.
func overBreak(s []byte, from, to int) (end int, suspect bool) {
	for {
		if from > 0 && s[from-1] == ' ' {
			from--
		} else if from > 1 && s[from-1] == 'r' && s[from-2] == '\\' {
			from -= 2
		} else {
			break
		}
	}
	for {
		if to < len(s) && s[to] == ' ' {
			to++
		} else if to+1 < len(s) && s[to] == '\\' && (s[to+1] == 'n' || s[to+1] == 'r' || s[to+1] == 't') {
			to += 2
		} else {
			break
		}
	}
	if from == 0 || to >= len(s) {
		return to, false
	}
	w := &tables().joins
	if pair := uint16(s[from-1]) | uint16(s[to])<<8; w[pair>>6]&(1<<(pair&63)) == 0 {
		return to, false
	}
	for _, p := range splits()[[2]byte{s[from-1], s[to]}] {
		if bytes.HasSuffix(s[:from], []byte(p.left)) && mayGoOn(s[to:], p.right) {
			return to, true
		}
	}
	return to, false
}

// mayGoOn reports whether s begins with a word, or with as much of it as stands
// before another break.
func mayGoOn(s []byte, word string) bool {
	for i := 0; i < len(word); i++ {
		if i >= len(s) {
			return false
		}
		if s[i] != word[i] {
			i = skipBytes(s, i, " ")
			return i < len(s) && s[i] == '\\'
		}
	}
	return true
}
