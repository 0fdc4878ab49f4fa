//go:build unix

package scope

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/gajae-code/gjc-index/storage"
)

// canonicalDir is the canonical path of an existing directory; a code other
// than "" says why there is none.
func canonicalDir(abs string) (platform, canonical string, code Code, err error) {
	real, err := storage.RealPath(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", CwdMissing, err
	case errors.Is(err, unix.ENOTDIR):
		return "", "", CwdNotDirectory, err
	case err != nil:
		return "", "", IdentityUnavailable, err
	}
	disk := storage.Disk(storage.Policy{})
	info, err := disk.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", CwdMissing, err
	case err != nil:
		return "", "", IdentityUnavailable, err
	case info.Kind != storage.Dir:
		return "", "", CwdNotDirectory, nil
	}
	return Posix, storedSpelling(real, disk), "", nil
}

// names is what storedSpelling needs of a file system.
type names interface {
	Lstat(name string) (storage.Info, error)
	ReadDir(name string) ([]storage.DirEntry, error)
}

// storedSpelling is path with each name spelled as its directory stores it.
// That differs from path only where a file system does not tell cases (or, on
// macOS, normalization forms) apart, which is asked of the file system itself,
// name by name: nothing is ever lower-cased blindly. A directory that can't be
// listed keeps the spelling it was given.
func storedSpelling(path string, disk names) string {
	spelled := "/"
	for _, name := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if name == "" {
			continue
		}
		at := filepath.Join(spelled, name)
		info, err := disk.Lstat(at)
		if err == nil && aliased(spelled, name, info, disk) {
			name = storedName(spelled, name, info, disk)
		}
		spelled = filepath.Join(spelled, name)
	}
	return spelled
}

// aliased reports whether another spelling of name leads to the same file.
func aliased(dir, name string, info storage.Info, disk names) bool {
	if runtime.GOOS == "darwin" {
		return true // normalization forms can't be probed by a swapped case
	}
	swapped := strings.Map(swapCase, name)
	if swapped == name {
		return false
	}
	other, err := disk.Lstat(filepath.Join(dir, swapped))
	return err == nil && other.SameFile(info)
}

func swapCase(r rune) rune {
	if low := unicode.ToLower(r); low != r {
		return low
	}
	return unicode.ToUpper(r)
}

func storedName(dir, name string, info storage.Info, disk names) string {
	list, err := disk.ReadDir(dir)
	if err != nil {
		return name
	}
	for _, e := range list {
		if e.Name == name {
			return name
		}
	}
	for _, e := range list {
		if e.Info.Kind != info.Kind {
			continue
		}
		if other, err := disk.Lstat(filepath.Join(dir, e.Name)); err == nil && other.SameFile(info) {
			return e.Name
		}
	}
	return name
}
