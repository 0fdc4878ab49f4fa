package redact

import "strings"

// This file has the rules for secrets that have no form of their own: what
// stands around them tells them.

// maxPrivateKey bounds a private key between its two lines.
const maxPrivateKey = 64 << 10

// findPrivateKey finds a block from -----BEGIN … PRIVATE KEY----- to its end. A
// block without an end goes on as long as text looks like one.
func findPrivateKey(s string, at int) (start, end, next int) {
	label := at + len("-----begin")
	stop := strings.Index(s[label:min(len(s), label+80)], "-----")
	if stop < 0 || !strings.Contains(strings.ToUpper(s[label:label+stop]), "PRIVATE KEY") {
		return 0, 0, at + 1
	}
	body := label + stop + len("-----")
	window := s[body:min(len(s), body+maxPrivateKey)]
	if n := strings.Index(window, "-----END"); n >= 0 && !strings.Contains(window[:n], "-----BEGIN") {
		end = body + n + len("-----END")
		if n := strings.Index(s[end:min(len(s), end+80)], "-----"); n >= 0 {
			end += n + len("-----")
		}
		return at, end, end
	}
	end = body
	for end < len(s) && (isWord(s[end]) || strings.IndexByte("+/=\r\n\t \\:,-", s[end]) >= 0) {
		end++
	}
	return at, end, end
}

// findAddress finds the password of scheme://user:password@host.
func findAddress(s string, at int) (start, end, next int) {
	from := at + len("://")
	for i := from; i < len(s) && i-from < 1024; i++ {
		switch c := s[i]; {
		case c == ':' && start == 0:
			start = i + 1
		case c == '@':
			if start == 0 || i == start || isPlaceholder(s[start:i]) {
				return 0, 0, i
			}
			return start, i, i
		case c <= ' ', c == '/', c == '"', c == '\'', c == '<', c == '>', c == '`':
			return 0, 0, i
		}
	}
	return 0, 0, at + 1
}

// findAuthorization finds what an Authorization header holds.
func findAuthorization(s string, at int) (start, end, next int) {
	i := at + len("authorization")
	i = skip(s, i, `"'\`)
	i = skip(s, i, " ")
	if i >= len(s) || (s[i] != ':' && s[i] != '=') {
		return 0, 0, i
	}
	i = skip(s, i+1, " \t\"'`\\")
	for _, scheme := range []string{"basic ", "bearer ", "token ", "digest ", "negotiate ", "apikey "} {
		if len(s)-i > len(scheme) && strings.EqualFold(s[i:i+len(scheme)], scheme) {
			i = skip(s, i+len(scheme), " ")
			break
		}
	}
	end = run(s, i)
	if end-i < 8 || isPlaceholder(s[i:end]) || !hasDigit(s[i:end]) && end-i < 24 {
		return 0, 0, end
	}
	return i, end, end
}

// findBearer finds the token after the word bearer.
func findBearer(s string, at int) (start, end, next int) {
	i := at + len("bearer")
	j := skip(s, i, " \t:=")
	if j == i || !bound(s, at) {
		return 0, 0, i
	}
	end = run(s, j)
	if end-j < 16 || isPlaceholder(s[j:end]) || !hasDigit(s[j:end]) {
		return 0, 0, end
	}
	return j, end, end
}

// maxCookieName bounds the name of a cookie, in bytes.
const maxCookieName = 256

// findCookie finds what a Cookie or Set-Cookie header holds, to the line's end.
func findCookie(s string, at int) (start, end, next int) {
	i := skip(s, at+len("cookie"), `"'`)
	if i >= len(s) || s[i] != ':' {
		return 0, 0, i
	}
	i = skip(s, i+1, " \"'")
	name := strings.IndexByte(s[i:min(len(s), i+maxCookieName)], '=')
	if name <= 0 || strings.ContainsAny(s[i:i+name], " (){}<>[]\n\r\"'") {
		return 0, 0, i
	}
	end = i + name
	for end < len(s) && s[end] != '\n' && s[end] != '\r' && s[end] != '"' && s[end] != '\'' {
		end++
	}
	if end-i-name < 9 {
		return 0, 0, i
	}
	return i + name + 1, end, end
}

// findTelegram finds <digits>:AA<33 characters>.
func findTelegram(s string, at int) (start, end, next int) {
	start = at
	for start > 0 && at-start < 11 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	end = at + 1
	for end < len(s) && (isWord(s[end]) || s[end] == '-') {
		end++
	}
	if at-start < 8 || end-at-1 != 35 {
		return 0, 0, at + 1
	}
	return start, end, end
}

// skip is the first position from i on whose byte is not one of chars.
func skip(s string, i int, chars string) int {
	for i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
		i++
	}
	return i
}

// run is the end of a value without quotes.
func run(s string, i int) int {
	for i < len(s) && s[i] > ' ' && strings.IndexByte("\"'`,;<>(){}|\\", s[i]) < 0 {
		i++
	}
	return i
}

// isPlaceholder tells what stands for a secret from a secret.
func isPlaceholder(s string) bool {
	if s == "" || strings.IndexByte("$%<{[*", s[0]) >= 0 || strings.Contains(s, Mark) {
		return true
	}
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			return false
		}
	}
	return true
}
