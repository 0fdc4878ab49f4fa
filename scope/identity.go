package scope

import (
	"errors"
	"path/filepath"
	"unicode/utf8"
)

var errNotUTF8 = errors.New("its path is not UTF-8")

// The platforms of an Identity. They are part of the digest.
const (
	Posix = "posix"
	Win32 = "win32"
)

// Identity is who a workspace is: the native canonical path of its directory,
// the same for every spelling that leads there. Comparable.
type Identity struct {
	Platform  string // Posix or Win32
	Canonical string
	Digest    string // Digest(Platform, Canonical)
}

// DirName is the name of the workspace's scope under the sessions directory.
func (id Identity) DirName() string { return dirPrefix + id.Digest }

// Identify asks the operating system who workspace is. The directory must
// exist. On POSIX the canonical path is the one without symbolic links; on
// Windows the final path of an opened handle, by volume id; on macOS the
// spelling that the file system stores. Where a POSIX file system does not
// tell cases apart, the stored spelling counts too. It reads only.
//
// Errors are *Error: cwd_missing (also fs.ErrNotExist), cwd_not_directory,
// identity_unavailable, network_unsupported (ErrNetwork).
func Identify(workspace string) (Identity, error) {
	abs, err := filepath.Abs(workspace)
	if err != nil || workspace == "" {
		return Identity{}, identityError(IdentityUnavailable, workspace, err)
	}
	platform, canonical, code, err := canonicalDir(abs)
	if code != "" {
		return Identity{}, identityError(code, workspace, err)
	}
	// A digest is made of text, so two directories whose names are not text
	// could fall together.
	if !utf8.ValidString(canonical) {
		return Identity{}, identityError(IdentityUnavailable, workspace, errNotUTF8)
	}
	return Identity{Platform: platform, Canonical: canonical, Digest: Digest(platform, canonical)}, nil
}

func identityError(code Code, workspace string, cause error) *Error {
	switch code {
	case CwdMissing:
		// The cause would repeat the path and say the same.
		return refuse(code, workspace, "workspace does not exist", "The workspace directory does not exist.", nil)
	case CwdNotDirectory:
		return refuse(code, workspace, "workspace is not a directory", "The workspace path is not a directory.", nil)
	case NetworkUnsupported:
		return refuse(code, workspace, "workspace is on a network share, which is not supported", "Network workspace directories are not supported.", nil)
	}
	return refuse(IdentityUnavailable, workspace, "workspace can't be identified", "Workspace directory identity is unavailable.", cause)
}

// headerCode is what the original calls a transcript whose header names a
// workspace that can't be identified.
func headerCode(err error) string {
	e, ok := err.(*Error)
	if !ok {
		return "cwd_io_error"
	}
	switch {
	case e.Code == CwdMissing:
		return "cwd_not_found"
	case e.Err == errNotUTF8:
		return "cwd_not_utf8"
	}
	switch e.Code {
	case CwdNotDirectory:
		return "cwd_not_directory"
	case NetworkUnsupported:
		return "cwd_network_unsupported"
	}
	return "cwd_identity_unavailable"
}
