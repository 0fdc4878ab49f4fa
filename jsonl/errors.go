package jsonl

import (
	"errors"
	"fmt"
)

// ErrNotTranscript is a file without a valid header: its first record is no
// session record with a string id, its version can't be a version, or it is
// empty. The state of the transcript says which.
var ErrNotTranscript = errors.New("no session transcript")

// ErrTooNew is a transcript whose version is above CurrentVersion.
var ErrTooNew = errors.New("written by a newer program")

// ErrTooLarge is something longer than the limit that was given for it.
var ErrTooLarge = errors.New("larger than the limit")

// VersionError is a version that this program can't read. It is ErrTooNew for
// a number above CurrentVersion, else ErrNotTranscript.
type VersionError struct{ Version Value }

// Error gives "unsupported session version: 6". Of a version that is a string
// or worse only the kind is told.
func (e *VersionError) Error() string {
	if e.Version.Is(Number) || e.Version.Is(Null) || e.Version.Is(Bool) {
		return "unsupported session version: " + e.Version.JSON()
	}
	return "unsupported session version: no number"
}

// Is makes errors.Is find ErrTooNew or ErrNotTranscript.
func (e *VersionError) Is(target error) bool {
	if e.Version.Is(Number) && e.Version.Num() > CurrentVersion {
		return target == ErrTooNew
	}
	return target == ErrNotTranscript
}

// LineError is a physical line that could not be taken. It never holds text of
// the line.
type LineError struct {
	Line   int // 1-based
	Reason Reason
}

// Error gives "line 17: not_json".
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// UndefinedItemError is a new record with an array element that is undefined,
// which JSON can't say. Path is where, such as entry.data.list[3].
type UndefinedItemError struct{ Path string }

// Error names the element.
func (e *UndefinedItemError) Error() string {
	return "session entry contains undefined array item at " + e.Path
}
