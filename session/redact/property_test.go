package redact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Texts put together of what rules look for.
func TestTextLeavesNoSecretAndIsStable(t *testing.T) {
	pieces := []string{"sk-", "ghp_", "AKIA", "eyJ", ".", "-", "_", " ", "\n", "\n  ", "\\n", "\\\"", "\\\\", "\\u002d", "\"", "'", ":", "=", "://", "@", "/",
		"password", "token", "secret", "api_key", "--", "Bearer ", "Authorization: ", "Cookie: ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		"abc", "EXAMPLE0fake1", "0123456789", "hunter2", "x", "A", "&", "$", "[redacted]", "redacted", "[", "]", "😀", "xoxb-", ":AA", "SG.", "{", "}", ",", ";"}
	for _, r := range rules() {
		pieces = append(pieces, r.word)
	}
	rapid.Check(t, func(r *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(r, "pieces"), "")
		out := Text(s)
		if again := Text(out); again != out {
			r.Fatalf("Text(%q) = %q, and of that %q", s, out, again)
		}
		for _, f := range Find(s) {
			if secret := s[f.Start:f.End]; len(secret) >= minRepeat && strings.Contains(out, secret) {
				r.Fatalf("Text(%q) = %q, which has %q", s, out, secret)
			}
		}
	})
}
