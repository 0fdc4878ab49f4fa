package scope

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Delete deletes a session for good, as the original does: a tombstone first,
// which hides it from both programs, then transcript and artifacts are renamed
// and emptied. The zero-byte remains stay, with receipts of each step. If the
// session is the copy of a legacy one, its source goes with it, so that it does
// not come back. It returns the tombstone's path. The scope comes from Ensure;
// the caller holds whatever keeps writers away.
//
// Killed anywhere, Reconcile finishes. Errors are *Error: source_changed,
// migration_busy, unsafe_artifacts (then nothing was deleted).
func (s *Scope) Delete(ctx context.Context, fsys storage.FS, by *Process, c Candidate) (tombstone string, err error) {
	d, err := s.deletion(ctx, fsys, by, c)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.held.release()) }()
	for _, t := range d.targets {
		if err := d.plan(ctx, t); err != nil {
			return "", err
		}
	}
	if err := d.bury(ctx); err != nil {
		return "", err
	}
	for _, t := range d.targets {
		if err := d.clean(ctx, t); err != nil {
			return d.tombstone, err
		}
	}
	return d.tombstone, nil
}

// Retire writes the tombstone alone, for a session whose files are moved
// elsewhere, such as into the trash: neither the session nor its legacy source
// is listed again. A file that is put back is a new one as long as its time of
// change differs, which whoever restores it sees to.
func (s *Scope) Retire(ctx context.Context, fsys storage.FS, by *Process, c Candidate) (tombstone string, err error) {
	d, err := s.deletion(ctx, fsys, by, c)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.held.release()) }()
	return d.tombstone, d.bury(ctx)
}

// Reconcile finishes deletions that were cut off after their tombstone. One
// that another process is at is left to it.
func (s *Scope) Reconcile(ctx context.Context, fsys storage.FS, by *Process) error {
	var open []string
	err := eachRecord(ctx, fsys, s.Tombstones(), func(name string, v jsonl.Value) {
		if _, ok := s.retiredTargets(v); ok {
			open = append(open, strings.TrimSuffix(name, ".json"))
		}
	})
	for _, op := range open {
		if err == nil {
			err = s.reconcile(ctx, fsys, by, op)
		}
	}
	return err
}

func (s *Scope) reconcile(ctx context.Context, fsys storage.FS, by *Process, op string) (err error) {
	d := &deletion{s: s, fsys: fsys, op: op, tombstone: filepath.Join(s.Tombstones(), op+".json")}
	v, ok := readRecord(fsys, d.tombstone)
	if !ok {
		return nil
	}
	targets, _ := s.retiredTargets(v)
	for _, t := range targets {
		if d.exists(d.step(t, "pending", 1)) && !d.exists(d.step(t, "completed", 1)) {
			d.targets = append(d.targets, t)
		}
	}
	if len(d.targets) == 0 {
		return nil
	}
	if d.held, err = s.lock(ctx, fsys, by, op); errors.Is(err, storage.ErrLocked) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.held.release()) }()
	for _, t := range d.targets {
		if err := d.clean(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// deletion is one session being deleted, under its lock.
type deletion struct {
	s         *Scope
	fsys      storage.FS
	held      *lease
	op        string
	tombstone string
	targets   []record
}

// deletion locks the session and describes it and, if there is one, the other
// of source and copy. The operation is named for the legacy file of the two.
func (s *Scope) deletion(ctx context.Context, fsys storage.FS, by *Process, c Candidate) (*deletion, error) {
	c, err := s.again(ctx, fsys, c)
	if err != nil {
		return nil, err
	}
	first, err := s.describe(ctx, fsys, c)
	if err != nil {
		return nil, err
	}
	targets := []record{first}
	named := first
	if other, ok, err := s.pair(ctx, fsys, c); err != nil {
		return nil, err
	} else if ok {
		r, err := s.describe(ctx, fsys, other)
		if err != nil {
			return nil, err
		}
		targets = append(targets, r)
		if other.Provenance == Legacy {
			named = r
		}
	}
	d := &deletion{s: s, fsys: fsys, op: named.operation(), targets: targets}
	d.tombstone = filepath.Join(s.Tombstones(), d.op+".json")
	if d.held, err = s.lock(ctx, fsys, by, d.op); err != nil {
		return nil, err
	}
	if _, err := s.again(ctx, fsys, c); err != nil {
		return nil, errors.Join(err, d.held.release())
	}
	return d, nil
}

func (s *Scope) describe(ctx context.Context, fsys storage.FS, c Candidate) (record, error) {
	sum, err := c.Sum(ctx, fsys)
	if err != nil {
		return record{}, err
	}
	r, _ := identityOf(whole(c, sum))
	r.path, r.sessionID, r.cwd, r.provenance = c.Path, c.SessionID, c.Cwd, c.Provenance
	r.nlink = c.Info.Links
	return r, nil
}

// pair is the copy of a legacy source or the source of a copy, if a committed
// receipt ties them and both are there.
func (s *Scope) pair(ctx context.Context, fsys storage.FS, c Candidate) (Candidate, bool, error) {
	l, err := readLedger(ctx, fsys, s)
	if err != nil {
		return Candidate{}, false, err
	}
	if c.Provenance == Legacy {
		other, ok := s.copied(ctx, fsys, l, c)
		return other, ok, nil
	}
	for _, path := range l.sources() {
		for _, r := range l.receipts[path] {
			if r.destination.path != c.Path || r.destination.sessionID != c.SessionID {
				continue
			}
			source, err := s.Candidate(ctx, fsys, path)
			if err == nil && source.Provenance == Legacy && r.source.is(ctx, fsys, source) {
				return source, true, nil
			}
		}
	}
	return Candidate{}, false, nil
}

// bury publishes the tombstone.
func (d *deletion) bury(ctx context.Context) error {
	if err := d.held.held(ctx); err != nil {
		return err
	}
	var targets []jsonl.Value
	for _, t := range d.targets {
		targets = append(targets, object("path", text(t.path), "sessionId", text(t.sessionID), "cwd", text(t.cwd),
			"provenance", text(string(t.provenance)), "identity", t.whole()))
	}
	return d.publish(ctx, d.tombstone, object("schemaVersion", number(2), "state", text("retired"),
		"scope", text(d.s.Digest), "targets", jsonl.ArrayValue(targets...)))
}

// publish writes a file of the protocol; one that is there says the same.
func (d *deletion) publish(ctx context.Context, path string, v jsonl.Value) error {
	err := storage.Publish(ctx, d.fsys, path, 0o600, writeJSON(v))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

func (d *deletion) exists(path string) bool {
	_, err := d.fsys.Lstat(path)
	return err == nil
}

// step is the path of a receipt of the cleanup.
func (d *deletion) step(t record, state string, attempt int) string {
	return filepath.Join(d.s.Tombstones(), fmt.Sprintf("%s.%s.cleanup-%s-%d.json", d.op, t.operation(), state, attempt))
}

// remains is the name that a file gets which is to be emptied.
func remains(t record, what string, attempt int) string {
	return filepath.Join(filepath.Dir(t.path), fmt.Sprintf(".gjc-delete-%s-%s-%d", t.operation(), what, attempt))
}
