package scope

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// Provenance says which layout a transcript lies in.
type Provenance string

// State says where a transcript stands in the migration.
type State string

// The values of Provenance and State are the original's words.
const (
	V2     Provenance = "v2"
	Legacy Provenance = "legacy"

	NativeV2         State = "native_v2"
	MigratedV2       State = "migrated_v2" // still begins with the legacy source's bytes
	LegacyUnmigrated State = "legacy_unmigrated"
)

// Candidate is a transcript that belongs to a workspace, by its header.
type Candidate struct {
	Path       string
	SessionID  string
	Cwd        string // as the header spells it
	Provenance Provenance
	State      State
	Info       storage.Info // of the file whose header was read
	headerLine []byte
}

// Sum is the SHA-256 of the transcript's bytes, in hexadecimal. It reads the
// whole file, which listing never does. ErrChanged if the file is not the one
// that was listed.
func (c Candidate) Sum(ctx context.Context, fsys storage.FS) (string, error) {
	f, err := fsys.Open(c.Path)
	if err != nil {
		return "", fmt.Errorf("sum %s: %w", c.Path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("sum %s: %w", c.Path, err)
	}
	if !unchanged(info, c.Info) {
		return "", changed(c.Path)
	}
	sum, err := sumPrefix(ctx, f, info.Size)
	if err != nil {
		return "", fmt.Errorf("sum %s: %w", c.Path, err)
	}
	return sum, nil
}

// sumPrefix is the SHA-256 of the first n bytes.
func sumPrefix(ctx context.Context, f storage.File, n int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, contextReader{ctx, io.NewSectionReader(f, 0, n)}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Invalid is a file that looks like a transcript and is no candidate.
type Invalid struct {
	Path string
	Code string // the original's word: invalid_header, unreadable_candidate, cwd_not_found, …
}

// Listing is what a scan found. Candidates of the v2 directory come first,
// then those of the legacy directories in their order; by name in each.
type Listing struct {
	Owned   []Candidate
	Foreign int // transcripts of other workspaces
	Invalid []Invalid
	Hidden  int // retired, or legacy sources whose copy is in the scope
	Skipped int // legacy directories past the limit, not looked into
}

// maxLegacyDirs bounds how many legacy directories are searched besides those
// that the workspace's own names lead to.
const maxLegacyDirs = 256

// Candidates lists the transcripts of the scope's workspace: those of its
// directory, then those of legacy directories, except what was deleted (a
// tombstone) and what was migrated (a committed receipt whose copy is there).
// It reads first lines and the protocol's files and hashes no contents.
//
// A legacy directory with one of the workspace's own names that is a symbolic
// link fails the scan (scan_failed); any other link is left alone.
func (s *Scope) Candidates(ctx context.Context, fsys storage.FS) (*Listing, error) {
	return newScan(fsys, s.Home).candidates(ctx, s)
}

// scan lists candidates and remembers who the workspaces named by headers are.
type scan struct {
	fsys       storage.FS
	home       Home
	identities map[string]identified
}

type identified struct {
	id  Identity
	err error
}

func newScan(fsys storage.FS, home Home) *scan {
	return &scan{fsys: fsys, home: home, identities: map[string]identified{}}
}

func (sc *scan) identify(cwd string) (Identity, error) {
	if known, ok := sc.identities[cwd]; ok {
		return known.id, known.err
	}
	id, err := Identify(cwd)
	sc.identities[cwd] = identified{id, err}
	return id, err
}

func (sc *scan) candidates(ctx context.Context, s *Scope) (*Listing, error) {
	list := &Listing{}
	info, err := sc.fsys.Lstat(s.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil || info.Kind != storage.Dir {
		return nil, refuse(UnsafeRoot, s.Root, "sessions directory is unsafe", "The sessions root is unsafe.", err)
	}
	names, skipped, err := sc.legacyDirs(s)
	if err != nil {
		return nil, err
	}
	list.Skipped = skipped
	if err := sc.directory(ctx, list, s, s.Dir, V2); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := sc.directory(ctx, list, s, filepath.Join(s.Root, name), Legacy); err != nil {
			return nil, err
		}
	}
	ledger, err := readLedger(ctx, sc.fsys, s)
	if err != nil {
		return nil, err
	}
	ledger.apply(ctx, sc.fsys, list)
	return list, nil
}

// legacyDirs are the workspace's own legacy names, then every other directory
// whose name begins with a dash.
func (sc *scan) legacyDirs(s *Scope) (names []string, skipped int, err error) {
	own := s.LegacyNames()
	known := map[string]bool{}
	for _, name := range own {
		known[name] = true
	}
	entries, err := sc.fsys.ReadDir(s.Root)
	if err != nil {
		return nil, 0, scanFailed(s.Root, err)
	}
	found := own[:len(own):len(own)]
	for _, e := range entries {
		if e.Info.Kind != storage.Dir || !strings.HasPrefix(e.Name, "-") || known[e.Name] {
			continue
		}
		if len(found)-len(own) == maxLegacyDirs {
			skipped++
			continue
		}
		found = append(found, e.Name)
	}
	return found, skipped, nil
}

func scanFailed(path string, cause error) *Error {
	return refuse(ScanFailed, path, "session directory can't be searched", "Session scan failed.", cause)
}

// directory adds what lies directly in dir.
func (sc *scan) directory(ctx context.Context, list *Listing, s *Scope, dir string, p Provenance) error {
	info, err := sc.fsys.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Kind != storage.Dir {
		err = &storage.UnsafeError{Path: dir, Reason: "is not a directory"}
	}
	if err != nil {
		return scanFailed(dir, err)
	}
	entries, err := sc.fsys.StatDir(dir)
	if err != nil {
		return scanFailed(dir, err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	for _, e := range entries {
		if !IsTranscriptName(e.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		sc.file(list, s, filepath.Join(dir, e.Name), e.Info, p)
	}
	return nil
}

// IsTranscriptName reports whether a file of that name can be a session:
// it ends in .jsonl and is no dotfile.
func IsTranscriptName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

func (sc *scan) file(list *Listing, s *Scope, path string, info storage.Info, p Provenance) {
	c, id, code := sc.inspect(path, info, p)
	switch {
	case code != "":
		list.Invalid = append(list.Invalid, Invalid{path, code})
	case id != s.Identity:
		list.Foreign++
	default:
		list.Owned = append(list.Owned, c)
	}
}

// inspect reads the header of one file and asks who its workspace is.
func (sc *scan) inspect(path string, info storage.Info, p Provenance) (Candidate, Identity, string) {
	if info.Kind != storage.Regular || info.Links > 1 {
		return Candidate{}, Identity{}, unreadableFile
	}
	h, code := readHeader(sc.fsys, path)
	if code != "" {
		return Candidate{}, Identity{}, code
	}
	if !h.info.SameFile(info) {
		return Candidate{}, Identity{}, changedMeantime
	}
	id, err := sc.identify(h.cwd)
	if err != nil {
		return Candidate{}, Identity{}, headerCode(err)
	}
	state := NativeV2
	if p == Legacy {
		state = LegacyUnmigrated
	}
	return Candidate{Path: path, SessionID: h.id, Cwd: h.cwd, Provenance: p, State: state, Info: h.info, headerLine: h.line}, id, ""
}

// Candidate inspects one file of the scope or of a legacy directory, hidden or
// not. Errors: fs.ErrNotExist; *Error with source_changed if it is no session of
// this workspace, or lies anywhere else.
func (s *Scope) Candidate(ctx context.Context, fsys storage.FS, path string) (Candidate, error) {
	if err := ctx.Err(); err != nil {
		return Candidate{}, err
	}
	p, ok := s.provenance(fsys, path)
	if !ok || !IsTranscriptName(filepath.Base(path)) {
		return Candidate{}, refuse(SourceChanged, path, "lies in no session directory of this workspace", "source_changed", nil)
	}
	info, err := fsys.Lstat(path)
	if err != nil {
		return Candidate{}, fmt.Errorf("inspect session: %w", err)
	}
	c, id, code := newScan(fsys, s.Home).inspect(path, info, p)
	if code != "" {
		return Candidate{}, refuse(SourceChanged, path, "is no session of this workspace ("+code+")", "source_changed", nil)
	}
	if id != s.Identity {
		return Candidate{}, refuse(SourceChanged, path, "belongs to another workspace", "source_changed", nil)
	}
	return c, nil
}

// provenance says what the directory of path is: the scope, or a legacy
// directory, which is a real directory beside it.
func (s *Scope) provenance(fsys storage.FS, path string) (Provenance, bool) {
	dir := filepath.Dir(path)
	if dir == s.Dir {
		return V2, true
	}
	if filepath.Dir(dir) != s.Root || !strings.HasPrefix(filepath.Base(dir), "-") {
		return "", false
	}
	info, err := fsys.Lstat(dir)
	return Legacy, err == nil && info.Kind == storage.Dir
}

// unchanged compares what can be known of a file without reading it.
func unchanged(a, b storage.Info) bool {
	return a.SameFile(b) && a.Size == b.Size && a.ModTime == b.ModTime
}

func changed(path string) *Error {
	return refuse(SourceChanged, path, "was changed or replaced meanwhile", "source_changed", nil)
}

// contextReader ends a long read when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
