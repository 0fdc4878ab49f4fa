package export

import (
	"fmt"
	"slices"
	"strings"
)

// Format is how a session is written.
type Format string

// The formats. JSONL and Archive hold a session whole, all branches and all
// kinds of records; the others show a path of it or all branches.
const (
	HTML     Format = "html"
	Markdown Format = "md"
	Text     Format = "txt"
	JSON     Format = "json"
	JSONL    Format = "jsonl"
	Archive  Format = "archive"
)

// Formats are all formats.
func Formats() []Format { return []Format{HTML, Markdown, Text, JSON, JSONL, Archive} }

// ParseFormat reads a format's word. The error is ErrFormat.
func ParseFormat(word string) (Format, error) {
	if f := Format(word); slices.Contains(Formats(), f) {
		return f, nil
	}
	var words []string
	for _, f := range Formats() {
		words = append(words, string(f))
	}
	return "", &formatError{fmt.Sprintf("there is no format %.40q: it is one of %s", word, strings.Join(words, ", "))}
}

// formatError is ErrFormat in one sentence.
type formatError struct{ text string }

// Error is the sentence.
func (e *formatError) Error() string { return e.text }

// Unwrap is ErrFormat.
func (e *formatError) Unwrap() error { return ErrFormat }

// Extension is what ends the name of a file of the format, with the point.
func (f Format) Extension() string {
	if f == Archive {
		return ".tar.zst"
	}
	return "." + string(f)
}

// Whole reports whether the format holds all of a session in any case.
func (f Format) Whole() bool { return f == JSONL || f == Archive }

// FileName is the name of an export of the session with an id, as a file in
// any directory of any system.
func FileName(id string, f Format) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, id)
	if name = strings.Trim(name, "."); name == "" {
		name = "session"
	}
	if name[0] == '-' || isDevice(name) {
		name = "_" + name
	}
	return name[:min(len(name), maxName)] + f.Extension()
}

// maxName is how many bytes of an id a file name takes.
const maxName = 128

// isDevice reports a name that means a device on Windows.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch base {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")) && base[3] >= '0' && base[3] <= '9'
}
