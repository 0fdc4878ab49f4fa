package storage

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attrSecurity is ATTR_CMN_EXTENDED_SECURITY of getattrlist(2).
const attrSecurity = 0x00400000

// securityRoom holds a list that is longer than any that fits the question
// "is there one?": a longer one comes cut, with its true length.
const securityRoom = 4096

// checkACL refuses a file that has an extended access control list. It asks
// fgetattrlist, which no part of x/sys wraps; it has been compiled and its
// decoding tested, but not yet run on a Mac.
func checkACL(fd int, name string, _ Kind) error {
	attrs := unix.Attrlist{Bitmapcount: unix.ATTR_BIT_MAP_COUNT, Commonattr: attrSecurity}
	buf := make([]byte, securityRoom)
	var errno unix.Errno
	for {
		_, _, errno = unix.Syscall6(unix.SYS_FGETATTRLIST, uintptr(fd), uintptr(unsafe.Pointer(&attrs)),
			uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
		if errno != unix.EINTR {
			break
		}
	}
	switch {
	case errno == unix.ENOTSUP || errno == unix.EOPNOTSUPP:
		return nil
	case errno != 0:
		return &UnsafeError{Path: name, Reason: fmt.Sprintf("access control list can't be read: %v", errno)}
	}
	return judgeSecurity(name, buf)
}
