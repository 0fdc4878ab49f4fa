package scope

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// storedSpelling asks the kernel for the path as the volume stores it, since
// the usual volumes of macOS do not tell cases apart.
func storedSpelling(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return finalPath(fd)
}

func finalPath(fd int) (string, error) {
	buf := make([]byte, unix.PathMax)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, pointerTo(buf)); err != nil {
		return "", err
	}
	if i := bytes.IndexByte(buf, 0); i >= 0 {
		buf = buf[:i]
	}
	return string(buf), nil
}
