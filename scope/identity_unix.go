//go:build unix

package scope

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// canonicalDir is the canonical path of an existing directory; a code other
// than "" says why there is none.
func canonicalDir(abs string) (platform, canonical string, code Code, err error) {
	real, err := filepath.EvalSymlinks(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", CwdMissing, err
	case errors.Is(err, unix.ENOTDIR):
		return "", "", CwdNotDirectory, err
	case err != nil:
		return "", "", IdentityUnavailable, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(real, &st); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", CwdMissing, err
		}
		return "", "", IdentityUnavailable, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return "", "", CwdNotDirectory, nil
	}
	stored, err := storedSpelling(real)
	if err != nil {
		return "", "", IdentityUnavailable, err
	}
	return Posix, stored, "", nil
}
