package storage

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The extended attributes that hold POSIX access control lists.
const (
	aclAccess  = "system.posix_acl_access"
	aclDefault = "system.posix_acl_default"
)

// checkACL refuses a file that has a POSIX access control list, since its mode
// then doesn't say who may read it.
func checkACL(fd int, name string, kind Kind) error {
	attrs := []string{aclAccess}
	if kind == Dir {
		attrs = append(attrs, aclDefault)
	}
	for _, attr := range attrs {
		_, err := retry(func() (int, error) { return unix.Fgetxattr(fd, attr, nil) })
		if err := judgeACL(name, attr, err); err != nil {
			return err
		}
	}
	return nil
}

// judgeACL is the gate: err is what asking for the attribute gave. Only a file
// system that can't hold the attribute, and an attribute that isn't there, pass.
func judgeACL(name, attr string, err error) error {
	switch {
	case err == nil:
		return &UnsafeError{Path: name, Reason: "has an access control list"}
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EOPNOTSUPP):
		return nil
	}
	return &UnsafeError{Path: name, Reason: fmt.Sprintf("%s can't be read: %v", attr, err)}
}
