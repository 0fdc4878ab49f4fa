package storage

import "errors"

// ErrUnsafe is a path that must not be used: a symbolic link, a FIFO, another
// owner, wrong permission bits. Test with errors.Is; *UnsafeError has the reason.
var ErrUnsafe = errors.New("unsafe path")

// ErrLocked is a kernel lock that another process or descriptor holds.
var ErrLocked = errors.New("locked by another process")

// UnsafeError says which path was refused and why, in words for people.
type UnsafeError struct{ Path, Reason string }

// Error gives "path: reason".
func (e *UnsafeError) Error() string { return e.Path + ": " + e.Reason }

// Is makes errors.Is(err, ErrUnsafe) true.
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafe }
