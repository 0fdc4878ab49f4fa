package scope

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// canonicalDir opens the directory and asks for the final path of the handle,
// by volume id, so that drive letters, cases, substituted drives and links to
// one directory give one answer. Network paths are refused before and after.
func canonicalDir(abs string) (platform, canonical string, code Code, err error) {
	if networkPath(abs) {
		return "", "", NetworkUnsupported, nil
	}
	if volume := filepath.VolumeName(abs); len(volume) == 2 {
		root, err := windows.UTF16PtrFromString(volume + `\`)
		if err != nil {
			return "", "", IdentityUnavailable, err
		}
		if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
			return "", "", NetworkUnsupported, nil
		}
	}
	h, err := openDirectory(abs)
	switch {
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND), errors.Is(err, windows.ERROR_PATH_NOT_FOUND):
		return "", "", CwdMissing, err
	case err != nil:
		return "", "", IdentityUnavailable, err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return "", "", IdentityUnavailable, err
	}
	if info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 {
		return "", "", CwdNotDirectory, nil
	}
	// A link may lead to a share although its own path does not look so.
	dos, err := finalPath(h, finalNameDOS)
	if err == nil && networkPath(dos) {
		return "", "", NetworkUnsupported, nil
	}
	final, err := finalPath(h, finalNameGUID)
	if err != nil {
		return "", "", IdentityUnavailable, err
	}
	return Win32, final, "", nil
}

// The forms of a final path.
const (
	finalNameDOS  = 0x0
	finalNameGUID = 0x1
)

func openDirectory(path string) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return windows.InvalidHandle, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	return windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
}

func finalPath(h windows.Handle, form uint32) (string, error) {
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), form)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return strings.TrimSuffix(windows.UTF16ToString(buf[:n]), "\x00"), nil
		}
		buf = make([]uint16, n+1)
	}
}
