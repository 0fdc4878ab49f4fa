package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/gajae-code/gjc-index/storage"
)

// readOnly is a file system in which nothing is made, changed or removed: an
// explicit directory of sessions is read and nothing else, and an answer from
// it leaves no lock file anywhere.
type readOnly struct{ storage.FS }

func refuse(op, name string) error {
	return fmt.Errorf("%s %s: reading only: %w", op, name, fs.ErrPermission)
}

func (readOnly) Create(name string) (storage.File, error) { return nil, refuse("create", name) }
func (readOnly) Edit(name string) (storage.File, error)   { return nil, refuse("edit", name) }
func (readOnly) Append(name string) (storage.File, error) { return nil, refuse("append to", name) }
func (readOnly) Mkdir(name string) error                  { return refuse("create", name) }
func (readOnly) Rename(oldname, _ string) error           { return refuse("rename", oldname) }
func (readOnly) RenameNoReplace(oldname, _ string) error  { return refuse("rename", oldname) }
func (readOnly) Link(_, newname string) error             { return refuse("link", newname) }
func (readOnly) Remove(name string) error                 { return refuse("remove", name) }
func (readOnly) Chmod(name string, _ fs.FileMode) error   { return refuse("chmod", name) }
func (readOnly) Chtimes(name string, _ int64) error       { return refuse("touch", name) }
func (readOnly) SyncDir(name string) error                { return refuse("sync", name) }

// Lock and TryLock would make the lock file.
func (readOnly) Lock(_ context.Context, name string, _ storage.LockMode) (storage.Lock, error) {
	return nil, refuse("lock", name)
}

func (readOnly) TryLock(name string, _ storage.LockMode) (storage.Lock, error) {
	return nil, refuse("lock", name)
}
