package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// maxSetAside is how many damaged databases are kept.
const maxSetAside = 3

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
		x.without("index is damaged and in use", err)
		return
	}
	defer unlock()
	if now, err := x.fsys.Lstat(x.home.IndexDB()); err != nil || !now.SameFile(found) {
		return // another process has done it
	}
	name, err := x.renameAside()
	if err != nil {
		x.without("index is damaged and can't be set aside ("+reasonOf(err)+")", err)
		return
	}
	x.dropOld()
	x.note("index was damaged: it is kept as " + filepath.Base(name) + " and built again")
}

// renameAside gives the database a name that says when it was set aside, and
// that no other has.
func (x *Index) renameAside() (name string, err error) {
	at := x.home.IndexDB() + "." + x.opt.Now().UTC().Format("20060102T150405.000Z")
	for n := 1; n <= 100; n++ {
		name = at + ".damaged"
		if n > 1 {
			name = fmt.Sprintf("%s.%02d.damaged", at, n)
		}
		if err = x.renameAll(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return name, err
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
