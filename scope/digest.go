package scope

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// base32Lower is RFC 4648 without padding, in lower case.
var base32Lower = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

const (
	alphabet     = "abcdefghijklmnopqrstuvwxyz234567"
	digestDomain = "gjc-managed-session-scope\x00identity-v1\x00"
	digestLen    = 52
	dirPrefix    = "v2-"
)

// Digest is the 52 characters that stand for a workspace in names: base32 of
// the SHA-256 over platform ("posix" or "win32") and canonical path. No Unicode
// normalization takes place, so what the file system tells apart stays apart.
func Digest(platform, canonical string) string {
	sum := sha256.Sum256([]byte(digestDomain + platform + "\x00" + canonical))
	return base32Lower.EncodeToString(sum[:])
}

// DirName is the name of the scope's directory: "v2-" and the digest.
func DirName(platform, canonical string) string { return dirPrefix + Digest(platform, canonical) }

// DigestOf is the digest in the name of a scope's directory; false for any
// other name.
func DigestOf(name string) (string, bool) {
	digest, ok := strings.CutPrefix(name, dirPrefix)
	// The last character carries one bit, so only two of the 32 can stand there.
	if !ok || !inAlphabet(digest) || strings.IndexByte("aq", digest[digestLen-1]) < 0 {
		return "", false
	}
	return digest, true
}

// inAlphabet reports whether s is as long as a digest and made of its letters.
func inAlphabet(s string) bool {
	if len(s) != digestLen {
		return false
	}
	for _, c := range []byte(s) {
		if strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return true
}

// SessionFileName is the transcript's name for a session that began at
// timestamp, the text of its header (ISO 8601, as "2026-03-01T12:00:00.000Z").
// The caller has validated id.
func SessionFileName(timestamp, id string) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(timestamp) + "_" + id + ".jsonl"
}
