package scope

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Policy says what becomes of a legacy session that is to be written.
type Policy string

// The policies.
const (
	CopyRetain Policy = "copy-retain" // copied into the scope, the source stays; the default
	Disabled   Policy = "disabled"    // refused
)

// Open gives the session to write for a candidate: itself if it lies in the
// scope, its copy if it is a legacy one. A copy that was made before is found
// by its receipt, without a lock. The scope comes from Ensure.
//
// A copy is made under the migration lock: artifacts, then the transcript byte
// for byte under the same name, then the receipt, nothing replaced. The source
// and everything in its directory stay as they are. Killed anywhere, the next
// call goes on where this one stopped.
//
// Errors are *Error: legacy_migration_disabled, migration_retired (deleted),
// migration_busy, source_changed, destination_conflict, unsafe_artifacts.
func (s *Scope) Open(ctx context.Context, fsys storage.FS, by *Process, c Candidate, p Policy) (Candidate, error) {
	if c.Provenance == Legacy && p == Disabled {
		return Candidate{}, refuse(MigrationDisabled, c.Path, "is a legacy session and migration is disabled", "Legacy session migration is disabled for this workspace.", nil)
	}
	c, err := s.again(ctx, fsys, c)
	if err != nil {
		return Candidate{}, err
	}
	if err := plainFile(c.Path, c.Info); err != nil {
		return Candidate{}, fmt.Errorf("open session to write: %w", err)
	}
	l, err := readLedger(ctx, fsys, s)
	if err != nil {
		return Candidate{}, err
	}
	if l.isRetired(ctx, fsys, c) {
		return Candidate{}, refuse(MigrationRetired, c.Path, "was deleted", "The managed session has been retired.", nil)
	}
	if c.Provenance == V2 {
		return c, nil
	}
	if copied, ok := s.copied(ctx, fsys, l, c); ok {
		return copied, nil
	}
	return s.migrate(ctx, fsys, by, c)
}

// again is c as it is now, which must be what it was.
func (s *Scope) again(ctx context.Context, fsys storage.FS, c Candidate) (Candidate, error) {
	now, err := s.Candidate(ctx, fsys, c.Path)
	if err != nil {
		return Candidate{}, err
	}
	if now.SessionID != c.SessionID || now.Cwd != c.Cwd || !unchanged(now.Info, c.Info) {
		return Candidate{}, changed(c.Path)
	}
	return now, nil
}

// copied is the copy that a committed receipt names, if it is still there.
func (s *Scope) copied(ctx context.Context, fsys storage.FS, l *ledger, c Candidate) (Candidate, bool) {
	r, ok := l.copyOf(ctx, fsys, c)
	if !ok {
		return Candidate{}, false
	}
	dest, err := s.Candidate(ctx, fsys, r.destination.path)
	if err != nil || dest.Provenance != V2 || dest.SessionID != r.destination.sessionID {
		return Candidate{}, false
	}
	dest.State = stillCopy(r, c, dest)
	return dest, true
}

// operation names what is done to one file: both programs come to the same
// name for the same file, and so to the same lock, receipt and tombstone.
func (r record) operation() string {
	h := sha256.New()
	for n, part := range []string{r.canonical, r.dev, r.ino, strconv.FormatInt(r.size, 10), r.mtimeNs, r.sum} {
		if n > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *Scope) migrate(ctx context.Context, fsys storage.FS, by *Process, c Candidate) (dest Candidate, err error) {
	described, err := s.describe(ctx, fsys, c)
	if err != nil {
		return Candidate{}, err
	}
	sum, op := described.sum, described.operation()
	held, err := s.lock(ctx, fsys, by, op)
	if err != nil {
		return Candidate{}, err
	}
	defer func() { err = errors.Join(err, held.release()) }()

	if c, err = s.again(ctx, fsys, c); err != nil {
		return Candidate{}, err
	}
	l, err := readLedger(ctx, fsys, s)
	if err != nil {
		return Candidate{}, err
	}
	if copied, ok := s.copied(ctx, fsys, l, c); ok {
		return copied, nil // another process was faster
	}
	m := migration{s: s, fsys: fsys, held: held, source: c, sum: sum, op: op}
	return m.run(ctx)
}

// migration is one copy under its lock.
type migration struct {
	s       *Scope
	fsys    storage.FS
	held    *lease
	source  Candidate
	sum, op string
}

func (m *migration) run(ctx context.Context) (Candidate, error) {
	dest := filepath.Join(m.s.Dir, filepath.Base(m.source.Path))
	if err := m.free(ctx, dest); err != nil {
		return Candidate{}, err
	}
	if err := m.restoreDetached(ctx); err != nil {
		return Candidate{}, err
	}
	from := artifactsOf(m.source.Path)
	artifacts, err := snapshot(ctx, m.fsys, from)
	if err != nil {
		return Candidate{}, err
	}
	if err := copyArtifacts(ctx, m.fsys, artifacts, from, artifactsOf(dest), m.held.held); err != nil {
		return Candidate{}, err
	}
	if err := m.transcript(ctx, dest); err != nil {
		return Candidate{}, err
	}
	// Only a source that is still what was copied may be hidden by a receipt.
	if _, err := m.s.again(ctx, m.fsys, m.source); err != nil {
		return Candidate{}, err
	}
	if same, err := sameArtifacts(ctx, m.fsys, from, artifacts); err != nil {
		return Candidate{}, err
	} else if !same {
		return Candidate{}, changed(from)
	}
	copied, err := m.s.Candidate(ctx, m.fsys, dest)
	if err != nil {
		return Candidate{}, err
	}
	if err := m.commit(ctx, copied, artifacts); err != nil {
		return Candidate{}, err
	}
	copied.State = MigratedV2
	return copied, nil
}

// free refuses a destination that is somebody else's: another file with the
// session's id, or another file with the name.
func (m *migration) free(ctx context.Context, dest string) error {
	list := &Listing{}
	if err := newScan(m.fsys, m.s.Home).directory(ctx, list, m.s, m.s.Dir, V2); err != nil {
		return err
	}
	owned := false
	for _, c := range list.Owned {
		if c.SessionID != m.source.SessionID {
			continue
		}
		if c.Path != dest {
			return refuse(DestinationConflict, c.Path, "another session of this workspace has the id", "A distinct v2 transcript already owns this session id.", nil)
		}
		owned = true
	}
	if owned {
		return nil // transcript compares the bytes
	}
	if _, err := m.fsys.Lstat(dest); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return refuse(DestinationConflict, dest, "holds something else", "The migration destination already exists without validated ownership.", nil)
}

// transcript copies the transcript. One that begins with the source's bytes is
// taken as it is: a run that was killed before its receipt made it, and
// somebody may have gone on in it since. The copy keeps the source's time, so
// that migrating changes no order.
func (m *migration) transcript(ctx context.Context, dest string) error {
	if info, err := m.fsys.Lstat(dest); err == nil {
		same, err := m.beginsWithSource(ctx, dest, info)
		if err != nil {
			return err
		}
		if !same {
			return refuse(DestinationConflict, dest, "holds something else", "A different v2 transcript already occupies the migration destination.", nil)
		}
		return nil
	}
	if err := copyFile(ctx, m.fsys, m.source, dest, m.sum, m.held.held); err != nil {
		return err
	}
	return m.fsys.Chtimes(dest, m.source.Info.ModTime)
}

func (m *migration) beginsWithSource(ctx context.Context, dest string, info storage.Info) (bool, error) {
	if err := plainFile(dest, info); err != nil || info.Size < m.source.Info.Size {
		return false, err
	}
	f, err := m.fsys.Open(dest)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	sum, err := sumPrefix(ctx, f, m.source.Info.Size)
	return sum == m.sum, err
}

// commit publishes the receipt, which hides the source from then on, and
// removes what an interrupted run of the original left staged.
func (m *migration) commit(ctx context.Context, dest Candidate, artifacts []artifact) error {
	destSum, err := dest.Sum(ctx, m.fsys)
	if err != nil {
		return err
	}
	o := object("schemaVersion", number(2), "state", text("committed"), "policy", text(string(CopyRetain)),
		"attemptId", text(m.held.attempt), "scope", text(m.s.Digest),
		"source", side(m.source, m.sum), "destination", side(dest, destSum), "artifactManifest", manifest(artifacts))
	if len(artifacts) > 0 {
		quarantine, err := m.quarantine(artifacts)
		if err != nil {
			return err
		}
		o.Obj().Set("sourceArtifactQuarantine", quarantine)
	}
	if err := m.held.held(ctx); err != nil {
		return err
	}
	path := filepath.Join(m.s.Receipts(), m.op+".json")
	err = storage.Publish(ctx, m.fsys, path, 0o600, writeJSON(o))
	if errors.Is(err, fs.ErrExist) {
		// The copy it names is gone, or we would not be here. It is kept aside.
		if err = m.setAside(path); err == nil {
			err = storage.Publish(ctx, m.fsys, path, 0o600, writeJSON(o))
		}
	}
	if err != nil {
		return fmt.Errorf("commit migration of %s: %w", m.source.Path, err)
	}
	for _, state := range []string{".prepared.json", ".published.json"} {
		err := m.fsys.Remove(filepath.Join(m.s.Receipts(), m.op+state))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("commit migration of %s: %w", m.source.Path, err)
		}
	}
	return nil
}

func (m *migration) setAside(path string) error {
	return m.fsys.RenameNoReplace(path, path+"."+m.held.attempt+".stale")
}

func side(c Candidate, sum string) jsonl.Value {
	return object("path", text(c.Path), "sessionId", text(c.SessionID),
		"header", object("id", text(c.SessionID), "cwd", text(c.Cwd)), "identity", whole(c, sum), "sha256", text(sum))
}

// detachedPath is where the original moves a source's artifacts while it
// copies them. We copy them where they are, but say where they would have been.
func (m *migration) detachedPath() string {
	return filepath.Join(filepath.Dir(m.source.Path), ".gjc-migrate-"+m.op+"-artifacts")
}

func (m *migration) quarantine(artifacts []artifact) (jsonl.Value, error) {
	parent, err := m.fsys.Lstat(filepath.Dir(m.source.Path))
	if err != nil {
		return jsonl.Value{}, err
	}
	i := artifacts[0].info
	identity := object("dev", bigUint(i.Dev), "ino", bigUint(i.Inode), "size", bigInt(i.Size), "mtimeNs", bigInt(i.ModTime),
		"parentDev", bigUint(parent.Dev), "parentIno", bigUint(parent.Inode))
	return object("path", text(artifactsOf(m.source.Path)), "detachedPath", text(m.detachedPath()),
		"identity", identity, "tree", treeOf(artifacts), "role", text("detached_artifact_root")), nil
}

// restoreDetached gives artifacts their name back that an interrupted run of
// the original left moved aside.
func (m *migration) restoreDetached(ctx context.Context) error {
	detached := m.detachedPath()
	info, err := m.fsys.Lstat(detached)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Kind != storage.Dir {
		return unsafeArtifact(detached, "is not a directory")
	}
	if err != nil {
		return fmt.Errorf("inspect artifacts: %w", err)
	}
	if err := m.held.held(ctx); err != nil {
		return err
	}
	if err := m.fsys.RenameNoReplace(detached, artifactsOf(m.source.Path)); err != nil {
		return refuse(DestinationConflict, detached, "was left by an interrupted migration and can't be put back", "destination_conflict", err)
	}
	return m.fsys.SyncDir(filepath.Dir(detached))
}
