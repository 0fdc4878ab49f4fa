package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// What lies in the trash is a directory for each session, with a file that says
// where it came from. The file is there before anything else is, under the name
// pendingName until all is in its place and logged.
const (
	pendingName = "pending.json"
	trashedName = "trash.json"
)

// grave is the place of one session in the trash.
type grave struct {
	row     PruneRow
	release func(gone bool) error
	dir     string
	moved   bool  // the transcript is in the trash
	failed  error // why it is not
}

// burial moves a group of sessions to the trash, each under its locks.
type burial struct {
	st        *Store
	permanent bool
	graves    []*grave
	migrated  map[string]map[string]bool // by scope: transcripts that were copied from an older layout
}

// dig makes a session's directory in the trash.
func (b *burial) dig(ctx context.Context, g *grave) error {
	s := b.st
	id := g.row.ID
	if CheckID(id) != nil {
		id = "session"
	}
	base := filepath.Join(s.opt.Home.Trash(), s.opt.Now().UTC().Format(stampLayout)+"-"+id)
	g.dir = base
	for n := 2; ; n++ {
		err := s.fsys.Mkdir(g.dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > asideTries {
			return err
		}
		g.dir = base + "-" + strconv.Itoa(n)
	}
	b.graves = append(b.graves, g)
	err := s.writeNew(filepath.Join(g.dir, pendingName), b.manifest(g).JSON()+"\n")
	if err != nil {
		g.failed = err
		b.graves = b.graves[:len(b.graves)-1]
		return errors.Join(err, s.fillIn(g.dir))
	}
	return nil
}

func (b *burial) manifest(g *grave) jsonl.Value {
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "schema", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "session", Value: jsonl.StringValue(g.row.ID)},
		jsonl.Member{Key: "title", Value: jsonl.StringValue(g.row.Title)},
		jsonl.Member{Key: "path", Value: jsonl.StringValue(b.st.inHome(g.row.Path))},
		jsonl.Member{Key: "reason", Value: jsonl.StringValue(g.row.Reason)},
		jsonl.Member{Key: "lastActive", Value: jsonl.StringValue(g.row.LastActive.UTC().Format(timeLayout))},
		jsonl.Member{Key: "bytes", Value: jsonl.NumberValue(float64(g.row.Bytes))},
		jsonl.Member{Key: "trashed", Value: jsonl.StringValue(b.st.timestamp())},
		jsonl.Member{Key: "permanent", Value: jsonl.BoolValue(b.permanent)},
	))
}

// inHome is a path of the home from the home on, so that the trash of a home
// that was copied or renamed leads back into that home. Other paths stay as they are.
func (s *Store) inHome(path string) string {
	rel, err := filepath.Rel(s.opt.Home.Dir(), path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// fromHome is what inHome was given.
func (s *Store) fromHome(path string) string {
	if local := filepath.FromSlash(path); path != "" && filepath.IsLocal(local) {
		return filepath.Join(s.opt.Home.Dir(), local)
	}
	return path
}

// writeNew makes a small file of the trash. It is synced with those of the whole
// group, which costs little more than one.
func (s *Store) writeNew(name, text string) error {
	f, err := s.fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}

// syncPlaces makes durable what says where the sessions of the group came from.
func (b *burial) syncPlaces() error {
	trash := b.st.opt.Home.Trash()
	names := []string{trash}
	for _, g := range b.graves {
		names = append(names, g.dir, filepath.Join(g.dir, pendingName))
	}
	if done, err := b.st.syncWhole(names); done || err != nil {
		return err
	}
	err := together(len(b.graves), func(i int) error {
		f, err := b.st.fsys.Open(filepath.Join(b.graves[i].dir, pendingName))
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	if err != nil {
		return err
	}
	return b.sync(func(g *grave) []string { return []string{g.dir, trash} })
}

// manySyncs is from how many on one sync of the whole file system costs less
// than those of files and directories, which wait for the same disk.
const manySyncs = 16

// syncWhole is storage.SyncWhole where that is worth it.
func (s *Store) syncWhole(names []string) (done bool, err error) {
	if len(names) < s.opt.whole {
		return false, nil
	}
	return storage.SyncWhole(s.fsys, names)
}

// syncers is how many syncs are under way at once. A file system commits those
// that wait together in one go, so that many cost little more than one.
const syncers = 32

// together calls fn for 0 to n-1, several at once, and gives the first error by
// number. After an error not all are called.
func together(n int, fn func(i int) error) error {
	if n == 0 {
		return nil
	}
	errs := make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for range min(n, syncers) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = fn(i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// fillIn removes a place in the trash in which nothing was put.
func (s *Store) fillIn(dir string) error {
	err := s.fsys.Remove(filepath.Join(dir, pendingName))
	if err == nil || missing(err) {
		err = s.fsys.Remove(dir)
	}
	return err
}

// bury takes all transcripts of the group to the trash, then what belongs to
// them, then says so in the log. Directories are synced between the steps: a
// session must be in its new place before it is gone from the old one.
func (b *burial) bury(ctx context.Context) error {
	s := b.st
	ctx = context.WithoutCancel(ctx) // what was begun is finished
	if len(b.graves) == 0 {
		return nil
	}
	err := b.syncPlaces()
	for _, g := range b.graves {
		if g.failed = err; err == nil {
			g.failed = b.moveTranscript(ctx, g)
		}
		if g.moved = g.failed == nil; !g.moved {
			g.failed = errors.Join(g.failed, s.fillIn(g.dir))
		}
	}
	if err != nil {
		return err
	}
	places := func(g *grave) []string { return []string{g.dir, filepath.Dir(g.row.Path)} }
	if err := b.sync(places); err != nil {
		return err
	}
	var errs []error
	followed := map[*grave]bool{}
	for _, g := range b.graves {
		if g.moved {
			n, err := s.moveBelongings(ctx, filepath.Dir(g.row.Path), g.dir, stemName(g.row.Path))
			errs, followed[g] = append(errs, err), n > 0 || err != nil
		}
	}
	errs = append(errs, b.sync(func(g *grave) []string {
		if !followed[g] {
			return []string{"", ""}
		}
		return places(g)
	}))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return b.close(ctx)
}

// stemName is the base of a transcript's name.
func stemName(path string) string { return filepath.Base(stemOf(path)) }

func (b *burial) moveTranscript(ctx context.Context, g *grave) error {
	if err := b.retire(ctx, g.row); err != nil {
		return err
	}
	to := filepath.Join(g.dir, filepath.Base(g.row.Path))
	return storage.RetryRename(ctx, func() error { return b.st.fsys.RenameNoReplace(g.row.Path, to) })
}

// moveBelongings takes what belongs to a transcript to another directory, and
// says how many there were.
func (s *Store) moveBelongings(ctx context.Context, from, to, stem string) (n int, err error) {
	var errs []error
	for _, end := range belongingEndings() {
		moved, err := s.moveOne(ctx, filepath.Join(from, stem+end), filepath.Join(to, stem+end))
		if errs = append(errs, err); moved {
			n++
		}
	}
	return n, errors.Join(errs...)
}

// sync makes directories durable, each once: all of the first kind before those
// of the second, unless all are made so by one call; a name that was moved is in
// either directory then. It goes by the sessions that are on their way.
func (b *burial) sync(dirs func(g *grave) []string) error {
	done := map[string]bool{}
	var due [2][]string
	for step := range due {
		for _, g := range b.graves {
			if dir := dirs(g)[step]; dir != "" && g.failed == nil && !done[dir] {
				done[dir] = true
				due[step] = append(due[step], dir)
			}
		}
	}
	if done, err := b.st.syncWhole(slices.Concat(due[0], due[1])); done || err != nil {
		return err
	}
	for _, names := range due {
		if err := together(len(names), func(i int) error { return b.st.fsys.SyncDir(names[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// close logs the removals and ends them.
func (b *burial) close(ctx context.Context) error {
	s := b.st
	var lines []logLine
	for _, g := range b.graves {
		if g.moved {
			lines = append(lines, lineOf(b.manifest(g), g.dir))
		}
	}
	if err := s.appendLog(lines); err != nil {
		return err
	}
	var errs []error
	for _, g := range b.graves {
		if g.moved {
			errs = append(errs, s.settleGrave(ctx, g.dir, b.permanent))
		}
	}
	return errors.Join(errs...)
}

// settleGrave is the last step of a removal.
func (s *Store) settleGrave(ctx context.Context, dir string, permanent bool) error {
	if permanent {
		return s.purge(ctx, dir)
	}
	return s.fsys.Rename(filepath.Join(dir, pendingName), filepath.Join(dir, trashedName))
}

// purge removes a directory of the trash, what says so last.
func (s *Store) purge(ctx context.Context, dir string) error {
	entries, err := s.fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name)
		switch {
		case e.Name == pendingName:
		case e.Info.Kind == storage.Dir:
			err = s.removeTree(ctx, name, 0)
		default:
			err = s.fsys.Remove(name)
		}
		if err != nil {
			return err
		}
	}
	return s.fillIn(dir)
}

// release gives the locks of a group up; the lease files of sessions that are
// gone are removed while they are held.
func (b *burial) release() error {
	var errs []error
	for _, g := range b.graves {
		errs = append(errs, g.release(g.moved))
	}
	return errors.Join(errs...)
}

// retire hides the source of a session that was copied from an older layout,
// which would be listed again otherwise.
func (b *burial) retire(ctx context.Context, row PruneRow) error {
	s, dir := b.st, filepath.Dir(row.Path)
	if b.migrated == nil {
		b.migrated = map[string]map[string]bool{}
	}
	if b.migrated[dir] == nil {
		paths, err := s.copiedInto(dir)
		if err != nil {
			return err
		}
		b.migrated[dir] = paths
	}
	if !b.migrated[dir][filepath.Base(row.Path)] {
		return nil
	}
	sc, err := scope.Lookup(s.fsys, s.opt.Home, row.found.cwd)
	if missing(err) {
		return nil // nobody lists the source of a workspace that is gone
	}
	if err != nil {
		return err
	}
	c, err := sc.Candidate(ctx, s.fsys, row.Path)
	if err == nil {
		_, err = sc.Retire(ctx, s.fsys, s.opt.Process, c)
	}
	if err != nil {
		return fmt.Errorf("hide the source of %s: %w", filepath.Base(row.Path), err)
	}
	return nil
}

// maxReceipt bounds what is read of a receipt, in bytes.
const maxReceipt = 16 << 20

// copiedInto names the transcripts of a scope that a receipt tells of.
func (s *Store) copiedInto(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	receipts := (&scope.Scope{Dir: dir}).Receipts()
	entries, err := s.fsys.ReadDir(receipts)
	if missing(err) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Info.Kind != storage.Regular || !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		text, err := storage.ReadFile(s.fsys, filepath.Join(receipts, e.Name), maxReceipt)
		if err != nil {
			return nil, err
		}
		if v, err := jsonl.ParseString(string(text)); err == nil {
			names[filepath.Base(v.Get("destination").Get("path").Str())] = true
		}
	}
	return names, nil
}
