package session

import "errors"

// ErrBusy is a session that another process writes; the error names the holder.
var ErrBusy = errors.New("session has another writer")

// ErrClosed is a session that was closed.
var ErrClosed = errors.New("session is closed")

// ErrProtected is a session that something reads or writes at the moment.
var ErrProtected = errors.New("session is protected")

// ErrBadID is text that can be no session id, refused before any path is made.
var ErrBadID = errors.New("not a session id")

// ErrLatched is a session that stopped after a write error; reopen it.
var ErrLatched = errors.New("session stopped after a write error")

// ErrSequence is an event-id sequence file that is no number.
var ErrSequence = errors.New("event id sequence is damaged")

// ErrTaskScope is a turn refused because its required task scope is missing or
// invalid.
var ErrTaskScope = errors.New("task scope is missing or invalid")
