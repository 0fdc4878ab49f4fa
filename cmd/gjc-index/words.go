package main

// What went wrong, for people: what could not be done, why, and what to do
// about it. Errors come as chains that name each step; a person needs one
// sentence, and each path once.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// sentence is an error in plain words. What a command has worded itself (with
// silent) stays, and so does what nothing is known of.
func sentence(err error) string {
	if all, ok := joined(err); ok {
		var parts []string
		for _, one := range all {
			if text := sentence(one); !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "; ")
	}
	var refused *scope.Error
	why := reason(err)
	switch {
	case errors.As(err, new(silent)):
		return err.Error()
	case errors.As(err, &refused):
		return refusal(refused)
	case ofHistory(err) != "":
		return ofHistory(err)
	case why == "":
		return err.Error()
	}
	what, _, _ := strings.Cut(err.Error(), ": ")
	if path := pathOf(err); path != "" && !strings.Contains(what, filepath.Base(path)) {
		why += " (" + path + ")"
	}
	var failed *jsonl.AppendError
	if errors.As(err, &failed) {
		outcome := "nothing was written"
		if failed.Outcome == jsonl.Uncertain {
			outcome = "it is not known what was written"
		}
		return what + ": " + outcome + ": " + why
	}
	return unable(what) + ": " + why
}

// joined are the errors that errors.Join made one of.
func joined(err error) ([]error, bool) {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	var texts []string
	for _, one := range several.Unwrap() {
		texts = append(texts, one.Error())
	}
	return several.Unwrap(), err.Error() == strings.Join(texts, "\n")
}

// refusal is what a scope says, with what can be done about it.
func refusal(e *scope.Error) string {
	text := e.Reason
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Err != nil {
		text += ": " + briefly(e.Err)
	}
	if mend := e.Mend(); mend != "" {
		text += "; " + mend
	}
	return text
}

// verbs are what errors begin with that say what was tried, and how that is
// called in a sentence.
var verbs = map[string]string{
	"mkdir": "make", "lstat": "look at", "stat": "look at", "getdents": "list", "fsync": "save", "sync": "save",
}

// unable says that something can't be done, if what begins with a verb.
func unable(what string) string {
	verb, object, ok := strings.Cut(what, " ")
	if other, known := verbs[verb]; known {
		verb = other
	}
	if !ok || !slices.Contains(tried, verb) {
		return what
	}
	return "can't " + verb + " " + object
}

var tried = []string{
	"append", "archive", "begin", "build", "check", "chmod", "close", "collect", "continue", "copy", "create", "delete", "discard",
	"edit", "export", "find", "fork", "hide", "import", "insert", "inspect", "keep", "link", "list", "load", "lock", "look", "make", "move",
	"open", "pin", "prune", "publish", "read", "rebind", "remove", "rename", "repair", "replace", "restore", "rewrite",
	"save", "search", "set", "show", "switch", "take", "touch", "truncate", "unpin", "verify", "write",
}

// ofHistory says what is wrong with history.db; "" of other errors.
func ofHistory(err error) string {
	switch {
	case errors.Is(err, history.ErrDamaged):
		return history.ErrDamaged.Error() + ": history.db is left as it is, and the prompts of sessions are found without it"
	case errors.Is(err, history.ErrFull):
		return history.ErrFull.Error() + ": make some and try again"
	case errors.Is(err, history.ErrBusy):
		return history.ErrBusy.Error() + "; try again in a moment"
	case !errors.Is(err, history.ErrReadOnly):
		return ""
	}
	text := history.ErrReadOnly.Error()
	if why := reason(err); why != "" {
		text += ": " + why
	}
	if path := pathOf(err); path != "" {
		text += " (" + path + ")"
	}
	return text
}

// briefly is why something failed, without what was tried.
func briefly(err error) string {
	if why := cmp.Or(ofHistory(err), reason(err)); why != "" {
		return why
	}
	return err.Error()
}

// reason says in words why something failed and what to do about it; "" of
// what is not known here.
func reason(err error) string {
	var unsafe *storage.UnsafeError
	var busy *session.BusyError
	switch {
	case errors.As(err, &unsafe):
		return unsafe.Reason
	case errors.As(err, &busy):
		return "another process writes it; --wait waits for it"
	case migrations.Full(err):
		return "the disk is full: make room and try again"
	case migrations.Busy(err), errors.Is(err, storage.ErrLocked):
		return "another process has it locked; try again in a moment"
	case migrations.Damaged(err):
		return "the index is damaged; gjc-index reindex --full builds it again"
	}
	var path *fs.PathError
	var link *os.LinkError
	var code syscall.Errno
	switch {
	case errors.Is(err, io.ErrShortWrite):
		return "the disk took only a part of it, so it is full: make room and try again"
	case errors.As(err, &code):
		return errnoWords(code)
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	case migrations.Refused(err):
		return "it can't be opened or written here"
	}
	return ""
}

// errnoWords are what the system's errors mean to a person.
func errnoWords(code syscall.Errno) string {
	switch code {
	case syscall.EROFS:
		return "the file system is read-only"
	case syscall.EDQUOT:
		return "the quota of the disk is used up: make room and try again"
	case syscall.ENOTDIR:
		return "a part of that path is a file, no directory"
	case syscall.ENAMETOOLONG:
		return "the name is too long"
	case syscall.EIO:
		return "the disk answers with an error"
	case syscall.EMFILE, syscall.ENFILE:
		return "too many files are open; try again in a moment"
	}
	return code.Error()
}

// pathOf is the path that an error is about, "" if it names none.
func pathOf(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Path
	case errors.As(err, &link):
		return link.New
	}
	return ""
}

// noWorkingDirectory is the error of a relative path where there is nothing
// that it could be relative to.
func noWorkingDirectory(err error) error {
	return fmt.Errorf("the working directory is gone: go to another one, or give a whole path%w", silent{err})
}
