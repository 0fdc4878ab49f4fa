package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Policy says what a Disk checks beyond what every open checks. The zero value
// is for a directory the user chose, where modes are the user's business.
type Policy struct {
	// OwnerOnly refuses, with *UnsafeError, each file that is opened or locked
	// and each directory that is read, unless CheckOwner passes on the object
	// that was opened.
	OwnerOnly bool
}

// disk is FS on the real file system; its system calls are in the files named
// for a platform.
type disk struct{ policy Policy }

// Disk returns the real file system. It keeps no state: all Disks see one
// another's files and locks.
func Disk(p Policy) FS { return &disk{policy: p} }

// RealPath is the absolute path of name with every symbolic link followed.
// It is for paths that users give; what must not be a link is never passed here.
func RealPath(name string) (string, error) {
	p, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(p)
}

func (d *disk) Open(name string) (File, error)   { return d.open(name, modeRead) }
func (d *disk) Create(name string) (File, error) { return d.open(name, modeCreate) }
func (d *disk) Edit(name string) (File, error)   { return d.open(name, modeEdit) }
func (d *disk) Append(name string) (File, error) { return d.open(name, modeAppend) }

// openMode is how a file is opened; each platform has its flags for it.
type openMode uint8

const (
	modeRead openMode = iota
	modeCreate
	modeEdit
	modeAppend
	modeLock // opened or created, to read and write
)

// open opens name and, under the owner-only policy, checks what was opened. A
// second link that a publish left behind when it was killed is removed first,
// since it alone would make the file unsafe for good.
func (d *disk) open(name string, mode openMode) (File, error) {
	f, info, err := openFile(name, mode)
	if err != nil {
		return nil, err
	}
	if !d.policy.OwnerOnly {
		return f, nil
	}
	if info.Links == 2 {
		if err := HealTwin(d, name); err == nil {
			if info, err = f.Stat(); err != nil {
				_ = f.Close()
				return nil, err
			}
		}
	}
	if err := checkOpened(f, info); err != nil {
		_ = f.Close()
		if mode == modeCreate { // made by this call, in a directory whose list it inherits
			err = errors.Join(err, d.Remove(name))
		}
		return nil, err
	}
	return f, nil
}

func (d *disk) TryLock(name string, mode LockMode) (Lock, error) {
	return tryLock(name, mode, func() (File, error) { return d.open(name, modeLock) }, d.Lstat)
}

func (d *disk) Lock(ctx context.Context, name string, mode LockMode) (Lock, error) {
	return waitLock(ctx, name, func() (Lock, error) { return d.TryLock(name, mode) })
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func linkError(op, oldname, newname string, err error) error {
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}
