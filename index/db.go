package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// extractVersion says by which rules rows are made; a rise makes Refresh read
// every file again. 1: the first. 3: files of a newer version have an id.
// 4: archives, changed files, and each blob that a file's bytes name.
const extractVersion = 5

// operation is the use of the database for one call. db is nil if there is no
// database that can be used.
type operation struct {
	db   *migrations.DB
	done func()
}

// begin takes the index lock, shared, for one operation, and makes sure that
// the pool is one of the file that has the name now. A damaged database is set
// aside on the way. The only errors are those of ctx.
func (x *Index) begin(ctx context.Context) (operation, error) {
	for {
		x.mu.RLock() // before the kernel's lock, as everywhere here
		if x.settled && x.db == nil {
			return operation{nil, x.mu.RUnlock}, nil
		}
		unlock, err := x.lock(ctx, storage.Shared)
		if err != nil {
			x.mu.RUnlock()
			if ctx.Err() != nil {
				return operation{}, ctx.Err()
			}
			x.giveUp(err)
			continue
		}
		if x.settled || x.db != nil && x.sameFile() {
			return operation{x.db, func() { unlock(); x.mu.RUnlock() }}, nil
		}
		unlock()
		x.mu.RUnlock()
		damaged, err := x.reopen(ctx)
		if err != nil {
			return operation{}, err
		}
		if damaged {
			x.setAside(ctx)
		}
	}
}

// giveUp goes on without a database that another process keeps for itself.
func (x *Index) giveUp(why error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		_ = x.db.Close() // nothing was written since the last operation
		x.db = nil
	}
	x.without("index is locked by another process", why)
}

// without settles, under mu, that there is no database for this Index.
func (x *Index) without(words string, why error) {
	x.settled, x.why = true, why
	x.note(words + ": sessions are read from the files")
}

// unwritable is why nothing can be written, in plain words; nil where there is
// no home to write in. The caller is within an operation.
func (x *Index) unwritable() error {
	if x.why == nil {
		return nil
	}
	if told := inWords(x.why); told != x.why {
		return told
	}
	return &fault{reasonOf(x.why), []error{x.why}}
}

// spoiled drops the pool after an error that says that the database is damaged;
// the next operation begins with a fresh one, which holds nothing: until a
// refresh answers come from the files.
func (x *Index) spoiled(ctx context.Context) {
	x.mu.Lock()
	if x.db != nil {
		_ = x.db.Close() // nothing in it can be trusted
		x.db = nil
	}
	x.mu.Unlock()
	x.setAside(ctx)
	x.distrust(ctx)
}

// distrust leaves all answers to the files until the next refresh.
func (x *Index) distrust(ctx context.Context) {
	if w, err := x.walk(ctx); err == nil {
		x.setPending(&pending{walk: w, all: true})
	}
}

// lock takes the kernel lock of the index. Where no lock file can be made
// there is nothing to lock against.
func (x *Index) lock(ctx context.Context, mode storage.LockMode) (func(), error) {
	if x.dir != "" {
		return func() {}, nil // there is no database to share
	}
	if _, err := x.fsys.Lstat(filepath.Dir(x.home.IndexLock())); err != nil {
		return func() {}, nil
	}
	wait, cancel := context.WithTimeout(ctx, x.opt.BusyTimeout)
	defer cancel()
	l, err := x.fsys.Lock(wait, x.home.IndexLock(), mode)
	if err == nil {
		return func() { _ = l.Unlock() }, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, storage.ErrLocked) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock index: %w", storage.ErrLocked)
	}
	if mode == storage.Exclusive {
		return nil, err
	}
	return func() {}, nil
}

// sameFile reports whether the database's name still means the file that is
// open. A stat only: opening it by other means would drop SQLite's locks.
func (x *Index) sameFile() bool {
	info, err := x.fsys.Lstat(x.home.IndexDB())
	return err == nil && info.SameFile(x.file)
}

// reopen closes the pool, if there is one, and opens the database that has the
// name now. damaged means that it must be set aside first.
func (x *Index) reopen(ctx context.Context) (damaged bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		_ = x.db.Close() // its file has lost its name; nobody will read it again
		x.db = nil
		x.distrust(ctx)
	}
	x.forget()
	unlock, err := x.lock(ctx, storage.Shared)
	if err != nil {
		if ctx.Err() == nil {
			x.without("index is locked by another process", err)
		}
		return false, ctx.Err()
	}
	defer unlock()
	if _, err := x.fsys.Lstat(filepath.Dir(x.home.IndexDB())); errors.Is(err, fs.ErrNotExist) {
		x.settled = true // there is no home, and reading makes none
		return false, nil
	}
	db, err := x.dial(ctx)
	if err == nil {
		x.db = db
		if x.file, err = x.fsys.Lstat(x.home.IndexDB()); err != nil {
			x.settled = true
		}
		return false, nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	damaged = x.judge(err)
	x.settled = !damaged
	return damaged, nil
}

// dial opens the database for writing, else for reading only.
func (x *Index) dial(ctx context.Context) (*migrations.DB, error) {
	opt := migrations.Options{BusyTimeout: x.opt.BusyTimeout, Fallback: migrations.Truncate, NoLog: x.opt.Network(x.home.IndexDB())}
	db, err := migrations.Open(ctx, x.fsys, x.home.IndexDB(), migrations.Index, opt)
	if err == nil || !migrations.Unusable(err) {
		return db, err
	}
	opt.ReadOnly = true
	ro, err2 := migrations.Open(ctx, x.fsys, x.home.IndexDB(), migrations.Index, opt)
	if err2 == nil {
		if err2 = ro.CheckSchema(ctx); err2 != nil {
			err2 = errors.Join(err2, ro.Close())
		}
	}
	switch {
	case errors.Is(err2, migrations.ErrNewer):
		return nil, err2
	case err2 != nil: // what it lacks could not be made here
		return nil, err
	case migrations.Full(err):
		x.note(noteFull)
	default:
		x.note("index is read-only: what changed since it was written is read from the files")
	}
	x.why = err
	return ro, nil
}

// noteFull is what is said where the disk leaves no room for what changed.
const noteFull = "no space left on the disk: what changed since the index was written is read from the files"

// judge says whether a database that can't be opened is to be set aside; if
// not, there is none for this Index.
func (x *Index) judge(err error) (damaged bool) {
	switch {
	case errors.Is(err, migrations.ErrNewer):
		x.without("index was made by a newer program and is left alone", errNewer)
	case migrations.Busy(err):
		x.without("index is busy", err)
	case errors.Is(err, storage.ErrUnsafe), migrations.Unusable(err):
		x.without("index can't be used here ("+reasonOf(err)+")", err)
	case x.setAsides >= maxSetAside:
		x.without("index is damaged again and again", err)
	default:
		return true
	}
	return false
}

// note keeps a sentence for people, once.
func (x *Index) note(s string) {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	if !slices.Contains(x.notes, s) {
		x.notes = append(x.notes, s)
	}
}
