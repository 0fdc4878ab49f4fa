package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// repairedSuffix ends the name of a mended copy: no program takes it for a
// session.
const repairedSuffix = ".repaired"

// repairTries is how often a repair starts again because somebody appended.
const repairTries = 3

// RepairOptions say what becomes of the mended copy, and what is known of a
// header that is lost.
type RepairOptions struct {
	Replace bool   // the copy takes the file's name, and the file is set aside
	Output  string // where the copy goes; "" is beside the file
	DryRun  bool   // say what would be done
	MaxLine int64  // longest line that is read, in bytes; 0 is jsonl.DefaultMaxLine

	Header  bool   // make a header where there is no valid one
	ID, Cwd string // for it; "" is what the file's name and its scope say
}

// Repaired is what a repair did, or would do.
type Repaired struct {
	Path   string
	Copy   string // the mended copy; "" if there was nothing to mend, or nothing was written
	Aside  string // the damaged file's name now; "" if it has its old one
	Mended *jsonl.Mended

	Finished bool // an earlier repair, which was cut off, was finished
}

// Repair writes a sound copy of a damaged transcript; see jsonl.Mend. The file
// itself is never changed. With Replace it is renamed and the copy takes its
// name, under its lease: killed at any point, the session is under its name, or
// another Repair with Replace puts it there.
//
// Errors: jsonl.ErrNoHeader if the header must be made and opt.Header is not
// set, or no id is known; jsonl.ErrNotTranscript, jsonl.ErrTooNew; ErrNotManaged
// for a file of an older layout without Output; ErrBusy, ErrProtected;
// fs.ErrExist if Output is taken; jsonl.ErrGrown if it is written all the time.
func (s *Store) Repair(ctx context.Context, path string, opt RepairOptions) (r Repaired, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return r, err
	}
	r.Path = path
	place, err := s.placeOf(path)
	if err == nil && place == placeLegacy && !opt.DryRun && opt.Output == "" {
		err = ErrNotManaged
	}
	if err == nil && opt.Replace && !opt.DryRun {
		err = s.repairInPlace(ctx, &r, opt)
	} else if err == nil {
		err = s.repairBeside(ctx, &r, opt)
	}
	if err != nil {
		return r, fmt.Errorf("repair %s: %w", filepath.Base(path), err)
	}
	return r, nil
}

// mended mends the file at path as it is now.
func (s *Store) mended(ctx context.Context, path string, opt RepairOptions) (*jsonl.Mended, storage.Info, error) {
	f, err := s.fsys.Open(path)
	if err != nil {
		return nil, storage.Info{}, err
	}
	defer func() { _ = f.Close() }() // was only read
	st, err := f.Stat()
	if err != nil {
		return nil, st, err
	}
	m, err := jsonl.Mend(ctx, f, st.Size, opt.known(s, path))
	return m, st, err
}

// known is what the name of a file, its scope and its metadata say of a header.
func (opt RepairOptions) known(s *Store, path string) jsonl.MendOptions {
	name := stemName(path)
	if dot := strings.Index(name, ".jsonl."); dot > 0 {
		name = name[:dot] // it was set aside
	}
	m := jsonl.MendOptions{MaxLine: opt.MaxLine, Rebuild: opt.Header, ID: opt.ID, Cwd: opt.Cwd}
	at, id, ok := strings.Cut(name, "_")
	if !ok {
		at, id = "", name
	}
	m.Timestamp = timeOfName(at)
	if m.ID == "" && CheckID(id) == nil {
		m.ID = id
	}
	if m.Cwd == "" {
		m.Cwd = scope.BoundTo(s.fsys, filepath.Dir(path))
	}
	if text, err := storage.ReadFile(s.fsys, MetaPath(path), maxMetaFile); err == nil && m.Cwd == "" {
		if v, err := jsonl.ParseString(string(text)); err == nil {
			m.Cwd = v.Get("cwd").Str()
		}
	}
	return m
}

// timeOfName reads the time that a transcript's name begins with, as records
// say it; "" if there is none.
func timeOfName(at string) string {
	if len(at) != len("2006-01-02T15-04-05-000Z") {
		return ""
	}
	text := at[:13] + ":" + at[14:16] + ":" + at[17:19] + "." + at[20:]
	if _, ok := jsonl.ParseDate(text); !ok {
		return ""
	}
	return text
}

// repairBeside writes the copy beside the file, or where opt says.
func (s *Store) repairBeside(ctx context.Context, r *Repaired, opt RepairOptions) error {
	release, err := s.Protect(ctx, r.Path)
	if err != nil {
		return err
	}
	r.Mended, _, err = s.mended(ctx, r.Path, opt)
	if err == nil && !r.Mended.Sound() && !opt.DryRun {
		if r.Copy = opt.Output; r.Copy == "" {
			r.Copy, _, err = s.repairNames(r.Path)
		}
		if err == nil {
			err = s.publishCopy(ctx, r.Copy, r.Mended.Text)
		}
		if err != nil {
			r.Copy = ""
		}
	}
	return errors.Join(err, release())
}

func (s *Store) publishCopy(ctx context.Context, name string, text []byte) error {
	return storage.Publish(ctx, s.fsys, name, newFileMode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// repairNames are two free names of one stamp: of the copy, and of the damaged
// file once it is set aside.
func (s *Store) repairNames(path string) (repaired, damaged string, err error) {
	for n := range asideTries {
		damaged = s.asideName(path, n)
		repaired = strings.TrimSuffix(damaged, damagedSuffix) + repairedSuffix
		taken, err := s.isThere(damaged)
		if err == nil && !taken {
			taken, err = s.isThere(repaired)
		}
		if err != nil {
			return "", "", err
		}
		if !taken {
			return repaired, damaged, nil
		}
	}
	return "", "", fmt.Errorf("%s: %w", filepath.Base(path), fs.ErrExist)
}

// repairInPlace makes the copy, sets the damaged file aside and gives its name
// to the copy. A line that arrives before that is mended too.
func (s *Store) repairInPlace(ctx context.Context, r *Repaired, opt RepairOptions) (err error) {
	if !strings.HasSuffix(r.Path, ".jsonl") {
		return fmt.Errorf("its name does not end in .jsonl: %w", ErrBadID)
	}
	if there, lookErr := s.isThere(r.Path); lookErr == nil && !there {
		if r.Finished, err = s.finishRepair(r.Path); err != nil {
			return err
		}
	}
	release, err := s.holdAlone(ctx, r.Path, placeScope)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(false)) }()
	for try := 0; ; try++ {
		err = s.replaceByCopy(ctx, r, opt)
		if !errors.Is(err, jsonl.ErrGrown) || try >= repairTries {
			return err
		}
	}
}

func (s *Store) replaceByCopy(ctx context.Context, r *Repaired, opt RepairOptions) error {
	m, was, err := s.mended(ctx, r.Path, opt)
	if err != nil || m.Sound() {
		r.Mended = m
		return err
	}
	r.Mended = m
	leaf, chosen, err := ReadLeaf(s.fsys, r.Path, m.ID, was.Size)
	if err != nil {
		return err
	}
	repaired, damaged, err := s.repairNames(r.Path)
	if err != nil {
		return err
	}
	if err := s.publishCopy(ctx, repaired, m.Text); err != nil {
		return err
	}
	r.Copy = repaired
	now, err := s.fsys.Lstat(r.Path)
	if err == nil && (!now.SameFile(was) || now.Size != was.Size) {
		err = jsonl.ErrGrown
	}
	value := jsonl.NullValue()
	if id, ok := leaf.ID(); ok {
		value = jsonl.StringValue(id)
	}
	chosen = chosen && (leaf.IsRoot() || value.Is(jsonl.String))
	if err == nil && chosen {
		err = writeLeafFor(ctx, s.fsys, r.Path, m.ID, was.Size, int64(len(m.Text)), value)
	}
	if err == nil {
		err = s.fsys.RenameNoReplace(r.Path, damaged)
	}
	if err != nil {
		return errors.Join(err, s.dropCopy(r))
	}
	if err := s.takeName(r, damaged, was); err != nil {
		return errors.Join(err, s.fsys.RenameNoReplace(damaged, r.Path), s.dropCopy(r))
	}
	r.Aside, r.Copy = damaged, r.Path
	late, err := s.carryLate(ctx, r, was.Size)
	if err != nil || late {
		return err // the last entry is the leaf
	}
	if chosen {
		return writeLeafFile(ctx, s.fsys, r.Path, m.ID, int64(len(m.Text)), value)
	}
	return nil
}

// takeName gives the copy the name that the damaged file had, if that is still as
// it was read.
func (s *Store) takeName(r *Repaired, damaged string, was storage.Info) error {
	if err := s.fsys.SyncDir(filepath.Dir(r.Path)); err != nil {
		return err
	}
	now, err := s.fsys.Lstat(damaged)
	if err == nil && now.Size != was.Size {
		err = jsonl.ErrGrown
	}
	if err != nil {
		return err
	}
	if err := s.fsys.RenameNoReplace(r.Copy, r.Path); err != nil {
		return err
	}
	if err := s.fsys.SyncDir(filepath.Dir(r.Path)); err != nil {
		return errors.Join(err, s.fsys.RenameNoReplace(r.Path, r.Copy))
	}
	return nil
}

// carryLate appends what other programs have appended to the damaged file since
// size bytes of it were mended, also once nobody can have it open any more.
func (s *Store) carryLate(ctx context.Context, r *Repaired, size int64) (late bool, err error) {
	for range 2 {
		now, err := s.fsys.Lstat(r.Aside)
		if err != nil {
			return late, err
		}
		if now.Size > size {
			late = true
			if err := s.carryOver(ctx, r, size, now.Size); err != nil {
				return late, fmt.Errorf("carry over late lines: %w", err)
			}
			size = now.Size
		}
		timer := time.NewTimer(s.opt.settle)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return late, nil
}

func (s *Store) carryOver(ctx context.Context, r *Repaired, from, to int64) error {
	f, err := s.fsys.Open(r.Aside)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	lines := make([]byte, to-from)
	if _, err := f.ReadAt(lines, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if lines[len(lines)-1] != '\n' {
		lines = append(lines, '\n')
	}
	a, err := jsonl.OpenAppender(s.fsys, r.Path)
	if err != nil {
		return err
	}
	return errors.Join(a.Append(context.WithoutCancel(ctx), lines, true), a.Close())
}

// dropCopy removes the copy that this repair has made.
func (s *Store) dropCopy(r *Repaired) error {
	name := r.Copy
	r.Copy = ""
	return s.fsys.Remove(name)
}

// finishRepair finishes a repair that was cut off after the damaged file was set
// aside. It reports false if there was none.
func (s *Store) finishRepair(path string) (bool, error) {
	names, err := readDir(s.fsys, filepath.Dir(path))
	if err != nil {
		return false, err
	}
	for _, e := range names {
		of, repaired, ok := cutOffRepair(names, e)
		if !ok || of != filepath.Base(path) {
			continue
		}
		if err := s.fsys.RenameNoReplace(filepath.Join(filepath.Dir(path), repaired), path); err != nil {
			return false, err
		}
		return true, s.fsys.SyncDir(filepath.Dir(path))
	}
	return false, nil
}

// cutOffRepair tells a mended copy whose damaged file is set aside and whose
// session is not there, in a directory's sorted names: of which session it is.
func cutOffRepair(names []storage.DirEntry, e storage.DirEntry) (of, repaired string, ok bool) {
	of, ok = copyOf(e.Name)
	if !ok || e.Info.Kind != storage.Regular || hasName(names, of) {
		return "", "", false
	}
	return of, e.Name, hasName(names, strings.TrimSuffix(e.Name, repairedSuffix)+damagedSuffix)
}

// copyOf is the transcript's name that a mended copy is named for.
func copyOf(name string) (of string, ok bool) {
	rest, ok := strings.CutSuffix(name, repairedSuffix)
	at := strings.LastIndex(rest, ".jsonl.")
	if !ok || at < 0 {
		return "", false
	}
	return rest[:at] + ".jsonl", true
}

func hasName(names []storage.DirEntry, name string) bool {
	for _, e := range names {
		if e.Name == name {
			return true
		}
	}
	return false
}
