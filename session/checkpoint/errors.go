package checkpoint

import "errors"

// ErrTaskScope is a task scope under which no turn may begin: it is required
// and missing, malformed or of a newer version, or its checkpoint is.
var ErrTaskScope = errors.New("task scope can't be relied on")

// ErrSteering is a steering record that must not be appended.
var ErrSteering = errors.New("steering refused")

// ErrNotArchivable is a tree of which nothing may be moved, since what stays
// could not be joined as it was.
var ErrNotArchivable = errors.New("entries can't be archived")
