package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Unarchived is what undoing an archive did.
type Unarchived struct {
	ID, Path    string
	Moved       int // entries that came back
	BytesBefore int64
	BytesAfter  int64
}

// Unarchive brings everything that was archived of a session back: the
// transcript is, byte for byte, what it was, followed by what was appended
// since. The archive is removed afterwards. A session without an archive stays
// as it is.
//
// Errors: ErrBusy, ErrProtected, ErrNotManaged, ErrArchive if the archive does
// not hold what it should; then nothing was changed.
func (s *Store) Unarchive(ctx context.Context, path string) (u Unarchived, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return u, err
	}
	place, err := s.placeOf(path)
	if err == nil && place == placeLegacy {
		err = ErrNotManaged
	}
	for try := 0; err == nil; try++ {
		u, err = s.unarchiveOnce(ctx, path)
		if err == nil {
			return u, nil
		}
		if errors.Is(err, jsonl.ErrGrown) && try < archiveTries {
			err = nil
		}
	}
	return u, fmt.Errorf("unarchive session %s: %w", filepath.Base(path), err)
}

func (s *Store) unarchiveOnce(ctx context.Context, path string) (u Unarchived, err error) {
	release, err := s.holdAlone(ctx, path, placeScope)
	if err != nil {
		return u, err
	}
	defer func() { err = errors.Join(err, release(false)) }()
	if err := s.oneArchive(ctx, path); err != nil {
		return u, err
	}
	r, err := jsonl.BeginRewrite(s.fsys, path)
	if err != nil {
		return u, err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, r.Close())
		}
	}()
	j := newUndo(s.fsys, path, r.File())
	there, idle, err := j.openArchive(ctx)
	if err != nil {
		return u, err
	}
	if there {
		defer func() { err = errors.Join(err, j.archive.Close()) }()
	}
	u, err = j.prepare(ctx)
	if err == nil {
		err = notInArchive(j.all, j.marks)
	}
	if err == nil && idle {
		err = s.dropArchive(path)
	}
	if err != nil || !there {
		return u, err
	}
	r.Settle = s.opt.settle
	placed, err := r.Replace(ctx, newFileMode, u.BytesBefore, false, func(w io.Writer) error {
		n, err := j.write(ctx, w)
		u.BytesAfter = n
		if err == nil {
			_, err = lateFits(ctx, j.file, u.BytesBefore, j.fitsBehind)
		}
		if err == nil && !j.leaf.Is(jsonl.Absent) {
			err = writeLeafFor(ctx, j.fsys, j.path, j.current.ID(), u.BytesBefore, n, j.leaf)
		}
		return err
	})
	if !placed {
		return u, err
	}
	done = true
	u.BytesAfter += int64(len(r.Late()))
	if err = errors.Join(err, r.Finish(context.WithoutCancel(ctx)), j.writeLeaf(ctx, u.BytesAfter)); err != nil {
		return u, err
	}
	return u, s.dropArchive(path)
}

// dropArchive removes the archive. What doesn't count goes first.
func (s *Store) dropArchive(path string) error {
	for _, name := range []string{PackedArchivePath(path), ArchivePath(path)} {
		if err := s.fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.fsys.SyncDir(filepath.Dir(path))
}

// undoJob undoes the runs of one archive.
type undoJob struct {
	fsys    storage.FS
	path    string
	length  int64        // of the transcript
	file    storage.File // the transcript
	archive *archiveFile // nil if there is none
	runs    []archiveRun
	all     []archiveRun           // those that the transcript has too
	marks   []string               // ids of the transcript's records for what was archived of it
	seen    map[recordSum]int32    // how often a record was written
	met     map[recordSum]int32    // and stood in what is looked at now
	relink  map[string]jsonl.Value // checkpoints: what their children name instead
	kept    map[string]recordSum   // messages that the transcript has, by id: as they were written
	back    map[recordSum]struct{} // ids of the messages that stand in a later run, or in the transcript now
	header  *jsonl.Header          // as what is written makes it
	current *jsonl.Header          // as the transcript has it now
	leaf    jsonl.Value            // id of the chosen leaf, null for the root; Absent: none was chosen

	out     io.Writer
	sum     *sums // of the first run's bytes; nil behind them
	size    int64
	ended   bool // what was written ends in a line end
	news    bool // the record looked at last was written
	glued   bool // the record stands on a line with something strange
	scratch []byte
	fields  jsonl.Fields
}

func newUndo(fsys storage.FS, path string, transcript storage.File) *undoJob {
	return &undoJob{fsys: fsys, path: path, file: transcript, seen: map[recordSum]int32{}, met: map[recordSum]int32{}, relink: map[string]jsonl.Value{},
		kept: map[string]recordSum{}, back: map[recordSum]struct{}{}}
}

// openArchive opens the archive and says whether there is one that holds
// something. idle says that the transcript has all of it.
func (j *undoJob) openArchive(ctx context.Context) (there, idle bool, err error) {
	f, err := openArchive(j.fsys, j.path)
	if missing(err) {
		return false, false, nil
	}
	if err != nil {
		return true, false, err
	}
	j.archive = f
	j.runs, err = f.runs(ctx)
	j.all = slices.Clone(j.runs)
	if err == nil && len(j.runs) > 0 {
		there = true
		err = j.dropIdle(ctx)
	}
	if err != nil || len(j.runs) == 0 {
		return err != nil, there, errors.Join(err, f.Close())
	}
	return true, false, nil
}

func (j *undoJob) prepare(ctx context.Context) (u Unarchived, err error) {
	st, err := j.file.Stat()
	if err != nil {
		return u, err
	}
	j.length = st.Size
	u = Unarchived{Path: j.path, BytesBefore: st.Size, BytesAfter: st.Size}
	if err := errors.Join(j.readCurrent(ctx, st.Size), j.readLater(ctx)); err != nil {
		return u, err
	}
	u.ID = j.current.ID()
	leaf, ok, err := ReadLeaf(j.fsys, j.path, u.ID, st.Size)
	if err != nil {
		return u, err
	}
	if id, named := leaf.ID(); ok && named {
		j.leaf = jsonl.StringValue(id)
	} else if ok && leaf.IsRoot() {
		j.leaf = jsonl.NullValue()
	}
	for _, r := range j.runs {
		u.Moved += r.moved
		for _, id := range r.checkpoints {
			j.relink[id] = jsonl.Value{}
		}
	}
	return u, nil
}

// readCurrent learns the header of the transcript as it is now, and which
// messages it has.
func (j *undoJob) readCurrent(ctx context.Context, size int64) error {
	s := &scanner{archiveScan: &archiveScan{}}
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(j.file, 0, size), jsonl.ReadOptions{}) {
		if err != nil {
			return err
		}
		f := rec.Fields
		switch {
		case f.Type.Equal("session") && s.header == nil:
			if err := s.takeHeader(&rec); err != nil {
				return err
			}
		case f.Type.Equal("header_patch") && s.header != nil:
			s.patch(rec.Raw)
		case f.Type.Equal("message"):
			j.back[sumOfText(f.ID.WTF8())] = struct{}{}
		case f.Type.Equal("custom") && s.header != nil:
			if id := ownCheckpoint(rec.Raw, s.header.ID()); id != "" {
				j.marks = append(j.marks, id)
			}
		}
	}
	if j.current = s.header; j.current == nil {
		return jsonl.ErrNotTranscript
	}
	return nil
}

// readLater learns which messages later runs have.
func (j *undoJob) readLater(ctx context.Context) error {
	for i := 1; i < len(j.runs); i++ {
		for l, err := range j.archive.lines(ctx, &j.runs[i]) {
			if err != nil {
				return err
			}
			if j.fields.Scan(l.Record) && j.fields.Type.Equal("message") {
				j.back[sumOfText(j.fields.ID.WTF8())] = struct{}{}
			}
		}
	}
	return nil
}

// first writes the transcript as it was before it was first archived, and
// checks that it is.
func (j *undoJob) first(ctx context.Context, r *archiveRun) error {
	j.sum = newSums()
	err := j.firstLines(ctx, r)
	sum := j.sum
	j.sum = nil
	sum.End()
	if err == nil && (j.size != r.size || sum.sha256() != r.sum) {
		err = fmt.Errorf("%w: it does not hold the transcript as it was", ErrArchive)
	}
	return err
}

func (j *undoJob) firstLines(ctx context.Context, r *archiveRun) error {
	for l, err := range j.archive.lines(ctx, r) {
		if err != nil {
			return err
		}
		j.note(l.Record, !l.Moved)
		j.scratch = append(append(append(j.scratch[:0], l.Before...), l.Record...), l.After...)
		if err := j.put(j.scratch); err != nil {
			return err
		}
	}
	return j.put([]byte(r.tail))
}

func (j *undoJob) put(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	j.ended = text[len(text)-1] == '\n'
	j.size += int64(len(text))
	if j.sum != nil {
		_, _ = j.sum.Write(text) // a hash never fails
	}
	_, err := j.out.Write(text)
	return err
}

// line writes one record that came since.
func (j *undoJob) line(l ArchivedLine) error {
	j.news = true
	if !j.ended && !j.glued {
		if err := j.put([]byte("\n")); err != nil {
			return err
		}
	}
	j.scratch = append(append(append(j.scratch[:0], l.Before...), l.Record...), l.After...)
	return j.put(j.scratch)
}

// rest writes white space behind the last record, if that came since.
func (j *undoJob) rest(gap string) error {
	if !j.news {
		return nil
	}
	return j.put([]byte(gap))
}

// made writes one record that is made here.
func (j *undoJob) made(v jsonl.Value) error {
	return j.line(ArchivedLine{Record: jsonl.AppendJSON(nil, v), After: "\n"})
}

// note remembers a record that is written, and applies it to the header if it
// is a patch.
func (j *undoJob) note(record []byte, kept bool) {
	f := &j.fields
	if !f.Scan(record) {
		v, _, err := jsonl.Parse(record)
		if err != nil || !v.Is(jsonl.Object) {
			return
		}
		f.Of(record, v)
	}
	switch {
	case f.Type.Equal("session") && j.header == nil:
		if v, _, err := jsonl.Parse(record); err == nil {
			j.header = jsonl.NewHeader(v.Obj())
		}
	case f.Type.Equal("header_patch"):
		j.patchHeader(record)
	case f.Type.Equal("entry_patch"):
		if id, message, ok := jsonl.ParseEntryPatch(record); ok && message.Is(jsonl.Object) {
			if _, known := j.kept[id]; known {
				j.kept[id] = sumOfText(message.JSON())
			}
		}
	default:
		j.seen[sumOfFields(f, record)]++
		if f.IDKind == jsonl.String && f.Type.Equal("message") && (kept || j.isPresent(f)) {
			if v, _, err := jsonl.Parse(record); err == nil {
				j.kept[f.ID.WTF8()] = sumOfText(v.Get("message").JSON())
			}
		}
	}
}

// isPresent reports whether the transcript has a message again that was moved:
// another program brought it back, perhaps changed.
func (j *undoJob) isPresent(f *jsonl.Fields) bool {
	if len(j.back) == 0 {
		return false
	}
	_, ok := j.back[sumOfText(f.ID.WTF8())]
	return ok
}

// recordSum stands for a record, or for a text: sixteen bytes, whatever their
// length, since there may be millions.
type recordSum [16]byte

func sumOfText(text string) recordSum {
	sum := sha256.Sum256([]byte(text))
	return recordSum(sum[:16])
}

// sumOfEntry tells one record from another, also in a file that was written
// anew, or in a copy with event ids of its own.
func sumOfEntry(e *jsonl.Entry) recordSum {
	if id, ok := e.ID(); ok {
		return sumOfText(e.Type() + " " + e.Timestamp() + " " + id)
	}
	return sumOfText(jsonl.ObjectValue(e.Value()).JSON())
}

// sumOfFields is sumOfEntry of a record that was not parsed.
func sumOfFields(f *jsonl.Fields, record []byte) recordSum {
	if f.IDKind == jsonl.String {
		return sumOfText(f.Type.WTF8() + " " + f.Timestamp.WTF8() + " " + f.ID.WTF8())
	}
	v, _, _ := jsonl.Parse(record) // it was read before
	return sumOfText(v.JSON())
}

func (j *undoJob) patchHeader(record []byte) {
	if patch, ok := jsonl.ParseHeaderPatch(record); ok && j.header != nil {
		for _, m := range patch.Members() {
			j.header.Set(m.Key, m.Value)
		}
	}
}

// writeLeaf says anew which leaf was chosen.
func (j *undoJob) writeLeaf(ctx context.Context, size int64) error {
	if j.leaf.Is(jsonl.Absent) {
		return nil
	}
	return writeLeafFile(ctx, j.fsys, j.path, j.current.ID(), size, j.leaf)
}
