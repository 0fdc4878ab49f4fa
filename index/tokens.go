package index

import (
	"bytes"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
)

// The words of a prompt, as FTS5 is given them.
//
// A folded text is cut into runs of token bytes (ASCII letters and digits, all
// bytes from 0x80), and these where script changes between dense and other
// runes. A run of other runes is one token. Dense scripts write no blanks, so
// that a whole run would be a token that never comes again; their tokens are
// the pairs of neighbours and the last rune alone. So a dense rune is in a text
// if a token begins with it, and two neighbours are if their pair is a token.

const (
	// maxToken is the longest run in bytes that is a token of its own. Longer
	// ones (keys, images as text) are all the token longToken.
	maxToken  = 64
	longToken = "\U0010FFFD"
)

// dense reports whether r is of a script written without blanks, or a sign.
func dense(r rune) bool {
	switch {
	case r < 0x0E00:
		return r >= 0xA0 && r < 0xC0
	case r < 0x2000:
		return r < 0x10A0 || r >= 0x1100 && r < 0x1200 || r >= 0x1780 && r < 0x1800 || r >= 0x1950 && r < 0x1A00
	case r < 0xE000:
		return r < 0x2C00 || r >= 0x2E00 && r < 0xA4D0 || r >= 0xA960 && r < 0xA980 || r >= 0xAC00
	}
	return r >= 0xF900 && r < 0xFB00 || r >= 0xFE00 && r < 0xFE70 || r >= 0xFF00 && r < 0x10000 ||
		r >= 0x1F000 && r < 0x40000
}

// eachRun calls visit for every run of folded text, in order. A run ends where
// a byte that belongs to no token follows, or a run of the other sort.
func eachRun(text []byte, visit func(start, end int, dense bool)) {
	start, was := -1, false
	for i := 0; i < len(text); {
		size, now := 1, false
		if c := text[i]; c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			now = dense(r)
		} else if !tokenByte(c) {
			if start >= 0 {
				visit(start, i, was)
				start = -1
			}
			i++
			continue
		}
		if start >= 0 && now != was {
			visit(start, i, was)
			start = -1
		}
		if start < 0 {
			start, was = i, now
		}
		i += size
	}
	if start >= 0 {
		visit(start, len(text), was)
	}
}

// eachToken calls visit for every token of folded text; some come repeatedly.
func eachToken(text []byte, visit func(token []byte)) {
	eachRun(text, func(start, end int, dense bool) {
		run := text[start:end]
		switch {
		case dense:
			eachPair(run, visit)
		case len(run) > maxToken:
			visit([]byte(longToken))
		default:
			visit(run)
		}
	})
}

// eachPair calls visit for each rune of a dense run together with the next
// one; the last comes alone.
func eachPair(run []byte, visit func(token []byte)) {
	for len(run) > 0 {
		_, first := utf8.DecodeRune(run)
		_, second := utf8.DecodeRune(run[first:])
		visit(run[:first+second])
		run = run[first:]
	}
}

// piece is a part of a term that says which tokens a matching text must have
// one of.
type piece struct {
	text []byte
	// Open is where the token may go on beyond the text.
	openLeft, openRight bool
	dense               bool
}

// exact reports whether only the token that is the piece itself will do.
func (p piece) exact() bool { return !p.openLeft && !p.openRight }

// piecesOf cuts a folded term as eachToken cuts texts.
func piecesOf(term []byte) []piece {
	var pieces []piece
	eachRun(term, func(start, end int, dense bool) {
		run := term[start:end]
		if !dense {
			pieces = append(pieces, piece{
				text: run, openLeft: start == 0, openRight: end == len(term),
			})
			return
		}
		open := end == len(term)
		eachPair(run, func(pair []byte) {
			if _, first := utf8.DecodeRune(pair); first < len(pair) {
				pieces = append(pieces, piece{text: pair, dense: true})
				return
			}
			if !open || len(pair) == len(run) {
				pieces = append(pieces, piece{text: pair, openRight: open, dense: true})
			}
		})
	})
	return pieces
}

// lookup finds the tokens in lists that will do for p, at most limit+1.
func (p piece) lookup(lists [][]byte, limit int) [][]byte {
	if p.exact() {
		if len(p.text) > maxToken {
			return nil // longToken stands for it
		}
		return [][]byte{p.text}
	}
	needle := make([]byte, 0, len(p.text)+2)
	if !p.openLeft {
		needle = append(needle, '\n')
	}
	needle = append(needle, p.text...)
	if !p.openRight {
		needle = append(needle, '\n')
	}
	var tokens [][]byte
	f := jsonl.NewFinder(needle)
	for _, list := range lists {
		for at := 0; len(tokens) <= limit; {
			i := f.Index(list[at:])
			if i < 0 {
				break
			}
			i += at
			if !p.openLeft {
				i++
			}
			from := bytes.LastIndexByte(list[:i], '\n') + 1
			to := i + bytes.IndexByte(list[i:], '\n')
			tokens = append(tokens, list[from:to])
			at = to
		}
	}
	return tokens
}
