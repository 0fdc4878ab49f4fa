//go:build unix

package storage

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openFlags never follow a link in the last component, never wait for the
// other end of a FIFO, and close on exec. O_NONBLOCK means nothing to a
// regular file, so it is left set.
const openFlags = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// openFile opens name, which must be a regular file once it is open.
func openFile(name string, mode openMode) (*file, Info, error) {
	var flags int
	switch mode {
	case modeRead:
		flags = unix.O_RDONLY
	case modeCreate:
		flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL
	case modeEdit:
		flags = unix.O_RDWR
	case modeAppend:
		flags = unix.O_RDWR | unix.O_APPEND
	case modeLock:
		flags = unix.O_RDWR | unix.O_CREAT
	}
	fd, err := retry(func() (int, error) { return unix.Open(name, flags|openFlags, 0o600) })
	if err != nil {
		return nil, Info{}, openError(name, err)
	}
	f := &file{fd: fd, name: name, appends: mode == modeAppend}
	info, err := f.Stat()
	if err == nil && info.Kind != Regular {
		err = &UnsafeError{Path: name, Reason: notAFile(info.Kind)}
	}
	if err != nil {
		_ = f.Close()
		return nil, Info{}, err
	}
	return f, info, nil
}

// openError says what stands in the place of a file when open itself found out.
func openError(name string, err error) error {
	switch {
	case errors.Is(err, unix.EISDIR):
		return &UnsafeError{Path: name, Reason: notAFile(Dir)}
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return &UnsafeError{Path: name, Reason: notAFile(Other)}
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		var st unix.Stat_t
		if unix.Lstat(name, &st) == nil && kindOf(uint32(st.Mode)) == Symlink {
			return &UnsafeError{Path: name, Reason: notAFile(Symlink)}
		}
	}
	return pathError("open", name, err)
}

// openDir opens the directory name to be read or synced.
func openDir(name string) (int, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|openFlags, 0)
	})
	if err == nil {
		return fd, nil
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		var st unix.Stat_t
		if unix.Lstat(name, &st) == nil {
			return -1, &UnsafeError{Path: name, Reason: notADir(kindOf(uint32(st.Mode)))}
		}
	}
	return -1, pathError("open", name, err)
}

// retry repeats a call that a signal cut short.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
