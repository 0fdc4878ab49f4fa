package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// ArchiveOptions say what is archived.
type ArchiveOptions struct {
	KeepBranches bool // every branch is live: none moves whole
	DryRun       bool // change nothing
	Compress     bool // the archive is compressed, also what it holds already
}

// Archived is what archiving did, or would do, to a session.
type Archived struct {
	ID, Path    string
	Archive     string // the archive file
	Moved       int    // entries
	BytesBefore int64  // of the transcript
	BytesAfter  int64
	Branches    []string // ids of the last entries of branches that move whole
}

// archiveTries is how often archiving starts again because another program has
// appended meanwhile.
const archiveTries = 3

// Archive moves the entries that no live leaf's context needs from a transcript
// to its archive. The context at each live leaf, labels and totals stay what
// they are, and Unarchive brings all back. A leaf is live if it is the chosen
// one or the last, carries a label, or its path passes the last compaction.
// Without a compaction nothing moves. Memory does not grow with the texts.
//
// The archive is written and synced first. Killed before the transcript is
// replaced, it is as it was, and the next Archive goes on.
//
// Errors: ErrBusy, ErrProtected, ErrNotManaged for a session of an older layout,
// checkpoint.ErrNotArchivable, jsonl.ErrTooNew, jsonl.ErrNotTranscript.
func (s *Store) Archive(ctx context.Context, path string, opt ArchiveOptions) (a Archived, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return a, err
	}
	place, err := s.placeOf(path)
	if err == nil && place == placeLegacy {
		err = ErrNotManaged
	}
	for try := 0; err == nil; try++ {
		a, err = s.archiveOnce(ctx, path, opt)
		switch {
		case err == nil:
			return a, nil
		case errors.Is(err, ErrOldFormat) && !opt.DryRun && try < archiveTries:
			err = s.writeAnew(ctx, path)
		case errors.Is(err, jsonl.ErrGrown) && try < archiveTries:
			err = nil
		}
	}
	return a, fmt.Errorf("archive session %s: %w", filepath.Base(path), err)
}

// ErrOldFormat is a transcript that must be written anew before it is archived,
// which a dry run can't do.
var ErrOldFormat = errors.New("session is of an older version")

// writeAnew brings a transcript to the present version.
func (s *Store) writeAnew(ctx context.Context, path string) error {
	session, err := s.Open(ctx, path, OpenOptions{})
	if err != nil {
		return err
	}
	err = session.RewriteEntries(ctx, nil)
	return errors.Join(err, session.Close())
}

func (s *Store) archiveOnce(ctx context.Context, path string, opt ArchiveOptions) (a Archived, err error) {
	if !opt.DryRun {
		release, holdErr := s.holdAlone(ctx, path, placeScope)
		if holdErr != nil {
			return a, holdErr
		}
		defer func() { err = errors.Join(err, release(false)) }()
	}
	r, err := jsonl.BeginRewrite(s.fsys, path)
	if err != nil {
		return a, err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, r.Close())
		}
	}()
	j := &archiveJob{st: s, path: path, file: r.File(), opt: opt}
	if err := j.prepare(ctx); err != nil {
		return a, err
	}
	a = j.result()
	if j.plan.Moved == 0 {
		if opt.Compress && !opt.DryRun {
			if _, err = j.settleArchive(ctx); err == nil {
				a.Archive = j.archiveName()
			}
		}
		return a, err
	}
	if err := j.writeRun(ctx); err != nil {
		return a, err
	}
	if opt.DryRun {
		a.BytesAfter, err = j.measure(ctx)
		return a, err
	}
	r.Settle = s.opt.settle
	placed, err := j.replace(ctx, r, &a)
	if !placed {
		return a, err
	}
	done = true
	a.BytesAfter += int64(len(r.Late()))
	return a, errors.Join(err, r.Finish(context.WithoutCancel(ctx)), j.writeLeaf(ctx, a.BytesAfter))
}

// replace puts what stays, and what was appended meanwhile, in the
// transcript's place.
func (j *archiveJob) replace(ctx context.Context, r *jsonl.Rewrite, a *Archived) (placed bool, err error) {
	fits := j.fitsBehind()
	until, err := lateFits(ctx, j.file, j.scan.size, fits)
	if err != nil {
		return false, err
	}
	return r.Replace(ctx, newFileMode, until, false, func(w io.Writer) error {
		n, err := j.writeRest(ctx, w)
		if err != nil {
			return err
		}
		late, err := io.Copy(w, io.NewSectionReader(j.file, j.scan.size, until-j.scan.size))
		if a.BytesAfter = n + late; err == nil {
			_, err = lateFits(ctx, j.file, until, fits)
		}
		if err == nil && j.chosen {
			err = writeLeafFor(ctx, j.st.fsys, j.path, j.scan.header.ID(), j.scan.size, a.BytesAfter, j.leafID())
		}
		return err
	})
}

// archiveJob is the archiving of one transcript.
type archiveJob struct {
	st     *Store
	path   string
	file   storage.File
	opt    ArchiveOptions
	scan   *archiveScan
	plan   *checkpoint.ArchivePlan
	leaf   int
	chosen bool // the leaf is not the last entry
	made   []*jsonl.Entry

	eventID jsonl.EventID // that of the first entry made
}

func (j *archiveJob) prepare(ctx context.Context) error {
	var err error
	if j.scan, err = scanArchive(ctx, j.file); err != nil {
		return err
	}
	if j.scan.version < jsonl.CurrentVersion {
		return ErrOldFormat
	}
	if j.leaf, err = j.scan.leaf(j.st.fsys, j.path); err != nil {
		return err
	}
	j.chosen = j.leaf != len(j.scan.nodes)-1
	j.scan.ids = nil // the memory is needed
	j.plan, err = checkpoint.PlanArchive(j.scan.nodes, checkpoint.ArchiveOptions{Leaf: j.leaf, KeepBranches: j.opt.KeepBranches})
	return err
}

func (j *archiveJob) result() Archived {
	a := Archived{ID: j.scan.header.ID(), Path: j.path, Archive: j.archiveName(), Moved: j.plan.Moved,
		BytesBefore: j.scan.size, BytesAfter: j.scan.size}
	for _, at := range j.plan.Branches {
		a.Branches = append(a.Branches, j.scan.nodes[at].ID)
	}
	return a
}

// archiveName is the archive that there is, or will be.
func (j *archiveJob) archiveName() string {
	if j.opt.Compress && j.plan.Moved > 0 {
		return PackedArchivePath(j.path)
	}
	if name, _, ok, err := FindArchive(j.st.fsys, j.path); ok && err == nil {
		return name
	}
	return ArchivePath(j.path)
}

// writeRest writes what stays of the transcript and returns its length.
func (j *archiveJob) writeRest(ctx context.Context, w io.Writer) (size int64, err error) {
	var buf []byte
	put := func(line []byte) {
		if err == nil {
			buf = append(append(buf[:0], line...), '\n')
			_, err = w.Write(buf)
			size += int64(len(buf))
		}
	}
	for i := range j.scan.lines {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return size, err
		}
		l := &j.scan.lines[i]
		switch {
		case l.node == linePatch, l.node == lineRepeat, l.node >= 0 && j.plan.Moves[l.node]:
			continue
		case l.node == lineHeader:
			put(jsonl.AppendJSON(nil, jsonl.ObjectValue(j.scan.header.Value())))
			continue
		}
		raw := make([]byte, l.size)
		if _, err := j.file.ReadAt(raw, l.offset); err != nil && !errors.Is(err, io.EOF) {
			return size, err
		}
		if l.node < 0 {
			put(raw)
			continue
		}
		parent, relinked := j.parentOf(l.node)
		if int(l.node) == j.plan.First {
			for _, c := range j.made {
				put(jsonl.AppendJSON(nil, jsonl.ObjectValue(checkpoint.Relink(c, parent, true).Value())))
				id, _ := c.ID()
				parent, relinked = jsonl.StringValue(id), true
			}
		}
		put(j.kept(l.node, raw, parent, relinked))
	}
	return size, err
}

// parentOf is the parentId of an entry that stays.
func (j *archiveJob) parentOf(node int32) (parent jsonl.Value, relinked bool) {
	parent = jsonl.NullValue()
	if p := j.plan.Parents[node]; p >= 0 {
		parent = jsonl.StringValue(j.scan.nodes[p].ID)
	}
	return parent, j.plan.Relinked[node]
}

// kept is the line of an entry that stays: as it stands, or encoded anew if
// anything of it changes.
func (j *archiveJob) kept(node int32, raw []byte, parent jsonl.Value, relinked bool) []byte {
	message, patched := j.scan.patches[node]
	if !relinked && !patched {
		return raw
	}
	v, _, err := jsonl.Parse(raw)
	if err != nil {
		return raw // the scan has read it
	}
	o := v.Obj()
	if patched {
		o.Set("message", message)
	}
	if relinked {
		o.Set("parentId", parent)
	}
	return jsonl.AppendJSON(nil, jsonl.ObjectValue(o))
}

// measure is the length that the transcript would have.
func (j *archiveJob) measure(ctx context.Context) (int64, error) { return j.writeRest(ctx, io.Discard) }

// writeLeaf says anew which leaf was chosen, since the transcript has another
// length now.
func (j *archiveJob) writeLeaf(ctx context.Context, size int64) error {
	if !j.chosen {
		return nil
	}
	return writeLeafFile(ctx, j.st.fsys, j.path, j.scan.header.ID(), size, j.leafID())
}

// leafID is the id of the chosen leaf, null before all entries.
func (j *archiveJob) leafID() jsonl.Value {
	if j.leaf < 0 {
		return jsonl.NullValue()
	}
	return jsonl.StringValue(j.scan.nodes[j.leaf].ID)
}
