package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
)

// DefaultGrace is how long a blob is kept after it was last put, whether
// anything refers to it or not: the record that does may not be written yet.
const DefaultGrace = 7 * 24 * time.Hour

// GCOptions say which blobs are collected.
type GCOptions struct {
	Grace time.Duration // 0 is DefaultGrace
	Extra []string      // directories outside of the home whose files may refer to blobs
	Act   bool          // move them to the trash; else only say which

	// Known answers for a file, by its path and its stat, which blobs it names;
	// ok is false if it must be searched itself. It must never leave out one
	// that a search of the file's bytes (see RefSearch) finds. nil: every file is
	// searched. Safe for several goroutines.
	Known func(path string, info storage.Info) (sums [][32]byte, ok bool)
}

// GCRow is a blob that nothing refers to.
type GCRow struct {
	Ref     blob.Ref
	Bytes   int64
	LastPut time.Time
	Moved   bool // to the trash
}

// GCReport sums up a collection.
type GCReport struct {
	Blobs, Referenced, Young int // stored; referred to; not referred to but kept for their age
	Restored                 int // found in the trash, referred to and missing: put back
	Files                    int // searched for references
	Known                    int // files whose references were known
	Trash                    string
}

// gcRounds is how often files that change while others are searched are looked
// at again before a collection gives up.
const gcRounds = 5

// CollectBlobs finds the blobs that nothing refers to and that were last put
// longer than the grace period ago, and moves them to the trash if opt.Act says
// so. row is told of each. A blob that somebody puts meanwhile stays. If
// anything that may refer to blobs can't be read, nothing is collected.
//
// Errors: fs.ErrNotExist for a directory of opt.Extra, storage.ErrLocked.
func (s *Store) CollectBlobs(ctx context.Context, opt GCOptions, row func(GCRow) error) (rep GCReport, err error) {
	if opt.Grace < 0 {
		return rep, fmt.Errorf("collect blobs: %w: the grace period is below 0", errNoRetention)
	}
	if opt.Grace == 0 {
		opt.Grace = DefaultGrace
	}
	if opt.Act {
		unlock, err := s.lockTrash(ctx)
		if err != nil {
			return rep, fmt.Errorf("collect blobs: %w", err)
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	c := &collection{st: s, opt: opt, before: s.opt.Now().Add(-opt.Grace), row: row, rep: &rep}
	if err := c.run(ctx); err != nil {
		return rep, fmt.Errorf("collect blobs: %w", err)
	}
	return rep, nil
}

// collection is one run.
type collection struct {
	st     *Store
	opt    GCOptions
	before time.Time
	row    func(GCRow) error
	rep    *GCReport
	m      *marks
}

func (c *collection) run(ctx context.Context) error {
	loose, err := c.list(ctx)
	if err != nil {
		return err
	}
	if err := c.mark(ctx); err != nil {
		return err
	}
	if c.opt.Act {
		if err := c.putBack(ctx); err != nil {
			return err
		}
	}
	for _, b := range loose {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case c.m.seen[b.Ref]:
			c.rep.Referenced++
			continue
		case b.ModTime >= c.before.UnixNano():
			c.rep.Young++
			continue
		}
		if err := c.collect(ctx, b); err != nil {
			return err
		}
	}
	if c.rep.Trash != "" {
		return errors.Join(c.st.fsys.SyncDir(c.rep.Trash), c.st.fsys.SyncDir(c.st.opt.Home.Blobs()))
	}
	return nil
}

// list is what is stored. It is made before references are searched for: what
// is put later is not in it.
func (c *collection) list(ctx context.Context) ([]blob.Item, error) {
	var all []blob.Item
	for item, err := range c.st.blobs.List(ctx) {
		if errors.Is(err, storage.ErrUnsafe) && item.Ref != (blob.Ref{}) {
			continue // no blob, whatever it is
		}
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	c.rep.Blobs = len(all)
	return all, nil
}

// mark searches all files, then those that have come or changed meanwhile,
// until there are none: a session may have been copied or moved while its new
// place had been searched already.
func (c *collection) mark(ctx context.Context) error {
	c.m = &marks{st: c.st, known: c.opt.Known, seen: map[blob.Ref]bool{}, done: map[string]fileMark{}}
	defer func() { c.rep.Known = c.m.knew }()
	for range gcRounds {
		roots, err := c.st.markRoots(ctx, c.opt.Extra)
		if err != nil {
			return err
		}
		n, err := c.m.gather(ctx, roots)
		if err != nil {
			return err
		}
		c.rep.Files += n
		if n == 0 {
			return nil
		}
	}
	if c.rep.Files > 0 && c.opt.Grace < time.Minute {
		return errors.New("sessions change all the time and the grace period is short: try again")
	}
	return nil // what is written at this moment has put its blobs within the grace period
}

// collect takes one blob away.
func (c *collection) collect(ctx context.Context, b blob.Item) error {
	row := GCRow{Ref: b.Ref, Bytes: b.Size, LastPut: time.Unix(0, b.ModTime)}
	if c.opt.Act {
		if err := c.makeTrash(); err != nil {
			return err
		}
		moved, err := c.st.blobs.MoveOlder(ctx, b.Ref, c.before, c.rep.Trash)
		if err != nil {
			return err
		}
		if !moved {
			c.rep.Young++
			return nil
		}
		row.Moved = true
	}
	return c.row(row)
}

// blobTrash ends the names of the trash's directories that hold blobs.
const blobTrash = "-blobs"

func (c *collection) makeTrash() error {
	if c.rep.Trash != "" {
		return nil
	}
	s := c.st
	base := filepath.Join(s.opt.Home.Trash(), s.opt.Now().UTC().Format(stampLayout))
	for n := 1; n <= asideTries; n++ {
		dir := base + blobTrash
		if n > 1 {
			dir = base + "-" + strconv.Itoa(n) + blobTrash
		}
		err := s.fsys.Mkdir(dir)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		c.rep.Trash = dir
		return errors.Join(err, s.fsys.SyncDir(s.opt.Home.Trash()))
	}
	return fmt.Errorf("%s: %w", base, fs.ErrExist)
}

// putBack brings back blobs that lie in the trash although something refers to
// them: a run that was killed at the wrong moment, or a restored session.
func (c *collection) putBack(ctx context.Context) error {
	entries, err := c.st.fsys.ReadDir(c.st.opt.Home.Trash())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Info.Kind != storage.Dir || !strings.HasSuffix(e.Name, blobTrash) {
			continue
		}
		n, err := c.st.putBlobsBack(ctx, filepath.Join(c.st.opt.Home.Trash(), e.Name), func(r blob.Ref) bool { return c.m.seen[r] })
		c.rep.Restored += n
		if err != nil {
			return err
		}
	}
	return nil
}

// putBlobsBack brings blobs of a directory of the trash back, and removes the
// directory if it is empty then.
func (s *Store) putBlobsBack(ctx context.Context, dir string, wanted func(blob.Ref) bool) (n int, err error) {
	entries, err := s.fsys.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	left := 0
	for _, e := range entries {
		ref, err := blob.ParseHex(e.Name)
		if err != nil || !wanted(ref) {
			left++
			continue
		}
		back, err := s.blobs.PutBack(ctx, ref, dir)
		if err != nil {
			return n, err
		}
		if back {
			n++
		} else {
			left++
		}
	}
	if left == 0 {
		return n, s.fsys.Remove(dir)
	}
	return n, nil
}
