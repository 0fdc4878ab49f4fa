package export

import "errors"

var (
	// ErrDestination is a place that an export must not be written to: among the
	// store's own files, or over the session itself.
	ErrDestination = errors.New("refused as a destination")

	// ErrArchive is a file that is no archive of sessions, or a damaged one.
	ErrArchive = errors.New("not a whole archive of sessions")

	// ErrFormat is a word that names no format.
	ErrFormat = errors.New("no such format")
)
