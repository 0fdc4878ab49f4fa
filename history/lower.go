package history

import (
	"strings"
	"unicode"
)

// lower is ECMAScript's toLowerCase, which differs from Go's in two letters: İ
// becomes two, and Σ at the end of a word becomes ς.
func lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && casedBefore(runes[:i]) && !casedAfter(runes[i+1:]):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func casedBefore(runes []rune) bool {
	for i := len(runes) - 1; i >= 0; i-- {
		if !ignorable(runes[i]) {
			return cased(runes[i])
		}
	}
	return false
}

func casedAfter(runes []rune) bool {
	for _, r := range runes {
		if !ignorable(r) {
			return cased(r)
		}
	}
	return false
}

func cased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

// ignorable is Unicode's Case_Ignorable.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:·’‘․‧﹒﹕＇．：", r)
}

// lowerASCII lowers A to Z and nothing else, as SQLite's LIKE does.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
