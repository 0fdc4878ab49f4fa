package storage

import (
	"context"
	"io"
	"io/fs"
)

// Kind is what a directory entry is. Only Regular can be opened as a File.
type Kind uint8

// The kinds of a directory entry.
const (
	Other   Kind = iota // a FIFO, socket or device
	Regular             // a file
	Dir                 // a directory
	Symlink             // a symbolic link; never followed
)

// Info is what one stat of a path or an open file told. Two Infos with equal
// Dev and Inode are the same file. Times are Unix nanoseconds.
type Info struct {
	Kind       Kind
	Mode       fs.FileMode // permission bits only
	UID        uint32      // owner; 0 where the platform has none
	Links      uint64
	Dev, Inode uint64
	Size       int64 // bytes
	ModTime    int64 // Unix ns
	ChangeTime int64 // Unix ns; 0 where the platform has none
}

// SameFile reports whether both infos name one file of one device.
func (i Info) SameFile(j Info) bool { return i.Dev == j.Dev && i.Inode == j.Inode }

// DirEntry is one name of a directory. Info is complete only from StatDir;
// ReadDir fills in Info.Kind alone.
type DirEntry struct {
	Name string
	Info Info
}

// File is an open regular file. Opens never follow a symbolic link in the last
// component, never wait for a FIFO and are closed on exec.
type File interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.WriterAt
	Name() string
	Stat() (Info, error)
	// Peek is Stat with no promise about the times. To ask for them can make
	// the file system give the next write a time of its own, which costs as
	// much as the write of a short line.
	Peek() (Info, error)
	Truncate(size int64) error
	Sync() error
	Chmod(mode fs.FileMode) error
	// TryLock takes the kernel lock of this descriptor without waiting:
	// shared or exclusive. ErrLocked if another descriptor holds it against us.
	TryLock(shared bool) error
	Unlock() error
}

// LockMode says how FS.Lock locks.
type LockMode uint8

// The modes of a lock.
const (
	Exclusive LockMode = iota
	Shared
)

// Lock is a held kernel lock on a lock file. It frees itself when the process
// dies, whatever the file says.
type Lock interface {
	// File is the lock file, for reading and writing what it says. The caller
	// must not close it.
	File() File
	// Unlock frees the lock and closes the file; the second call does nothing.
	Unlock() error
}

// FS is the set of file operations the store is written against. Names are
// absolute native paths. A missing file is fs.ErrNotExist, a taken name
// fs.ErrExist, anything that is not a plain file where one must be ErrUnsafe.
// Safe for several goroutines.
type FS interface {
	Open(name string) (File, error)   // read only
	Create(name string) (File, error) // must not exist; mode 0600; reads and writes
	Edit(name string) (File, error)   // must exist; reads and writes
	Append(name string) (File, error) // must exist; O_APPEND: one write is one write(2) at the end

	Mkdir(name string) error // one level, mode 0700; fs.ErrExist if anything has the name
	Rename(oldname, newname string) error
	RenameNoReplace(oldname, newname string) error // fs.ErrExist if newname is taken
	Link(oldname, newname string) error            // never replaces
	Remove(name string) error                      // a file or an empty directory
	Chmod(name string, mode fs.FileMode) error     // no-follow
	Chtimes(name string, modTime int64) error      // no-follow; access time too; Unix ns

	Lstat(name string) (Info, error)

	// CheckOwner opens name without following a link, checks that it is of the
	// kind (Regular or Dir) and owner-only, and that its path still names what
	// was checked. A refusal is an *UnsafeError. It creates nothing.
	CheckOwner(name string, kind Kind) (Info, error)

	ReadDir(name string) ([]DirEntry, error) // sorted by name; Info.Kind only
	StatDir(name string) ([]DirEntry, error) // in the directory's own order; whole Infos
	SyncDir(name string) error

	// Lock opens or creates the lock file (0600) and locks it, waiting until
	// ctx ends (then ErrLocked). TryLock does not wait. A lock taken on a path
	// that meanwhile names another file is taken again.
	Lock(ctx context.Context, name string, mode LockMode) (Lock, error)
	TryLock(name string, mode LockMode) (Lock, error)
}
