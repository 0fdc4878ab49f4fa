package jsonl

import (
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/blob"
)

// checkRef holds that the field reader and package blob agree on what a
// reference is, however it is escaped.
func checkRef(t *testing.T, raw string) {
	t.Helper()
	text, err := wtf8(raw)
	if err != nil {
		return
	}
	_, err = blob.ParseRef(text)
	if got := isRef(text); got != (err == nil) {
		t.Errorf("isRef(%q) = %v, but ParseRef: %v", text, got, err)
	}
	if l := (Lit{raw: []byte(raw)}); l.isRef() != (err == nil) {
		t.Errorf("literal %q: isRef = %v, but ParseRef: %v", raw, l.isRef(), err)
	}
}

func TestRefAgreesWithBlob(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	for _, raw := range []string{
		aRef, aRef + "0", aRef[1:], aRef[:75], strings.ToUpper(aRef), "blob:sha256:" + digits,
		"blob:sha256:g" + digits[1:], `\u0062lob:sha256:` + digits, `blob:sha256:\u0030` + digits[1:],
		`blob:sha256:\u00301` + digits[2:], `blob:sha256:` + digits[1:] + `\n`, `blob:sha256:` + digits[:62] + `é`,
		`blob:sha256:` + digits[1:] + `\u0100`, `blob\u003A` + "sha256:" + digits, "",
	} {
		t.Run(raw, func(t *testing.T) { checkRef(t, raw) })
	}
}

func FuzzRef(f *testing.F) {
	f.Add(aRef)
	f.Add(`blob:sha256:\u0030` + aRef[13:])
	f.Fuzz(checkRef)
}
