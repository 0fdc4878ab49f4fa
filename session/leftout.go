package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// LeftOut is a file or directory that a listing passed over, and why, in words
// for people.
type LeftOut struct{ Path, Reason string }

func leftOut(path string, err error) LeftOut {
	return LeftOut{Path: path, Reason: reasonOf(err)}
}

// reasonOf is what an error says beyond the path, which stands beside it.
func reasonOf(err error) string {
	var version *jsonl.VersionError
	var unsafe *storage.UnsafeError
	var refused *scope.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &version):
		return version.Error()
	case errors.Is(err, jsonl.ErrNotTranscript):
		return errNoHeader.Error()
	case errors.As(err, &unsafe):
		return unsafe.Reason
	case errors.As(err, &refused):
		return refused.Reason
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

// asRefusal is what a listing says of a workspace or a home whose scope is
// refused. Only the end of a context is no refusal.
func asRefusal(err error, path string) (LeftOut, bool) {
	var refused *scope.Error
	if !errors.As(err, &refused) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return LeftOut{}, false
	}
	if refused.Path != "" {
		path = refused.Path
	}
	return LeftOut{Path: path, Reason: refused.Reason}, true
}

// invalidReason says in plain words what the original's code means.
func invalidReason(code string) string {
	switch code {
	case "invalid_header":
		return "first line is no session header"
	case "unreadable_candidate":
		return "can't be read, or is no plain file with one name"
	case "source_changed":
		return "was replaced while it was read"
	case "cwd_not_found", string(scope.CwdMissing):
		return "its workspace does not exist"
	case string(scope.CwdNotDirectory):
		return "its workspace is not a directory"
	case string(scope.BindingInvalid):
		return "the scope of its workspace is refused"
	case string(scope.ScanFailed):
		return "directory can't be read"
	}
	return code
}

// notPlain says why a directory entry with the name of a session is none;
// "" if it may be one. Decision 9.
func notPlain(info storage.Info) string {
	switch {
	case info.Kind == storage.Symlink:
		return "is a symbolic link"
	case info.Kind == storage.Dir:
		return "is a directory"
	case info.Kind != storage.Regular:
		return "is no regular file"
	case info.Links > 1:
		return fmt.Sprintf("has %d names (hard links)", info.Links)
	}
	return ""
}
