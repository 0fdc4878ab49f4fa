package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"

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
	j := newUndo(s, path, r.File())
	if u, err = j.prepare(ctx); err != nil || j.archive == nil {
		return u, err
	}
	defer func() { err = errors.Join(err, j.archive.Close()) }()
	r.Settle = s.opt.settle
	placed, err := r.Replace(ctx, newFileMode, u.BytesBefore, true, func(w io.Writer) error {
		n, err := j.write(ctx, w)
		u.BytesAfter = n
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
	if err := s.fsys.Remove(ArchivePath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return u, err
	}
	return u, s.fsys.SyncDir(filepath.Dir(path))
}

// keptMessage is a message that the transcript kept when it was archived.
type keptMessage struct{ json string }

// undoJob undoes the runs of one archive.
type undoJob struct {
	st      *Store
	path    string
	file    storage.File // the transcript
	archive storage.File // nil if there is none
	runs    []archiveRun
	seen    map[string]bool        // records that were written, by key
	relink  map[string]jsonl.Value // checkpoints: what their children name instead
	kept    map[string]keptMessage // by id: as they were written
	header  *jsonl.Header          // as what is written makes it
	current *jsonl.Header          // as the transcript has it now
	leaf    string                 // id of the chosen leaf, "" without one

	out     io.Writer
	sum     hash.Hash
	size    int64
	ended   bool // what was written ends in a line end
	news    bool // the record looked at last was written
	scratch []byte
}

func newUndo(s *Store, path string, transcript storage.File) *undoJob {
	return &undoJob{st: s, path: path, file: transcript, seen: map[string]bool{}, relink: map[string]jsonl.Value{},
		kept: map[string]keptMessage{}}
}

func (j *undoJob) prepare(ctx context.Context) (u Unarchived, err error) {
	st, err := j.file.Stat()
	if err != nil {
		return u, err
	}
	u = Unarchived{Path: j.path, BytesBefore: st.Size, BytesAfter: st.Size}
	if err := j.readCurrent(ctx, st.Size); err != nil {
		return u, err
	}
	u.ID = j.current.ID()
	leaf, ok, err := ReadLeaf(j.st.fsys, j.path, u.ID, st.Size)
	if err != nil {
		return u, err
	}
	if id, named := leaf.ID(); ok && named {
		j.leaf = id
	}
	f, err := j.st.fsys.Open(ArchivePath(j.path))
	if missing(err) {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	if j.runs, err = archiveRuns(ctx, f); err != nil || len(j.runs) == 0 {
		return u, errors.Join(err, f.Close())
	}
	j.archive = f
	for _, r := range j.runs {
		u.Moved += r.moved
		for _, id := range r.checkpoints {
			j.relink[id] = jsonl.Value{}
		}
	}
	return u, nil
}

// readCurrent learns the header of the transcript as it is now.
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
		}
	}
	if j.current = s.header; j.current == nil {
		return jsonl.ErrNotTranscript
	}
	return nil
}

// write writes the transcript as it was and what came since: first in the time
// between two runs, then since the last.
func (j *undoJob) write(ctx context.Context, w io.Writer) (int64, error) {
	j.out, j.sum, j.size, j.ended = w, sha256.New(), 0, true
	if err := j.first(ctx, &j.runs[0]); err != nil {
		return 0, err
	}
	for i := range j.runs[1:] {
		for l, err := range j.runs[i+1].lineSeq(ctx, j.archive) {
			if err == nil {
				err = j.since(l)
			}
			if err != nil {
				return 0, err
			}
		}
		if err := j.rest(j.runs[i+1].tail); err != nil {
			return 0, err
		}
	}
	st, err := j.file.Stat()
	if err != nil {
		return 0, err
	}
	at := int64(0)
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(j.file, 0, st.Size), jsonl.ReadOptions{}) {
		l := ArchivedLine{Record: rec.Raw}
		if err == nil {
			l.Before, err = j.between(at, rec.Offset)
		}
		if err == nil {
			l.After, err = j.between(rec.Offset+int64(len(rec.Raw)), rec.End)
		}
		if err == nil {
			err = j.since(l)
		}
		if err != nil {
			return 0, err
		}
		at = rec.End
	}
	gap, err := j.between(at, st.Size)
	if err == nil {
		err = j.rest(gap)
	}
	if err == nil {
		err = j.headerSince()
	}
	return j.size, err
}

// between is the white space between two places of the transcript; anything
// else is left out.
func (j *undoJob) between(from, to int64) (string, error) {
	if to <= from || to-from > maxGap {
		return "", nil
	}
	b := make([]byte, to-from)
	if _, err := j.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if len(bytes.TrimSpace(b)) > 0 {
		return "\n", nil
	}
	return string(b), nil
}

// maxGap bounds the white space that is kept between two records, in bytes.
const maxGap = 1 << 20

// first writes the transcript as it was before it was first archived, and
// checks that it is.
func (j *undoJob) first(ctx context.Context, r *archiveRun) error {
	for l, err := range r.lineSeq(ctx, j.archive) {
		if err != nil {
			return err
		}
		j.note(l.Record, !l.Moved)
		j.scratch = append(append(append(j.scratch[:0], l.Before...), l.Record...), l.After...)
		if err := j.put(j.scratch); err != nil {
			return err
		}
	}
	if err := j.put([]byte(r.tail)); err != nil {
		return err
	}
	if j.size != r.size || hex.EncodeToString(j.sum.Sum(nil)) != r.sum {
		return fmt.Errorf("%w: it does not hold the transcript as it was", ErrArchive)
	}
	return nil
}

func (j *undoJob) put(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	j.ended = text[len(text)-1] == '\n'
	j.size += int64(len(text))
	_, _ = j.sum.Write(text) // a hash never fails
	_, err := j.out.Write(text)
	return err
}

// line writes one record that came since.
func (j *undoJob) line(l ArchivedLine) error {
	j.news = true
	if !j.ended {
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
	all := jsonl.ParseText(string(record))
	if len(all) != 1 {
		return
	}
	e := all[0]
	switch {
	case e.Type() == "session" && j.header == nil:
		j.header = jsonl.NewHeader(e.Value().Clone())
	case e.Type() == "header_patch":
		j.patchHeader(record)
	case e.Type() == "entry_patch":
		if id, message, ok := jsonl.ParseEntryPatch(record); ok && message.Is(jsonl.Object) {
			if _, known := j.kept[id]; known {
				j.kept[id] = keptMessage{message.JSON()}
			}
		}
	default:
		j.seen[undoKey(e)] = true
		if id, ok := e.ID(); ok && kept && e.Type() == "message" {
			j.kept[id] = keptMessage{e.Value().Get("message").JSON()}
		}
	}
}

// undoKey tells one record from another, also in a file that was written anew.
// An id alone may stand twice.
func undoKey(e *jsonl.Entry) string { return recordKey(e) + " " + e.Timestamp() }

func (j *undoJob) patchHeader(record []byte) {
	if patch, ok := jsonl.ParseHeaderPatch(record); ok && j.header != nil {
		for _, m := range patch.Members() {
			j.header.Set(m.Key, m.Value)
		}
	}
}

// writeLeaf says anew which leaf was chosen.
func (j *undoJob) writeLeaf(ctx context.Context, size int64) error {
	if j.leaf == "" {
		return nil
	}
	return writeLeafFile(ctx, j.st.fsys, j.path, j.current.ID(), size, jsonl.StringValue(j.leaf))
}
