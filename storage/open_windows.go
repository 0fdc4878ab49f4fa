package storage

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// shareAll lets others read, write, rename and remove what we have open.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// openFlags open a link or a directory itself, so that it can be judged.
const openFlags = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_BACKUP_SEMANTICS

// openFile opens name, which must be a regular file once it is open. Handles
// are not inherited by children.
func openFile(name string, mode openMode) (*file, Info, error) {
	if err := checkName(name); err != nil {
		return nil, Info{}, err
	}
	access, create := uint32(windows.GENERIC_READ|windows.GENERIC_WRITE), uint32(windows.OPEN_EXISTING)
	var sa *windows.SecurityAttributes
	switch mode {
	case modeRead:
		access = windows.GENERIC_READ
	case modeCreate:
		create = windows.CREATE_NEW
	case modeLock:
		create = windows.OPEN_ALWAYS
	}
	if create != windows.OPEN_EXISTING {
		var err error
		if sa, err = ownerOnlyAttributes(false); err != nil {
			return nil, Info{}, pathError("open", name, err)
		}
	}
	h, err := createFile(name, access, create, openFlags, sa)
	if err != nil {
		// Windows refuses to write to a directory before we could judge it.
		if info, statErr := lstat(name); statErr == nil && info.Kind != Regular && mode != modeCreate {
			return nil, Info{}, &UnsafeError{Path: name, Reason: notAFile(info.Kind)}
		}
		return nil, Info{}, pathError("open", name, err)
	}
	f := &file{h: h, name: name, appends: mode == modeAppend}
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

// checkName refuses names that Windows takes for a device or a stream of
// another file.
func checkName(name string) error {
	base := filepath.Base(name)
	if !filepath.IsLocal(base) || strings.ContainsRune(base, ':') {
		return &UnsafeError{Path: name, Reason: "is no file name on Windows"}
	}
	return nil
}

func createFile(name string, access, create, flags uint32, sa *windows.SecurityAttributes) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(p, access, shareAll, sa, create, windows.FILE_ATTRIBUTE_NORMAL|flags, 0)
}

// lstat tells about name, a link itself.
func lstat(name string) (Info, error) {
	h, err := createFile(name, windows.FILE_READ_ATTRIBUTES, windows.OPEN_EXISTING, openFlags, nil)
	if err != nil {
		return Info{}, pathError("lstat", name, err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	info, err := handleInfo(h)
	if err != nil {
		return Info{}, pathError("lstat", name, err)
	}
	return info, nil
}

func (d *disk) Lstat(name string) (Info, error) { return lstat(name) }

// inUse marks the errors that another program's handle causes.
func inUse(err error) error {
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_USER_MAPPED_FILE) {
		return errors.Join(ErrInUse, err)
	}
	return err
}

func wantDirectory(name string) error {
	info, err := lstat(name)
	if err != nil {
		return err
	}
	if info.Kind != Dir {
		return &UnsafeError{Path: name, Reason: notADir(info.Kind)}
	}
	return nil
}

func modeOf(k Kind) fs.FileMode {
	if k == Dir {
		return dirMode
	}
	return fileMode
}
