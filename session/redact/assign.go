package redact

import "strings"

// assignWords are parts of the names whose values are secrets.
var assignWords = [...]string{"passw", "pwd", "passphrase", "secret", "token", "api_key", "apikey", "api-key",
	"access_key", "accesskey", "access-key", "private_key", "privatekey", "credential", "auth_key", "authkey"}

// The shapes of an assignment.
const (
	maxSuffix = 24 // bytes of a name after its word
	maxValue  = 4096
	maxOption = 64 // bytes of an option before its word
)

// findAssignment finds the value of password=…, "apiKey": "…", SECRET: …,
// --token … and the like.
func findAssignment(s string, at int) (start, end, next int) {
	i := at
	for i < len(s) && i-at < maxSuffix && (isWord(s[i]) || s[i] == '-') {
		i++
	}
	name := s[at:i]
	if isHarmless(name) {
		return 0, 0, i
	}
	flag := isFlag(s, at)
	i = skip(s, i, `"'`+"`]")
	value := skip(s, i, " \t")
	if value < len(s) && (s[value] == ':' || s[value] == '=') {
		value = skip(s, value, ":=>")
		i = skip(s, value, " \t")
	} else if !flag || value == i {
		return 0, 0, i
	} else {
		i = value
	}
	// A value may stand on the next line.
	line := skip(s, i, " \t\r\n")
	if line < len(s) && (s[line] == '"' || s[line] == '\'' || s[line] == '`') {
		return quoted(s, line, name)
	}
	end = run(s, i)
	v := strings.TrimRight(s[i:end], ".:&")
	if amp := strings.IndexByte(v, '&'); amp >= 0 {
		v = v[:amp] // of a query
	}
	called := end < len(s) && s[end] == '('
	if called || isCode(v, name) || !isSecret(v, name, false) {
		return 0, 0, i + len(v)
	}
	return i, i + len(v), i + len(v)
}

// quoted is the value in the quotes at a position.
func quoted(s string, at int, name string) (start, end, next int) {
	quote := s[at]
	start = at + 1
	for end = start; end < len(s) && end-start < maxValue; end++ {
		switch s[end] {
		case '\\':
			end++
			continue
		case '\n':
			return 0, 0, end
		case quote:
			if !isSecret(s[start:end], name, true) {
				return 0, 0, start
			}
			return start, end, end
		}
	}
	return 0, 0, start
}

// isFlag tells a command's option, after which a blank stands for an equals
// sign.
func isFlag(s string, at int) bool {
	for least := max(0, at-maxOption); at > least && (isWord(s[at-1]) || s[at-1] == '-'); {
		if at > 1 && s[at-1] == '-' && s[at-2] == '-' {
			return true
		}
		at--
	}
	return false
}

// isHarmless tells the names that only sound like a secret's: counts of
// tokens, kinds and names of things.
func isHarmless(name string) bool {
	for _, p := range []string{"tokens", "tokeniz", "tokencount", "token_count", "tokentype", "token_type", "tokenlimit",
		"token_limit", "tokenusage", "secretname", "secret_name", "secretref", "passwordfield", "password_field",
		"token_url", "tokenurl", "token_uri", "credentials_file"} {
		if hasPrefixFold(name, p) {
			return true
		}
	}
	return false
}

// isSecret tells a value that is a secret from code and words. Passwords may be
// short; other secrets are long and mixed.
func isSecret(v, name string, quoted bool) bool {
	if len(v) < 4 || isPlaceholder(v) || strings.ContainsAny(v, "\n\r") {
		return false
	}
	password := isPassword(name)
	var digit, letter, mark, blank bool
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c == ' ':
			blank = true
		case isWord(c), c == '.', c == '-':
			letter = true
		default:
			mark = true
		}
	}
	switch {
	case blank && !(quoted && hasPrefixFold(name, "passphrase")):
		return false
	case strings.HasPrefix(v, "/"), strings.HasPrefix(v, "./"), strings.HasPrefix(v, "http"), strings.Contains(v, "://"):
		return false
	case password && quoted:
		return digit || mark || len(v) >= 12
	case password:
		return (digit || mark) && len(v) >= 6
	case quoted:
		return len(v) >= 8 && letter && (digit || len(v) >= 20)
	}
	return len(v) >= 12 && digit && letter
}

// isCode tells a value without quotes that is an expression: a place that it
// is read from, or a variable named for what it holds.
func isCode(v, name string) bool {
	if strings.IndexByte(v, '[') >= 0 {
		return true
	}
	for _, p := range [...]string{"process.env", "os.", "env.", "this.", "self.", "req.", "config.", "options.", "args.", "settings."} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	if isPassword(name) {
		return false
	}
	for _, w := range assignWords {
		if hasPrefixFold(name, w) {
			for i := 0; i+len(w) <= len(v); i++ {
				if hasPrefixFold(v[i:], w) {
					return true
				}
			}
		}
	}
	return false
}

func isPassword(name string) bool {
	return hasPrefixFold(name, "passw") || hasPrefixFold(name, "passphrase") || hasPrefixFold(name, "pwd")
}
