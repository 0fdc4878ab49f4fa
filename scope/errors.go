package scope

import (
	"errors"
	"io/fs"

	"github.com/gajae-code/gjc-index/storage"
)

// What a caller decides by. Every one of them comes wrapped in an *Error.
var (
	// ErrNetwork is a workspace on a network share.
	ErrNetwork = errors.New("network workspaces are not supported")
	// ErrBinding is a scope that can't be proven to belong to the workspace.
	ErrBinding = errors.New("scope is not bound to this workspace")
	// ErrConflict is a destination that holds something else.
	ErrConflict = errors.New("destination holds something else")
	// ErrChanged is a file that was replaced or written between check and use.
	ErrChanged = errors.New("source changed meanwhile")
	// ErrMigrationDisabled is a write to a legacy session that must not be migrated.
	ErrMigrationDisabled = errors.New("migration of legacy sessions is disabled")
)

// Code says what was refused, in the original program's words for machines.
type Code string

// The codes of an Error.
const (
	CwdMissing          Code = "cwd_missing"
	CwdNotDirectory     Code = "cwd_not_directory"
	IdentityUnavailable Code = "identity_unavailable"
	NetworkUnsupported  Code = "network_unsupported"
	RootUnavailable     Code = "sessions_root_unavailable"
	BindingInvalid      Code = "binding_invalid"
	BindingConflict     Code = "binding_conflict"

	MigrationBusy       Code = "migration_busy"
	MigrationDisabled   Code = "legacy_migration_disabled"
	MigrationRetired    Code = "migration_retired"
	DestinationConflict Code = "destination_conflict"
	SourceChanged       Code = "source_changed"
	UnsafeArtifacts     Code = "unsafe_artifacts"
	DurabilityFailed    Code = "durability_failed"

	UnsafeRoot Code = "unsafe_root" // of a scan
	ScanFailed Code = "scan_failed"
)

// Error is a refusal. Its text says in plain words what is wrong with Path;
// Message is the sentence of the original program, which conformance compares.
type Error struct {
	Code    Code
	Path    string
	Reason  string // plain words, lower case
	Message string // as the original says it
	Class   string // the original's class of the cause; "" if it gives none
	Err     error  // the cause, or nil
}

// Error gives "path: reason: cause".
func (e *Error) Error() string {
	text := e.Reason
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes the sentinels of this room, fs.ErrNotExist (no such workspace),
// storage.ErrUnsafe and storage.ErrLocked true for the codes that mean them.
func (e *Error) Is(target error) bool {
	switch e.Code {
	case CwdMissing:
		return target == fs.ErrNotExist
	case NetworkUnsupported:
		return target == ErrNetwork
	case BindingInvalid, BindingConflict:
		return target == ErrBinding
	case RootUnavailable, UnsafeRoot, UnsafeArtifacts:
		return target == storage.ErrUnsafe
	case DestinationConflict:
		return target == ErrConflict
	case SourceChanged:
		return target == ErrChanged
	case MigrationDisabled:
		return target == ErrMigrationDisabled
	case MigrationBusy:
		return target == storage.ErrLocked
	}
	return false
}

// refuse makes an Error whose words for people and for machines are given.
func refuse(code Code, path, reason, message string, cause error) *Error {
	return &Error{Code: code, Path: path, Reason: reason, Message: message, Err: cause}
}
