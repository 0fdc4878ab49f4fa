package history

import (
	"errors"
	"fmt"

	"github.com/gajae-code/gjc-index/migrations"
)

// ErrClosed is a store that was closed.
var ErrClosed = errors.New("history is closed")

// ErrBusy is a database that another process kept locked for too long. What was
// added stays queued.
var ErrBusy = errors.New("history is locked by another process")

// ErrReadOnly is a database that can be read but not written here.
var ErrReadOnly = errors.New("history can't be written here")

// ErrFull is a disk with no room left. What was added stays queued.
var ErrFull = errors.New("no room left on the disk for history")

// ErrDamaged is a history.db whose own bytes are bad. It is left as it is.
var ErrDamaged = errors.New("history is damaged")

// plain says in words for people what SQLite says in codes, and keeps the code
// behind it.
func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case migrations.Busy(err):
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case migrations.Full(err):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case migrations.Damaged(err):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case migrations.Refused(err):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}
