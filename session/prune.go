package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// Retention says which sessions need not be kept. A session may go only if
// every limit that is given lets it: it is older than OlderThan, it is not
// among the newest Keep, and it lies beyond the newest MaxBytes. The zero value
// is no retention, and is refused.
//
// Old is what is old by the times of its records and by the file's time, since
// copies and syncs restamp files and restored files may be new. A time in the
// future is not old.
type Retention struct {
	OlderThan time.Duration
	Keep      int
	MaxBytes  int64 // of transcripts with what belongs to them

	Project string // only of this project, all its worktrees counted, removed ones too; "" is all
	Dir     string // the sessions of this directory instead of the home's
}

// PruneRow is a session that may go.
type PruneRow struct {
	ID, Path, Title string
	LastActive      time.Time
	Bytes           int64 // with what belongs to it
	Reason          string

	found *aged
}

// PrunePlan says what a prune would remove, the last active first. Kept are
// sessions that the limits would let go and that something else keeps.
type PrunePlan struct {
	Rows    []PruneRow
	Kept    []LeftOut
	LeftOut []LeftOut // what could not be judged, so it stays

	retention Retention
}

// PlanPrune finds what a retention lets go. It changes nothing.
//
// Errors: a retention without a limit, or with one below 0; scope errors.
func (s *Store) PlanPrune(ctx context.Context, r Retention) (*PrunePlan, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	all, left, err := s.gather(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("plan prune: %w", err)
	}
	slices.SortFunc(all, func(a, b *aged) int {
		return cmp.Or(b.last.Compare(a.last), strings.Compare(a.path, b.path))
	})
	plan := &PrunePlan{LeftOut: left, retention: r}
	var bytes int64
	for i, a := range all {
		bytes += a.bytes
		reason := r.lets(s.opt.Now(), a.last, i, bytes)
		if reason == "" {
			continue
		}
		if a.keep == "" {
			a.keep = keepsOf(s.unused(a.path))
		}
		if a.keep != "" {
			plan.Kept = append(plan.Kept, LeftOut{Path: a.path, Reason: a.keep})
			continue
		}
		plan.Rows = append(plan.Rows, PruneRow{ID: a.id, Path: a.path, Title: a.title, LastActive: a.last,
			Bytes: a.bytes, Reason: reason, found: a})
	}
	return plan, nil
}

// lets says why the limits let a session go, "" if they don't. rank is its
// place among all, the last active being 0, and total the bytes of all up to
// and including it.
func (r Retention) lets(now, last time.Time, rank int, total int64) string {
	var why []string
	if r.OlderThan > 0 {
		if now.Sub(last) <= r.OlderThan {
			return ""
		}
		why = append(why, "last active "+last.UTC().Format("2006-01-02"))
	}
	if r.Keep > 0 {
		if rank < r.Keep {
			return ""
		}
		why = append(why, fmt.Sprintf("not among the newest %d", r.Keep))
	}
	if r.MaxBytes > 0 {
		if total <= r.MaxBytes {
			return ""
		}
		why = append(why, fmt.Sprintf("beyond %d bytes", r.MaxBytes))
	}
	return strings.Join(why, ", ")
}

// unused is nil if nobody uses a transcript or one of its children.
func (s *Store) unused(path string) error {
	if err := s.inUse(path); err != nil {
		return err
	}
	return s.childInUse(path)
}

// keepsOf says why an error keeps a session.
func keepsOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrPinned):
		return "is pinned"
	case errors.Is(err, ErrBusy):
		return "is being written"
	case errors.Is(err, ErrProtected):
		return "is being read"
	}
	return reasonOf(err)
}

// Pruned is what became of one row of a plan.
type Pruned struct {
	PruneRow
	Trash string // where it lies now; "" if it is gone for good, or stayed
	Kept  string // why it stayed; "" if it is gone
}

// groupSize is how many sessions are moved between two syncs.
const groupSize = 128

// Prune moves the sessions of a plan to the trash, or removes them for good,
// the oldest last. Each is looked at again first, under its locks, and stays if
// it has changed since. What an earlier prune had begun is finished first. Each
// removal is written to the prune log. done is told of each row.
//
// Killed at any point, a session is where it was or in the trash, whole once
// the next Prune, Restore or FinishTrash has run.
func (s *Store) Prune(ctx context.Context, plan *PrunePlan, permanent bool, done func(Pruned) error) (err error) {
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.finishTrash(ctx); err != nil {
		return fmt.Errorf("prune: finish what was begun: %w", err)
	}
	groups := slices.Collect(slices.Chunk(plan.Rows, s.opt.group))
	return s.pruneGroups(ctx, groups, permanent, done)
}

// pruneGroups gets one group ready while the one before it waits for the disk.
func (s *Store) pruneGroups(ctx context.Context, groups [][]PruneRow, permanent bool, done func(Pruned) error) error {
	ready := func(i int) <-chan *readyGroup {
		out := make(chan *readyGroup, 1)
		if i == len(groups) {
			close(out)
			return out
		}
		go func() { out <- s.readyGroup(ctx, groups[i], permanent) }()
		return out
	}
	next := ready(0)
	for i := range groups {
		g := <-next
		next = ready(i + 1)
		if err := s.pruneGroup(ctx, g, permanent, done); err != nil {
			if g := <-next; g != nil {
				err = errors.Join(err, g.abandon())
			}
			return fmt.Errorf("prune: %w", err)
		}
	}
	return nil
}

// readyGroup is a group of sessions under their locks, each with an empty place
// in the trash, and those that stay.
type readyGroup struct {
	burial *burial
	kept   []Pruned
	err    error // of ctx
}

func (s *Store) readyGroup(ctx context.Context, rows []PruneRow, permanent bool) *readyGroup {
	g := &readyGroup{burial: &burial{st: s, permanent: permanent}, err: ctx.Err()}
	for _, row := range rows {
		if g.err != nil {
			break
		}
		if why := s.stillPrunable(ctx, row, g.burial); why != nil {
			g.kept = append(g.kept, Pruned{PruneRow: row, Kept: keepsOf(why)})
			g.err = ctx.Err()
		}
	}
	return g
}

// abandon leaves a group as it was.
func (g *readyGroup) abandon() error {
	var errs []error
	for _, grave := range g.burial.graves {
		errs = append(errs, g.burial.st.fillIn(grave.dir), grave.release(true)) // a lease file without a holder says nothing
	}
	return errors.Join(errs...)
}

// pruneGroup takes a group of sessions through the steps together.
func (s *Store) pruneGroup(ctx context.Context, g *readyGroup, permanent bool, done func(Pruned) error) error {
	if g.err != nil {
		return errors.Join(g.err, g.abandon())
	}
	b, kept := g.burial, g.kept
	err := b.bury(ctx)
	err = errors.Join(err, b.release())
	for _, g := range b.graves {
		if g.moved {
			p := Pruned{PruneRow: g.row, Trash: g.dir}
			if permanent {
				p.Trash = ""
			}
			kept = append(kept, p)
		} else if g.failed != nil {
			kept = append(kept, Pruned{PruneRow: g.row, Kept: keepsOf(g.failed)})
		}
	}
	for _, p := range kept {
		err = errors.Join(err, done(p))
	}
	return err
}

// errChanged is a session that is no longer as it was when the plan was made.
var errChanged = errors.New("has changed since")

// unpinned refuses a session that is pinned.
func (s *Store) unpinned(path string) error {
	pinned, err := s.Pinned(path)
	if err == nil && pinned {
		err = ErrPinned
	}
	return err
}

// stillPrunable locks a session, compares it with the plan and gives it its
// place in the trash.
func (s *Store) stillPrunable(ctx context.Context, row PruneRow, b *burial) error {
	place, err := s.placeOf(row.Path)
	if err != nil {
		return err
	}
	if place == placeLegacy {
		return ErrNotManaged
	}
	release, err := s.holdAlone(ctx, row.Path, placeScope)
	if err != nil {
		return err
	}
	g := &grave{row: row, release: release}
	err = s.unpinned(row.Path)
	if err == nil {
		err = s.unchanged(row)
	}
	if err == nil {
		err = b.dig(ctx, g)
	}
	if err != nil {
		return errors.Join(err, release(false))
	}
	return nil
}

func (s *Store) unchanged(row PruneRow) error {
	now, err := s.fsys.Lstat(row.Path)
	if err != nil {
		return err
	}
	was := row.found.info
	if !now.SameFile(was) || now.Size != was.Size || now.ModTime != was.ModTime {
		return errChanged
	}
	return s.childInUse(row.Path)
}

// lockTrash lets one process at a time change the trash.
func (s *Store) lockTrash(ctx context.Context) (unlock func() error, err error) {
	dir := s.opt.Home.Trash()
	if err := storage.MkdirAll(s.fsys, dir); err != nil {
		return nil, err
	}
	lock, err := s.fsys.Lock(ctx, filepath.Join(dir, trashLock), storage.Exclusive)
	if err != nil {
		return nil, fmt.Errorf("lock the trash: %w", err)
	}
	return lock.Unlock, nil
}

// trashLock is the lock file of the trash. Law 8: what it holds is of no
// meaning.
const trashLock = ".lock"

// missing reports whether an error says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Discard moves one session to the trash, with what belongs to it. trash is
// the directory in which it lies then; Restore brings it back.
//
// Errors: ErrBusy, ErrProtected, ErrPinned, ErrNotManaged, fs.ErrNotExist.
func (s *Store) Discard(ctx context.Context, path string) (trash string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	a := &aged{path: path, scopeDir: filepath.Dir(path)}
	if err := s.readAged(ctx, a); err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	own, err := s.belongings(ctx, path)
	if err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	row := PruneRow{ID: a.id, Path: path, Title: a.title, LastActive: a.last, Bytes: bytesOf(own), Reason: "asked for", found: a}
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b := &burial{st: s}
	if err = s.stillPrunable(ctx, row, b); err == nil {
		err = errors.Join(b.bury(ctx), b.graves[0].failed, b.release())
	}
	if err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	return b.graves[0].dir, nil
}
