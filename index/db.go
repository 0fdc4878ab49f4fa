package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// extractVersion says by which rules rows are made; a rise makes Refresh read
// every file again. 1: the first.
const extractVersion = 2

// maxSetAside is how many damaged databases are kept.
const maxSetAside = 3

// errSchema is a database that holds other tables than ours.
var errSchema = errors.New("index has other tables than it should")

// operation is the use of the database for one call. db is nil if there is no
// database that can be used.
type operation struct {
	db   *migrations.DB
	done func()
}

// begin takes the index lock, shared, for one operation, and makes sure that
// the pool is one of the file that has the name now. A damaged database is set
// aside on the way.
func (x *Index) begin(ctx context.Context) (operation, error) {
	for {
		x.mu.RLock() // before the kernel's lock, as everywhere here
		unlock, err := x.lock(ctx, storage.Shared)
		if err != nil {
			x.mu.RUnlock()
			return operation{}, err
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

// spoiled drops the pool after an error that says that the database is damaged;
// the next operation begins with a fresh one.
func (x *Index) spoiled(ctx context.Context) {
	x.mu.Lock()
	if x.db != nil {
		_ = x.db.Close() // nothing in it can be trusted
		x.db = nil
	}
	x.mu.Unlock()
	x.setAside(ctx)
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
	}
	x.forget()
	unlock, err := x.lock(ctx, storage.Shared)
	if err != nil {
		return false, err
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
	if err != nil && migrations.Unusable(err) {
		opt.ReadOnly = true
		ro, err2 := migrations.Open(ctx, x.fsys, x.home.IndexDB(), migrations.Index, opt)
		if err2 != nil {
			return nil, err
		}
		x.note("index is read-only: what changed since it was written is read from the files")
		db, err = ro, nil
	}
	if err != nil {
		return nil, err
	}
	if err := checkTables(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkTables reports errSchema unless the tables are there.
func checkTables(ctx context.Context, db *migrations.DB) error {
	var names []string
	if err := db.SelectContext(ctx, &names, `SELECT name FROM sqlite_master WHERE type = 'table'`); err != nil {
		return err
	}
	for _, want := range []string{"meta", "scopes", "sessions", "entries", "patches", "labels", "usage", "refs", "usage_packs"} {
		if !slices.Contains(names, want) {
			return errSchema
		}
	}
	return nil
}

// judge says whether a database that can't be opened is to be set aside; if
// not, there is none for this Index.
func (x *Index) judge(err error) (damaged bool) {
	switch {
	case errors.Is(err, migrations.ErrNewer):
		x.note("index was made by a newer program: it is left alone and sessions are read from the files")
	case migrations.Busy(err):
		x.note("index is busy: sessions are read from the files")
	case errors.Is(err, storage.ErrUnsafe), migrations.Unusable(err):
		x.note("index can't be used here (" + reasonOf(err) + "): sessions are read from the files")
	case x.setAsides >= maxSetAside:
		x.note("index is damaged again and again: sessions are read from the files")
	default:
		return true
	}
	return false
}

// setAside renames the database with its log, all or none, so that a fresh one
// can be made. The caller holds no lock and no pool is open. If it can't be
// done there is no database for this Index.
func (x *Index) setAside(ctx context.Context) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setAsides++
	found, err := x.fsys.Lstat(x.home.IndexDB())
	if err != nil {
		return
	}
	unlock, err := x.lock(ctx, storage.Exclusive)
	if err != nil {
		x.note("index is damaged and in use: sessions are read from the files")
		x.settled = true
		return
	}
	defer unlock()
	if now, err := x.fsys.Lstat(x.home.IndexDB()); err != nil || !now.SameFile(found) {
		return // another process has done it
	}
	name := x.home.IndexDB() + "." + x.opt.Now().UTC().Format("20060102T150405.000Z") + ".damaged"
	if err := x.renameAll(name); err != nil {
		x.note("index is damaged and can't be set aside (" + reasonOf(err) + "): sessions are read from the files")
		x.settled = true
		return
	}
	x.dropOld()
	x.note("index was damaged: it is kept as " + filepath.Base(name) + " and built again")
}

// sideFiles are what SQLite keeps beside a database, and the database.
var sideFiles = [...]string{"-wal", "-shm", ""}

// renameAll gives the database and what belongs to it the name; if one of them
// can't be renamed, none is.
func (x *Index) renameAll(name string) error {
	path := x.home.IndexDB()
	for i, side := range sideFiles {
		err := x.fsys.RenameNoReplace(path+side, name+side)
		if err == nil || side != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, done := range sideFiles[:i] {
			if back := x.fsys.RenameNoReplace(name+done, path+done); back != nil && !errors.Is(back, fs.ErrNotExist) {
				err = errors.Join(err, back)
			}
		}
		return err
	}
	return nil
}

// dropOld removes all but the newest databases that were set aside.
func (x *Index) dropOld() {
	dir, base := filepath.Split(x.home.IndexDB())
	list, err := x.fsys.ReadDir(dir)
	if err != nil {
		return
	}
	var names []string
	for _, e := range list {
		if strings.HasPrefix(e.Name, base+".") && strings.HasSuffix(e.Name, ".damaged") {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-maxSetAside)] {
		for _, side := range sideFiles {
			_ = x.fsys.Remove(filepath.Join(dir, name+side)) // one copy more does no harm
		}
	}
}

// note keeps a sentence for people, once.
func (x *Index) note(s string) {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	if !slices.Contains(x.notes, s) {
		x.notes = append(x.notes, s)
	}
}
