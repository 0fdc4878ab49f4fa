// Package storagetest has what tests of storage, and of what is built on it,
// need: a conformance suite for every FS, an FS that fails at its n-th
// operation, and a harness that kills a child before each operation in turn.
package storagetest

import (
	"context"
	"io/fs"

	"github.com/gajae-code/gjc-index/storage"
)

// Op is a kind of file operation.
type Op string

// The kinds of operations. Names of files count with the FS's method, what is
// done with an open file with the File's.
const (
	OpAny      Op = "" // each of the others
	OpOpen     Op = "open"
	OpCreate   Op = "create"
	OpEdit     Op = "edit"
	OpAppend   Op = "append"
	OpMkdir    Op = "mkdir"
	OpRename   Op = "rename" // Rename and RenameNoReplace
	OpLink     Op = "link"
	OpRemove   Op = "remove"
	OpChmod    Op = "chmod" // by name and of an open file
	OpChtimes  Op = "chtimes"
	OpLstat    Op = "lstat"
	OpOwner    Op = "owner"   // CheckOwner
	OpReadDir  Op = "readdir" // ReadDir and StatDir
	OpSyncDir  Op = "syncdir"
	OpSyncAll  Op = "syncall" // SyncWhole, where the FS has it
	OpLock     Op = "lock"    // Lock, TryLock, and TryLock of an open file
	OpUnlock   Op = "unlock"
	OpRead     Op = "read"  // Read and ReadAt
	OpWrite    Op = "write" // Write and WriteAt
	OpStat     Op = "stat"  // of an open file
	OpTruncate Op = "truncate"
	OpSync     Op = "sync" // of an open file
	OpClose    Op = "close"
)

// Changes reports whether an operation can change what is on the disk.
func (o Op) Changes() bool {
	switch o {
	case OpCreate, OpMkdir, OpRename, OpLink, OpRemove, OpChmod, OpChtimes, OpSyncDir, OpSyncAll,
		OpLock, OpWrite, OpTruncate, OpSync:
		return true
	}
	return false
}

// Hook wraps an FS and the files it opens: before is called ahead of each
// operation, with the path, and its error is the operation's, which is then
// not done; a write fails in part if it is a *ShortWrite. Safe for several goroutines if before is.
type Hook struct {
	FS     storage.FS
	Before func(op Op, name string) error
}

var _ storage.FS = (*Hook)(nil)

func (h *Hook) opened(op Op, name string, open func(string) (storage.File, error)) (storage.File, error) {
	if err := h.Before(op, name); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return &hookFile{File: f, h: h}, nil
}

// Open opens a file to read it.
func (h *Hook) Open(name string) (storage.File, error) { return h.opened(OpOpen, name, h.FS.Open) }

// Create makes a file.
func (h *Hook) Create(name string) (storage.File, error) {
	return h.opened(OpCreate, name, h.FS.Create)
}

// Edit opens a file to change it.
func (h *Hook) Edit(name string) (storage.File, error) { return h.opened(OpEdit, name, h.FS.Edit) }

// Append opens a file to append to it.
func (h *Hook) Append(name string) (storage.File, error) {
	return h.opened(OpAppend, name, h.FS.Append)
}

// Mkdir makes a directory.
func (h *Hook) Mkdir(name string) error {
	if err := h.Before(OpMkdir, name); err != nil {
		return err
	}
	return h.FS.Mkdir(name)
}

// Rename renames.
func (h *Hook) Rename(oldname, newname string) error {
	if err := h.Before(OpRename, newname); err != nil {
		return err
	}
	return h.FS.Rename(oldname, newname)
}

// RenameNoReplace renames to a free name.
func (h *Hook) RenameNoReplace(oldname, newname string) error {
	if err := h.Before(OpRename, newname); err != nil {
		return err
	}
	return h.FS.RenameNoReplace(oldname, newname)
}

// Link gives a second name.
func (h *Hook) Link(oldname, newname string) error {
	if err := h.Before(OpLink, newname); err != nil {
		return err
	}
	return h.FS.Link(oldname, newname)
}

// Remove removes a name.
func (h *Hook) Remove(name string) error {
	if err := h.Before(OpRemove, name); err != nil {
		return err
	}
	return h.FS.Remove(name)
}

// Chmod sets permission bits.
func (h *Hook) Chmod(name string, mode fs.FileMode) error {
	if err := h.Before(OpChmod, name); err != nil {
		return err
	}
	return h.FS.Chmod(name, mode)
}

// Chtimes sets times.
func (h *Hook) Chtimes(name string, modTime int64) error {
	if err := h.Before(OpChtimes, name); err != nil {
		return err
	}
	return h.FS.Chtimes(name, modTime)
}

// Lstat tells about a name.
func (h *Hook) Lstat(name string) (storage.Info, error) {
	if err := h.Before(OpLstat, name); err != nil {
		return storage.Info{}, err
	}
	return h.FS.Lstat(name)
}

// CheckOwner checks the owner-only rule.
func (h *Hook) CheckOwner(name string, kind storage.Kind) (storage.Info, error) {
	if err := h.Before(OpOwner, name); err != nil {
		return storage.Info{}, err
	}
	return h.FS.CheckOwner(name, kind)
}

// ReadDir lists a directory.
func (h *Hook) ReadDir(name string) ([]storage.DirEntry, error) {
	if err := h.Before(OpReadDir, name); err != nil {
		return nil, err
	}
	return h.FS.ReadDir(name)
}

// StatDir lists a directory with Infos.
func (h *Hook) StatDir(name string) ([]storage.DirEntry, error) {
	if err := h.Before(OpReadDir, name); err != nil {
		return nil, err
	}
	return h.FS.StatDir(name)
}

// SyncDir syncs a directory.
func (h *Hook) SyncDir(name string) error {
	if err := h.Before(OpSyncDir, name); err != nil {
		return err
	}
	return h.FS.SyncDir(name)
}

// SyncWhole syncs all at once if the FS can.
func (h *Hook) SyncWhole(names []string) (done bool, err error) {
	if can, err := storage.SyncWhole(h.FS, nil); !can || err != nil || len(names) == 0 {
		return can, err
	}
	if err := h.Before(OpSyncAll, names[0]); err != nil {
		return false, err
	}
	return storage.SyncWhole(h.FS, names)
}

// Lock locks a lock file.
func (h *Hook) Lock(ctx context.Context, name string, mode storage.LockMode) (storage.Lock, error) {
	return h.locked(name, func() (storage.Lock, error) { return h.FS.Lock(ctx, name, mode) })
}

// TryLock locks a lock file without waiting.
func (h *Hook) TryLock(name string, mode storage.LockMode) (storage.Lock, error) {
	return h.locked(name, func() (storage.Lock, error) { return h.FS.TryLock(name, mode) })
}

func (h *Hook) locked(name string, lock func() (storage.Lock, error)) (storage.Lock, error) {
	if err := h.Before(OpLock, name); err != nil {
		return nil, err
	}
	l, err := lock()
	if err != nil {
		return nil, err
	}
	return &hookLock{Lock: l, h: h, file: &hookFile{File: l.File(), h: h}}, nil
}

// hookLock is a held lock whose file's operations are seen too.
type hookLock struct {
	storage.Lock
	h    *Hook
	file *hookFile
}

func (l *hookLock) File() storage.File { return l.file }

// Unlock frees the lock even if before fails: a lock that a test can't free
// would only make its next step hang.
func (l *hookLock) Unlock() error {
	err := l.h.Before(OpUnlock, l.file.Name())
	if unlockErr := l.Lock.Unlock(); err == nil {
		err = unlockErr
	}
	return err
}
