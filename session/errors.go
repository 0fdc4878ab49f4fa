package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
)

// ErrBusy is a session that another process writes; the error names the holder.
var ErrBusy = errors.New("session has another writer")

// ErrClosed is a session that was closed.
var ErrClosed = errors.New("session is closed")

// ErrProtected is a session that something reads or writes at the moment.
var ErrProtected = errors.New("session is protected")

// ErrPinned is a session that is pinned: Unpin lets it go. It is ErrProtected.
var ErrPinned error = pinned{}

type pinned struct{}

func (pinned) Error() string        { return "is pinned" }
func (pinned) Is(target error) bool { return target == ErrProtected }

// ErrBadID is text that can be no session id, refused before any path is made.
var ErrBadID = errors.New("not a session id")

// ErrLatched is a session that stopped after a write error; reopen it.
var ErrLatched = errors.New("session stopped after a write error")

// ErrSequence is an event-id sequence file that is no number.
var ErrSequence = errors.New("event id sequence is damaged")

// ErrTaskScope is a turn refused because its required task scope is missing or
// invalid.
var ErrTaskScope = errors.New("task scope is missing or invalid")

// ErrNoEntry is an entry id that the session doesn't have. It is fs.ErrNotExist.
var ErrNoEntry = fmt.Errorf("no such entry: %w", fs.ErrNotExist)

// ErrEntryArchived is an entry that can't be gone on from, or labelled, since it
// was archived: Unarchive brings it back. It is ErrNoEntry.
var ErrEntryArchived = fmt.Errorf("entry is in the session's archive: %w", ErrNoEntry)

// BusyError is a session that another process writes.
type BusyError struct {
	Path  string
	PID   int    // 0 if the lease file doesn't say
	Host  string // "" if the lease file doesn't say
	Since string // a timestamp; "" if the lease file doesn't say
}

// Error names the holder.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%v: %s", ErrBusy, filepath.Base(e.Path))
	}
	return fmt.Sprintf("%v: %s: process %d on %s since %s", ErrBusy, filepath.Base(e.Path), e.PID, e.Host, e.Since)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// EntryError is a new entry that has not the shape of its type.
type EntryError struct{ Type string }

// Error names the type.
func (e *EntryError) Error() string { return "entry of type " + e.Type + " has the wrong shape" }

// InspectError is a session that strict inspection refuses.
type InspectError struct {
	Verdict jsonl.Verdict
	Err     error // the cause, or nil
}

// Error names the verdict.
func (e *InspectError) Error() string {
	if e.Err == nil {
		return "session is " + string(e.Verdict)
	}
	return "session is " + string(e.Verdict) + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *InspectError) Unwrap() error { return e.Err }

// MissingBlobError is a session that refers to an image that is not there.
type MissingBlobError struct{ Missing jsonl.MissingBlob }

// Error names the blob.
func (e *MissingBlobError) Error() string {
	return "missing " + e.Missing.Kind + " blob: " + e.Missing.Ref.Hex()
}

// Unwrap is the cause.
func (e *MissingBlobError) Unwrap() error { return e.Missing.Err }
