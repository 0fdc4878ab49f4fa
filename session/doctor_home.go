package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// lowSpace is how much room a disk should have left, in bytes.
const lowSpace = 256 << 20

// homeThere tells whether there is a home, and what it is.
func (d *doctor) homeThere() bool {
	home := d.st.opt.Home
	info, err := d.st.fsys.Lstat(home.Dir())
	if err == nil && info.Kind == storage.Symlink {
		var real string
		if real, err = storage.RealPath(home.Dir()); err == nil {
			info, err = d.st.fsys.Lstat(real)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.dataThere():
		d.ok("home", home.Dir(), "is not there, and nothing needs it: the sessions lie elsewhere")
		return true
	case errors.Is(err, fs.ErrNotExist):
		d.warn("home", home.Dir(), "there is no home yet: the first session makes it", "")
		return false
	case err != nil:
		d.bad("home", home.Dir(), "can't be looked at: "+reasonOf(err), "")
		return false
	case info.Kind != storage.Dir:
		d.bad("home", home.Dir(), "is no directory", "move it aside, or name another home with --home")
		return false
	}
	d.ok("home", home.Dir(), "is a directory")
	return true
}

// dataThere reports whether the sessions lie in a directory of their own.
func (d *doctor) dataThere() bool {
	there, err := d.st.isThere(d.st.opt.Home.Sessions())
	return there && err == nil
}

// place looks at the file system that the home lies on.
func (d *doctor) place() {
	path := d.st.opt.Home.Sessions()
	if d.opt.Network(path) {
		d.warn("network", path, "lies on a network file system, where locks may not hold: let only one machine write at a time", "")
	} else {
		d.ok("network", path, "lies on a local file system")
	}
	switch free := d.opt.Free(path); {
	case free < 0:
	case free < lowSpace:
		d.warn("space", path, fmt.Sprintf("only %d MiB are free on its disk, and a full disk ends a session", free>>20), "make room, for example with: gjc-index prune")
	default:
		d.ok("space", path, fmt.Sprintf("%d MiB are free", free>>20))
	}
}

// modes looks at who may read and write what holds the sessions.
func (d *doctor) modes() {
	home := d.st.opt.Home
	if info, err := d.st.fsys.Lstat(home.Sessions()); err == nil {
		switch {
		case info.Kind == storage.Symlink:
			d.bad("modes", home.Sessions(), "is a symbolic link: nothing is listed or written through it", "put a real directory of yours, mode 0700, in its place")
		case info.Kind != storage.Dir:
			d.bad("modes", home.Sessions(), "is no directory", "move it aside")
		case info.Mode&0o022 != 0 && runtime.GOOS != "windows":
			d.bad("modes", home.Sessions(), fmt.Sprintf("others can write it (mode %04o), and could put a session in the place of yours", info.Mode),
				"look at what others could have changed, then: chmod 0700 "+quoted(home.Sessions()))
		default:
			d.ok("modes", home.Sessions(), "only you can write it")
		}
	}
	seen := map[string]bool{}
	for _, dir := range []string{home.Dir(), filepath.Dir(home.Sessions()), home.Blobs(), home.Trash(), home.Breadcrumbs()} {
		if !seen[dir] {
			d.private(dir, storage.Dir)
		}
		seen[dir] = true
	}
	for _, db := range []string{home.HistoryDB(), home.IndexDB()} {
		for _, end := range []string{"", "-wal", "-shm"} {
			d.private(db+end, storage.Regular)
		}
	}
	d.private(home.PruneLog(), storage.Regular)
}

// isOpen reports whether others may read a file.
func isOpen(info storage.Info) bool { return info.Mode&0o077 != 0 && runtime.GOOS != "windows" }

// private tells whether others may read something. What lies in the home can be
// made private without harm, by its owner.
func (d *doctor) private(path string, kind storage.Kind) {
	info, err := d.st.fsys.Lstat(path)
	if err != nil || info.Kind == storage.Symlink || runtime.GOOS == "windows" {
		return
	}
	want := fs.FileMode(0o700)
	if kind == storage.Regular {
		want = newFileMode
	}
	switch {
	case info.Kind != kind:
		d.bad("modes", path, "is not what belongs there", "move it aside")
	case info.Mode&^want == 0:
		d.ok("modes", path, "is yours alone")
	default:
		f := Finding{Check: "modes", State: HealthWarn, Path: path, Detail: fmt.Sprintf("others may read it (mode %04o)", info.Mode)}
		d.mendable(context.Background(), f, d.tighten(path, info.Mode&want))
	}
}

// tighten is the mending of a mode.
func (d *doctor) tighten(path string, mode fs.FileMode) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		return fmt.Sprintf("its mode is %04o now", mode), d.st.fsys.Chmod(path, mode)
	}
}

// trash looks at what was removed.
func (d *doctor) trash(ctx context.Context) {
	s, dir := d.st, d.st.opt.Home.Trash()
	entries, err := readDir(s.fsys, dir)
	if err != nil {
		d.warn("trash", dir, "can't be read: "+reasonOf(err), "")
		return
	}
	lie, cut := 0, 0
	for _, e := range entries {
		if e.Info.Kind != storage.Dir || strings.HasSuffix(e.Name, blobTrash) {
			continue
		}
		t, ok, err := s.readGrave(filepath.Join(dir, e.Name))
		switch {
		case err != nil:
			d.warn("trash", t.Dir, "can't be read: "+reasonOf(err), "")
		case t.pending:
			if there, _ := s.isThere(filepath.Join(t.Dir, pendingName)); there || ok {
				cut++
			}
		case ok:
			lie++
		}
	}
	if lie > 0 {
		d.ok("trash", dir, plural(lie, "removed session lies", "removed sessions lie")+" here; gjc-index restore brings one back")
	}
	if cut > 0 {
		f := Finding{Check: "trash", State: HealthWarn, Path: dir, Detail: plural(cut, "removal was", "removals were") + " cut off; nothing is lost, and the next prune finishes them"}
		d.mendable(ctx, f, func(ctx context.Context) (string, error) {
			return "what was cut off is finished", s.FinishTrash(ctx)
		})
	}
}

// sequence looks at the number of the next event id.
func (d *doctor) sequence(ctx context.Context) {
	s, path := d.st, d.st.opt.Home.EventSequence()
	f, err := s.fsys.Open(path)
	if missing(err) {
		d.ok("sequence", path, "there are no event ids yet, or the next append begins above the highest")
		return
	}
	if err != nil {
		d.bad("sequence", path, "can't be read, so nothing can be appended: "+reasonOf(err), "move it aside: the next append makes it anew")
		return
	}
	next, known, err := readSequence(f)
	_ = f.Close() // was only read
	switch {
	case errors.Is(err, ErrSequence):
		f := Finding{Check: "sequence", State: HealthBad, Path: path, Detail: "is no number, so nothing can be appended; the old file is kept"}
		d.mendable(ctx, f, func(ctx context.Context) (string, error) {
			kept, err := s.RepairSequence(ctx)
			return "begins anew above every id in use; the old file is " + kept, err
		})
	case err != nil:
		d.bad("sequence", path, "can't be read: "+reasonOf(err), "")
	case known && next <= d.highest:
		f := Finding{Check: "sequence", State: HealthBad, Path: path, Detail: "is below ids that are in use, so that the next ones would be given twice: an old copy may have been put back"}
		d.mendable(ctx, f, func(ctx context.Context) (string, error) {
			return "is above every id in use now", s.raiseSequence(ctx)
		})
	default:
		d.ok("sequence", path, "is a number above every id in use")
	}
}
