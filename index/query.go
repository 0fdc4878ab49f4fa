package index

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query is what a search text asks for. The zero Query asks for everything.
type Query struct {
	// Terms are the folded terms, in the order typed; a text matches that
	// holds each of them. None is empty, none is part of another.
	Terms [][]byte
}

// ParseQuery reads a search text: white space splits terms, a quote at the
// start of a term and the next quote hold one term (blanks and all), and
// nothing else has a meaning: a quote without its second, or inside a word, is
// a character to search for. No text is an error; one without terms asks for
// everything.
func ParseQuery(text string) Query {
	var q Query
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			break
		}
		term := ""
		term, text = cutTerm(text)
		if folded := Fold(nil, term); len(folded) > 0 {
			q.Terms = append(q.Terms, folded)
		}
	}
	q.Terms = withoutImplied(q.Terms)
	return q
}

// cutTerm splits text, which begins with a term, after it.
func cutTerm(text string) (term, rest string) {
	if text[0] == '"' {
		if end := strings.IndexByte(text[1:], '"'); end >= 0 {
			return text[1 : 1+end], text[end+2:]
		}
	}
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// maxPruned bounds the terms that are compared with each other: a pasted page
// is checked term by term anyway.
const maxPruned = 64

// withoutImplied drops terms that are part of another one.
func withoutImplied(terms [][]byte) [][]byte {
	if len(terms) > maxPruned {
		seen := make(map[string]bool, len(terms))
		return slices.DeleteFunc(terms, func(t []byte) bool {
			had := seen[string(t)]
			seen[string(t)] = true
			return had
		})
	}
	var kept [][]byte
	for i, t := range terms {
		implied := false
		for j, other := range terms {
			same := len(t) == len(other)
			if i != j && bytes.Contains(other, t) && (!same || j < i) {
				implied = true
				break
			}
		}
		if !implied {
			kept = append(kept, t)
		}
	}
	return kept
}

// Empty reports whether q asks for everything.
func (q Query) Empty() bool { return len(q.Terms) == 0 }

// Match reports whether a folded text holds every term.
func (q Query) Match(folded []byte) bool {
	for _, t := range q.Terms {
		if !bytes.Contains(folded, t) {
			return false
		}
	}
	return true
}

// MatchText is Match for a text that is not folded yet. Buf is room to fold
// in; what it has become is returned for the next call.
func (q Query) MatchText(text string, buf []byte) (bool, []byte) {
	if len(q.Terms) == 0 {
		return true, buf
	}
	buf = Fold(buf[:0], text)
	return q.Match(buf), buf
}

// tokenByte reports whether FTS5's ascii tokenizer takes c as part of a token.
func tokenByte(c byte) bool {
	return c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
