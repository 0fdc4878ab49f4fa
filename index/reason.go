package index

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// reasonOf is an error in plain words that name no path and none of the file's
// text.
func reasonOf(err error) string {
	var ue *storage.UnsafeError
	var pe *fs.PathError
	switch {
	case errors.As(err, &ue):
		return ue.Reason
	case errors.Is(err, storage.ErrLocked), migrations.Busy(err):
		return "another process is using it"
	case migrations.Full(err):
		return "no space left on the disk"
	case errors.Is(err, syscall.EDQUOT):
		return "the disk quota is used up"
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case migrations.Damaged(err):
		return "it is damaged"
	case errors.Is(err, migrations.ErrSchema), migrations.BadStatement(err):
		return "its tables are not as they should be"
	case migrations.Refused(err):
		return "it can't be opened for writing"
	case migrations.FromSQLite(err):
		return "the disk gives an error"
	case errors.Is(err, syscall.ENOTDIR):
		return "not a directory"
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}

// fault is an error in plain words; what it was stays to be asked for.
type fault struct {
	words  string
	causes []error
}

// Error gives the words.
func (f *fault) Error() string { return f.words }

// Unwrap gives what it was, and storage.ErrLocked if that was another process.
func (f *fault) Unwrap() []error { return f.causes }

// inWords is err in plain words, if it comes from the database or the disk.
func inWords(err error) error {
	var pe *fs.PathError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, storage.ErrLocked), migrations.Busy(err):
		return &fault{"another process is writing it; try again in a moment", []error{storage.ErrLocked, err}}
	case migrations.FromSQLite(err), errors.As(err, &pe):
		return &fault{reasonOf(err), []error{err}}
	}
	return err
}

// noHistory notes that the prompts of history.db are left out of answers.
func (x *Index) noHistory(err error) {
	words := "history can't be read (" + reasonOf(err) + ")"
	if migrations.Damaged(err) || migrations.BadStatement(err) {
		words = "history is damaged"
	}
	x.noteMu.Lock()
	x.history = words
	x.noteMu.Unlock()
	x.note(words + ": its prompts are left out")
}

// lostHistory is what noHistory last said; "" if history.db was read.
func (x *Index) lostHistory() string {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	return x.history
}

// forgetHistory lets the next reading of history.db say whether it can be read.
func (x *Index) forgetHistory() {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	x.history = ""
	x.past.again()
}
