package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Restored is what became of one session of the trash.
type Restored struct {
	Trashed
	Kept string // why it stays in the trash; "" if it is back
}

// RestoreAll puts every session that came to the trash at the given time or
// later back where it was, the latest first; the zero time is all. One whose
// name is taken stays and stops no other. done is told of each.
//
// Killed at any point, a session is in the trash or where it was, whole once the
// next Prune, Restore or FinishTrash has run. Errors: those of ctx and of
// writing.
func (s *Store) RestoreAll(ctx context.Context, since time.Time, done func(Restored) error) (err error) {
	if there, err := s.isThere(s.opt.Home.Trash()); err != nil || !there {
		return err
	}
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.finishTrash(ctx); err != nil {
		return fmt.Errorf("restore: finish what was begun: %w", err)
	}
	all, err := s.Trash(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t Trashed) bool { return t.Time.Before(since) })
	for group := range slices.Chunk(all, s.opt.group) {
		if err := ctx.Err(); err != nil {
			return err
		}
		back := make([]*returning, len(group))
		for i, t := range group {
			back[i] = &returning{Trashed: t}
		}
		if err := s.bringBack(ctx, back); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		for _, r := range back {
			out := Restored{Trashed: r.Trashed}
			if errors.Is(r.failed, scope.ErrConflict) {
				out.Kept = "something has its name now"
			} else if r.failed != nil {
				out.Kept = reasonOf(r.failed)
			}
			if err := done(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// returning is a session on its way back.
type returning struct {
	Trashed
	failed error // why it stays
}

// bringBack takes a group of sessions through the steps together. What belongs
// to a session goes first, so that it is never there without; nothing is
// replaced. The error is one of the whole group.
func (s *Store) bringBack(ctx context.Context, group []*returning) error {
	ctx = context.WithoutCancel(ctx) // what was begun is finished
	paths := map[string]bool{}
	for _, r := range group {
		if paths[r.Path] {
			r.failed = fmt.Errorf("%s: %w", filepath.Base(r.Path), scope.ErrConflict)
			continue
		}
		if r.failed = s.bringBelongings(ctx, r.Trashed); r.failed == nil {
			paths[r.Path] = true
		}
	}
	home := func(r *returning) string { return filepath.Dir(r.Path) }
	if err := s.syncAll(group, home); err != nil {
		return err
	}
	copied := map[string]map[string]bool{}
	for _, r := range group {
		if r.failed == nil {
			r.failed = s.bringTranscript(ctx, r.Trashed, copied)
		}
	}
	if err := errors.Join(s.syncAll(group, home), s.syncAll(group, func(r *returning) string { return r.Dir })); err != nil {
		return err
	}
	var lines []logLine
	for _, r := range group {
		if r.failed == nil {
			lines = append(lines, logLine{action: "restored", said: r.manifest, dir: filepath.Base(r.Dir)})
		}
	}
	if err := s.appendLog(lines); err != nil {
		return err
	}
	for _, r := range group {
		if r.failed == nil {
			r.failed = s.emptied(r.Trashed)
		}
	}
	return nil
}

// syncAll makes directories of the sessions that are on their way durable, each
// once.
func (s *Store) syncAll(group []*returning, dir func(*returning) string) error {
	var due []string
	done := map[string]bool{}
	for _, r := range group {
		if d := dir(r); r.failed == nil && !done[d] {
			done[d] = true
			due = append(due, d)
		}
	}
	if done, err := s.syncWhole(due); done || err != nil {
		return err
	}
	return together(len(due), func(i int) error { return s.fsys.SyncDir(due[i]) })
}

// bringBelongings moves what belongs to a session, unless something has one of
// the names.
func (s *Store) bringBelongings(ctx context.Context, t Trashed) error {
	dir, stem := filepath.Dir(t.Path), stemName(t.Path)
	for _, end := range append([]string{".jsonl"}, belongingEndings()...) {
		inTrash, err := s.isThere(filepath.Join(t.Dir, stem+end))
		if err != nil {
			return err
		}
		if !inTrash {
			continue
		}
		there, err := s.isThere(filepath.Join(dir, stem+end))
		if err == nil && there {
			there, err = s.twins(filepath.Join(t.Dir, stem+end), filepath.Join(dir, stem+end))
			there = !there
		}
		if err != nil || there {
			return errors.Join(err, fmt.Errorf("%s: %w", stem+end, scope.ErrConflict))
		}
	}
	if err := storage.MkdirAll(s.fsys, dir); err != nil {
		return err
	}
	_, err := s.moveBelongings(ctx, t.Dir, dir, stem)
	return err
}

// bringTranscript moves the transcript. One that came from an older layout has a
// tombstone, which hides its source: another file time tells it from what the
// tombstone hides. copied holds what receipts tell of, by scope.
func (s *Store) bringTranscript(ctx context.Context, t Trashed, copied map[string]map[string]bool) error {
	from, dir := filepath.Join(t.Dir, filepath.Base(t.Path)), filepath.Dir(t.Path)
	if copied[dir] == nil {
		names, err := s.copiedInto(dir)
		if err != nil {
			return err
		}
		copied[dir] = names
	}
	if info, err := s.fsys.Lstat(from); err == nil && copied[dir][filepath.Base(t.Path)] {
		if err := s.fsys.Chtimes(from, info.ModTime+int64(time.Microsecond)); err != nil {
			return err
		}
	}
	_, err := s.moveOne(ctx, from, t.Path)
	return err
}
