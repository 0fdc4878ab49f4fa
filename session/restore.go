package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Trashed is a session that lies in the trash.
type Trashed struct {
	ID, Title, Path string // Path is where it was
	Dir             string // where it lies
	Reason          string
	Time            time.Time // when it was put there
	Bytes           int64

	manifest jsonl.Value
	pending  bool
}

// Trash lists what lies in the trash, the latest first. It only reads.
func (s *Store) Trash(ctx context.Context) ([]Trashed, error) {
	entries, err := readDir(s.fsys, s.opt.Home.Trash())
	if err != nil {
		return nil, fmt.Errorf("list the trash: %w", err)
	}
	var all []Trashed
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e.Info.Kind != storage.Dir {
			continue
		}
		t, ok, err := s.readGrave(filepath.Join(s.opt.Home.Trash(), e.Name))
		if err != nil {
			return nil, fmt.Errorf("list the trash: %w", err)
		}
		if ok {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Trashed) int { return b.Time.Compare(a.Time) })
	return all, nil
}

// maxManifest bounds what is read of a file that tells about the trash.
const maxManifest = 1 << 20

// readGrave reads what a directory of the trash says of itself; ok is false for
// one that holds no session.
func (s *Store) readGrave(dir string) (t Trashed, ok bool, err error) {
	t.Dir = dir
	text, err := storage.ReadFile(s.fsys, filepath.Join(dir, trashedName), maxManifest)
	if missing(err) {
		t.pending = true
		text, err = storage.ReadFile(s.fsys, filepath.Join(dir, pendingName), maxManifest)
	}
	if missing(err) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	v, err := jsonl.ParseString(string(text))
	t.Path = s.fromHome(v.Get("path").Str())
	if err != nil || !filepath.IsAbs(t.Path) || !strings.HasSuffix(t.Path, ".jsonl") {
		return t, false, nil // cut off before anything was put in
	}
	t.manifest = v
	t.ID, t.Title, t.Reason = v.Get("session").Str(), v.Get("title").Str(), v.Get("reason").Str()
	t.Bytes = int64(v.Get("bytes").Num())
	t.Time, _ = time.Parse(timeLayout, v.Get("trashed").Str())
	return t, true, nil
}

// FinishTrash finishes removals that were cut off: what belongs to a session in
// the trash follows it, and a place in which nothing was put is removed.
func (s *Store) FinishTrash(ctx context.Context) (err error) {
	if there, err := s.isThere(s.opt.Home.Trash()); err != nil || !there {
		return err
	}
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return s.finishTrash(ctx)
}

func (s *Store) finishTrash(ctx context.Context) error {
	entries, err := s.fsys.ReadDir(s.opt.Home.Trash())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Info.Kind != storage.Dir {
			continue
		}
		dir := filepath.Join(s.opt.Home.Trash(), e.Name)
		t, ok, err := s.readGrave(dir)
		switch {
		case err != nil:
			return err
		case ok && t.pending:
			err = s.finishGrave(ctx, t)
		case ok:
			err = s.finishRestore(ctx, t)
		case t.pending:
			_ = s.fillIn(dir) // whatever else lies there stays
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return nil
}

// finishGrave finishes one removal.
func (s *Store) finishGrave(ctx context.Context, t Trashed) error {
	permanent := t.manifest.Get("permanent").Bool()
	inTrash := filepath.Join(t.Dir, filepath.Base(t.Path))
	if both, err := s.twins(inTrash, t.Path); err != nil {
		return err
	} else if both { // the move was cut off in between, and somebody may use the session again
		return errors.Join(s.fsys.Remove(inTrash), s.fsys.SyncDir(t.Dir), s.fillIn(t.Dir))
	}
	moved, err := s.isThere(inTrash)
	if err != nil {
		return err
	}
	line := lineOf(t.manifest, t.Dir)
	done, err := s.logged(line)
	if err != nil {
		return err
	}
	if !moved && !(done && permanent) {
		return s.fillIn(t.Dir)
	}
	if !done {
		there, err := s.isThere(t.Path)
		if err != nil {
			return err
		}
		if !there { // else another session has the name, and what stands beside it
			from := filepath.Dir(t.Path)
			if _, err := s.moveBelongings(ctx, from, t.Dir, stemName(t.Path)); err != nil {
				return err
			}
			if err := errors.Join(s.fsys.SyncDir(t.Dir), s.syncIfThere(from)); err != nil {
				return err
			}
		}
		if err := s.appendLog([]logLine{line}); err != nil {
			return err
		}
	}
	return s.settleGrave(ctx, t.Dir, permanent)
}

func (s *Store) syncIfThere(dir string) error {
	err := s.fsys.SyncDir(dir)
	if missing(err) {
		return nil
	}
	return err
}

// finishRestore removes the place of a session that is back where it was.
func (s *Store) finishRestore(ctx context.Context, t Trashed) error {
	both, err := s.twins(filepath.Join(t.Dir, filepath.Base(t.Path)), t.Path)
	if err != nil {
		return err
	}
	if both {
		r := &returning{Trashed: t}
		return errors.Join(s.bringBack(ctx, []*returning{r}), r.failed)
	}
	entries, err := s.fsys.ReadDir(t.Dir)
	if err != nil || len(entries) != 1 {
		return err
	}
	line := logLine{action: "restored", said: t.manifest, dir: filepath.Base(t.Dir)}
	done, err := s.logged(line)
	if err == nil && !done {
		err = s.appendLog([]logLine{line})
	}
	if err != nil {
		return err
	}
	return s.emptied(t)
}

func (s *Store) emptied(t Trashed) error {
	if err := s.fsys.Remove(filepath.Join(t.Dir, trashedName)); err != nil {
		return err
	}
	return s.fsys.Remove(t.Dir)
}

// AmbiguousTrashError is a reference that fits several sessions of the trash.
type AmbiguousTrashError struct {
	Ref  string
	Dirs []string // names of directories of the trash
}

// Error names the reference and what it fits.
func (e *AmbiguousTrashError) Error() string {
	return fmt.Sprintf("%q lies %d times in the trash: %s", e.Ref, len(e.Dirs), strings.Join(e.Dirs, ", "))
}

// Restore puts a session of the trash back where it was, with what belongs to
// it. ref is a session id, its beginning, or the name of a directory of the
// trash, also of one that holds blobs. It returns the session's path.
//
// Errors: fs.ErrNotExist, *AmbiguousTrashError, scope.ErrConflict if something
// has the session's name now.
func (s *Store) Restore(ctx context.Context, ref string) (path string, err error) {
	if there, err := s.isThere(s.opt.Home.Trash()); err != nil || !there {
		return "", errors.Join(err, fmt.Errorf("restore %q: %w", ref, fs.ErrNotExist))
	}
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.finishTrash(ctx); err != nil {
		return "", fmt.Errorf("restore: finish what was begun: %w", err)
	}
	if dir := filepath.Join(s.opt.Home.Trash(), ref); strings.HasSuffix(ref, blobTrash) && filepath.Base(dir) == ref {
		_, err := s.putBlobsBack(ctx, dir, func(blob.Ref) bool { return true })
		return s.opt.Home.Blobs(), err
	}
	t, err := s.findTrashed(ctx, ref)
	if err != nil {
		return "", err
	}
	r := &returning{Trashed: t}
	if err := errors.Join(s.bringBack(ctx, []*returning{r}), r.failed); err != nil {
		return "", fmt.Errorf("restore %s: %w", t.ID, err)
	}
	return t.Path, nil
}

func (s *Store) findTrashed(ctx context.Context, ref string) (Trashed, error) {
	all, err := s.Trash(ctx)
	if err != nil {
		return Trashed{}, err
	}
	var found []Trashed
	for _, t := range all {
		if filepath.Base(t.Dir) == ref || t.Dir == ref {
			return t, nil
		}
		if ref != "" && strings.HasPrefix(strings.ToLower(t.ID), strings.ToLower(ref)) {
			found = append(found, t)
		}
	}
	exact := slices.DeleteFunc(slices.Clone(found), func(t Trashed) bool { return t.ID != ref })
	if len(exact) > 0 {
		found = exact
	}
	switch len(found) {
	case 0:
		return Trashed{}, fmt.Errorf("no session %q in the trash: %w", ref, fs.ErrNotExist)
	case 1:
		return found[0], nil
	}
	several := &AmbiguousTrashError{Ref: ref}
	for _, t := range found {
		several.Dirs = append(several.Dirs, filepath.Base(t.Dir))
	}
	return Trashed{}, several
}
