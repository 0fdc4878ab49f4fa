package blob

import "errors"

// ErrCorrupt is a blob whose bytes don't match its name.
var ErrCorrupt = errors.New("blob does not match its name")

// ErrRef is text that is no reference to a blob.
var ErrRef = errors.New("not a blob reference")
