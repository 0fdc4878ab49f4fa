package export

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Archived is a session in an archive.
type Archived struct {
	ID, Cwd string
	Name    string // of the transcript
}

// ImportOptions say where what is in an archive goes.
type ImportOptions struct {
	// Place says in which directory a session is restored, and in which
	// workspace: another cwd than the session's is written into its header. An
	// error leaves the session out.
	Place func(s Archived) (dir, cwd string, err error)

	Blobs *blob.Store

	// RaiseEventIDs is told the highest event id in the archive, if it has any,
	// before a file is written: no entry that is made afterwards may bear one up
	// to it (see session.Store.RaiseEventIDs). nil: none are given out here.
	RaiseEventIDs func(ctx context.Context, highest jsonl.EventID) error
}

// ImportReport says what became of an archive's content.
type ImportReport struct {
	Restored []string // paths of transcripts
	Present  []string // that were there already, the same
	LeftOut  []session.LeftOut
	Blobs    int
	Redacted bool // secrets had been taken out
}

// Import restores the sessions of an archive. The whole archive is read and
// its sums are compared before anything is written. No file is ever replaced:
// one that is there and the same counts as restored, so a run that was cut off
// is finished by another; a session of which a file is there and different is
// left out. A transcript appears only after all that belongs to it.
//
// Errors: ErrArchive, fs.ErrNotExist, those of the file system.
func Import(ctx context.Context, fsys storage.FS, path string, opt ImportOptions) (ImportReport, error) {
	var rep ImportReport
	f, err := fsys.Open(path)
	if err != nil {
		return rep, err
	}
	defer f.Close()
	im := &importer{ctx: ctx, fsys: fsys, file: f, opt: opt, rep: &rep, failed: map[string]bool{}, places: map[string]place{}}
	if im.m, err = im.verify(); err != nil {
		return rep, fmt.Errorf("read %s: %w", path, err)
	}
	rep.Redacted = im.m.Redacted
	im.place()
	if im.highest > 0 && len(im.places) > 0 && opt.RaiseEventIDs != nil {
		if err := opt.RaiseEventIDs(ctx, im.highest); err != nil {
			return rep, fmt.Errorf("import %s: %w", path, err)
		}
	}
	for _, transcripts := range []bool{false, true} {
		err := im.each(func(name string, r io.Reader) error {
			if name == manifestName || im.m.transcripts[name] != transcripts {
				return nil
			}
			return im.restore(name, r)
		})
		if err != nil {
			return rep, fmt.Errorf("import %s: %w", path, err)
		}
	}
	return rep, nil
}

type importer struct {
	ctx    context.Context
	fsys   storage.FS
	file   storage.File
	opt    ImportOptions
	m      *manifest
	rep    *ImportReport
	places map[string]place // by the session's directory in the archive
	failed map[string]bool  // sessions that are left out, likewise

	highest jsonl.EventID // in the archive
}

type place struct {
	dir string
	cwd string // "" if it is the session's own
	s   manifestSession
}

// each calls fn with each file of the archive.
func (im *importer) each(fn func(name string, r io.Reader) error) error {
	info, err := im.file.Stat()
	if err != nil {
		return err
	}
	z, err := zstd.NewReader(io.NewSectionReader(im.file, 0, info.Size), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	tr := tar.NewReader(z)
	for {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return im.nothingBehind(z)
		}
		if err != nil {
			return damaged(err)
		}
		if h.Typeflag != tar.TypeReg || !safeName(h.Name) {
			return fmt.Errorf("%w: it holds %.80q, which is no plain file with a plain name", ErrArchive, h.Name)
		}
		if err := fn(h.Name, &archiveReader{im.ctx, tr}); err != nil {
			return err
		}
	}
}

// nothingBehind refuses an archive that goes on behind its end.
func (im *importer) nothingBehind(z io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		n, err := z.Read(buf)
		if len(bytes.Trim(buf[:n], "\x00")) > 0 { // a tar may be filled up with these
			return fmt.Errorf("%w: something stands behind its end", ErrArchive)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
	}
}

// archiveReader ends with the context, and says whose fault an error is.
type archiveReader struct {
	ctx context.Context
	r   io.Reader
}

// Read reads.
func (r *archiveReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

// damaged is what a reader's error says of an archive.
func damaged(err error) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, ErrArchive), errors.As(err, &file), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early", ErrArchive)
	case errors.Is(err, zstd.ErrMagicMismatch):
		return fmt.Errorf("%w: it is not compressed with zstd, or more than that", ErrArchive)
	}
	return fmt.Errorf("%w: some of its bytes are not what was written", ErrArchive)
}

// verify reads the whole archive and compares each file with the manifest.
func (im *importer) verify() (*manifest, error) {
	var m *manifest
	seen := map[string]manifestFile{}
	ids := map[string]string{} // of transcripts, by name
	err := im.each(func(name string, r io.Reader) error {
		if _, twice := seen[name]; twice || m != nil {
			return fmt.Errorf("%w: %.80q is in it twice, or behind its manifest", ErrArchive, name)
		}
		if name == manifestName {
			data, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
			if err == nil && len(data) > maxManifest {
				err = fmt.Errorf("%w: its manifest is too long", ErrArchive)
			}
			if err == nil {
				m, err = parseManifest(data)
			}
			return err
		}
		sum, events, head, size := sha256.New(), &idFinder{}, &headFinder{}, &counter{}
		whole := io.MultiWriter(sum, size)
		var err error
		switch {
		case strings.HasPrefix(name, blobsDir+"/"):
			_, err = io.Copy(whole, r)
		case strings.HasSuffix(name, packedEnding):
			err = unpacked(io.TeeReader(r, whole), events)
		default:
			_, err = io.Copy(io.MultiWriter(whole, events, head), r)
			ids[name] = head.header()
		}
		im.highest = max(im.highest, events.highest)
		n := size.n
		seen[name] = manifestFile{name, n, hex.EncodeToString(sum.Sum(nil))}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("%w: it has no manifest", ErrArchive)
	case len(seen) != len(m.byName):
		return nil, fmt.Errorf("%w: it has %d files, its manifest %d", ErrArchive, len(seen), len(m.byName))
	}
	for name, f := range seen {
		if f != m.byName[name] {
			return nil, fmt.Errorf("%w: %s is not what the manifest says", ErrArchive, name)
		}
	}
	for _, s := range m.Sessions {
		if id := ids[s.Dir+"/"+s.Transcript]; id != "" && id != s.ID {
			return nil, fmt.Errorf("%w: what its manifest calls session %s is another one", ErrArchive, s.ID)
		}
	}
	return m, nil
}

// counter counts what is written to it.
type counter struct{ n int64 }

// Write counts p.
func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// place asks where each session goes.
func (im *importer) place() {
	for _, s := range im.m.Sessions {
		dir, cwd, err := im.opt.Place(Archived{s.ID, s.Cwd, s.Transcript})
		if err != nil {
			im.leaveOut(s.Dir, s.Transcript, err.Error())
			continue
		}
		if cwd == s.Cwd {
			cwd = ""
		}
		im.places[s.Dir] = place{dir, cwd, s}
	}
}

func (im *importer) leaveOut(session, name, reason string) {
	if !im.failed[session] {
		im.failed[session] = true
		im.rep.LeftOut = append(im.rep.LeftOut, leftOut(name, reason))
	}
}

func leftOut(path, reason string) session.LeftOut {
	return session.LeftOut{Path: path, Reason: reason}
}

// restore writes one file to its place.
func (im *importer) restore(name string, r io.Reader) error {
	if digits, ok := strings.CutPrefix(name, blobsDir+"/"); ok {
		return im.restoreBlob(digits, r)
	}
	parts := strings.SplitN(name, "/", 3)
	dir := parts[0] + "/" + parts[1]
	to, ok := im.places[dir]
	if !ok || im.failed[dir] {
		return nil
	}
	path := filepath.Join(to.dir, filepath.FromSlash(parts[2]))
	isTranscript := im.m.transcripts[name]
	if isTranscript && to.cwd != "" {
		r = moved(r, to.cwd)
	}
	there, err := im.publish(path, r)
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, storage.ErrUnsafe), errors.Is(err, syscall.ENOTDIR):
		im.leaveOut(dir, path, "something else is there already")
		return nil
	case err != nil:
		return err
	case isTranscript && there:
		im.rep.Present = append(im.rep.Present, path)
	case isTranscript:
		im.rep.Restored = append(im.rep.Restored, path)
	}
	return nil
}

func (im *importer) restoreBlob(digits string, r io.Reader) error {
	if im.opt.Blobs == nil {
		return nil
	}
	data, err := io.ReadAll(r) // at most blob.MaxSize: the manifest says so, and it was compared
	if err != nil {
		return err
	}
	if _, err := im.opt.Blobs.Put(im.ctx, data); err != nil {
		return fmt.Errorf("restore blob %s: %w", digits, err)
	}
	im.rep.Blobs++
	return nil
}

// publish writes a file that is not there yet. there says that it is, and the
// same; fs.ErrExist that it is different.
func (im *importer) publish(path string, r io.Reader) (there bool, err error) {
	if _, err := im.fsys.Lstat(path); err == nil {
		return im.same(path, r)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := storage.MkdirAll(im.fsys, filepath.Dir(path)); err != nil {
		return false, err
	}
	return false, storage.Publish(im.ctx, im.fsys, path, fileMode, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// same compares a file that is there with what would be written. One that only
// goes on where the archive's ends has been continued since, which is no
// reason to touch it.
func (im *importer) same(path string, r io.Reader) (bool, error) {
	f, err := im.fsys.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	mine, theirs := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(r, mine)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return false, err
		}
		k, err := io.ReadFull(f, theirs[:n])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, err
		}
		if !bytes.Equal(mine[:n], theirs[:k]) {
			return false, fmt.Errorf("restore %s: %w", path, fs.ErrExist)
		}
		if end {
			return true, nil
		}
	}
}
