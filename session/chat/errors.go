package chat

import "errors"

// ErrStale is a page of a snapshot that the session has left behind.
var ErrStale = errors.New("snapshot is stale")

// ErrAttachment is an attachment that can't be opened: there is none, there
// are several, or another tool made it.
var ErrAttachment = errors.New("attachment can't be opened")
