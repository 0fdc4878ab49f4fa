package storage

import "errors"

var (
	// ErrUnsafe is a path that must not be used: a symbolic link, a FIFO, another
	// owner, wrong permission bits. Test with errors.Is; *UnsafeError has the reason.
	ErrUnsafe = errors.New("unsafe path")

	// ErrLocked is a kernel lock that another process or descriptor holds.
	ErrLocked = errors.New("locked by another process")

	// ErrTooLarge is a file that is longer than the caller's limit.
	ErrTooLarge = errors.New("file is too large")

	// ErrUnsynced says that a file is in its place, whole, but that the
	// directory could not be synced: after a power cut it may not be there.
	ErrUnsynced = errors.New("in place but perhaps not on disk")

	// ErrInUse is a rename that another program's open handle stands against,
	// on Windows, for a moment. Replace and Publish try again.
	ErrInUse = errors.New("file is in use by another program")
)

// UnsafeError says which path was refused and why, in words for people.
type UnsafeError struct{ Path, Reason string }

// Error gives "path: reason".
func (e *UnsafeError) Error() string { return e.Path + ": " + e.Reason }

// Is makes errors.Is(err, ErrUnsafe) true.
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafe }
