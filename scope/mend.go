package scope

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// Mend says what a person can do about a refusal; "" if there is nothing to
// say that Error doesn't.
func (e *Error) Mend() string {
	switch e.Code {
	case CwdMissing:
		return "if the directory was moved, rebind its sessions to the new place"
	case CwdNotDirectory:
		return "name the directory that you work in"
	case NetworkUnsupported:
		return "work in a local directory, or name a directory of sessions yourself"
	case RootUnavailable, UnsafeRoot:
		return "put a real directory of yours, mode 0700, in the place of " + e.Path
	case BindingConflict:
		return "move " + filepath.Dir(e.Path) + " aside: its name and its binding contradict each other"
	case BindingInvalid:
		return e.mendBinding()
	case DestinationConflict:
		return "look at both files, and move the one that you don't want aside"
	case SourceChanged, MigrationBusy:
		return "try again once nobody writes the session"
	case MigrationDisabled:
		return "allow copy-retain, or fork the session"
	case UnsafeArtifacts:
		return "remove or replace " + e.Path
	}
	return ""
}

func (e *Error) mendBinding() string {
	var unsafe *storage.UnsafeError
	if errors.As(e.Err, &unsafe) && strings.HasPrefix(unsafe.Reason, "mode is") {
		return "look at what others could have changed, then: chmod 0700 " + unsafe.Path
	}
	if filepath.Base(e.Path) == bindingName {
		return "move " + e.Path + " aside; the next session writes it anew"
	}
	return "put a real directory of yours, mode 0700, in the place of " + e.Path
}
