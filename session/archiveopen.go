package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// An archive is plain text or, on request, compressed with zstd. Each run of a
// compressed one is a frame by itself behind a mark, a frame that decoders skip.
// So a frame that a crash cut off counts for nothing, as a run without an end
// does, and what stands behind the next mark can be read. The mark's length
// holds a control character, which no record can hold, so that it is found in
// text that was not worth compressing as well.

// packedEnding is added to the name of an archive that is compressed.
const packedEnding = ".zst"

// PackedArchivePath is the archive of the transcript at path if it is
// compressed. Where both are there, the plain one counts.
func PackedArchivePath(path string) string { return ArchivePath(path) + packedEnding }

// maxArchiveWindow bounds the memory that a compressed archive can ask for.
const maxArchiveWindow = 32 << 20

// packMark is the frame before each run of a compressed archive.
func packMark() []byte {
	text := "gjc-index archive run\n"
	mark := binary.LittleEndian.AppendUint32(nil, 0x184D2A50)
	return append(binary.LittleEndian.AppendUint32(mark, uint32(len(text))), text...)
}

// archiveFile is an archive that is open for reading.
type archiveFile struct {
	f      storage.File
	packed bool
	parts  []archivePart
}

// archivePart is a part of the file that can be read by itself.
type archivePart struct{ from, to int64 }

// openArchive opens the archive of the transcript at path. fs.ErrNotExist:
// there is none.
func openArchive(fsys storage.FS, path string) (*archiveFile, error) {
	f, err := fsys.Open(ArchivePath(path))
	if missing(err) {
		return openPacked(fsys, path)
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &archiveFile{f: f, parts: []archivePart{{0, st.Size}}}, nil
}

// openArchiveAt opens the archive of that name.
func openArchiveAt(fsys storage.FS, name string) (*archiveFile, error) {
	if stem, ok := strings.CutSuffix(name, archiveEnding+packedEnding); ok {
		return openPacked(fsys, stem+".jsonl")
	}
	stem, ok := strings.CutSuffix(name, archiveEnding)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return openArchive(fsys, stem+".jsonl")
}

// head is the first line of an archive.
func (a *archiveFile) head() ([]byte, error) {
	text, err := a.text(a.parts[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }() // was only read
	head, err := io.ReadAll(io.LimitReader(text, jsonl.ScopeHeader))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line, err
}

func openPacked(fsys storage.FS, path string) (*archiveFile, error) {
	f, err := fsys.Open(PackedArchivePath(path))
	if missing(err) {
		return nil, fmt.Errorf("archive of %s: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	parts, err := packedParts(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &archiveFile{f: f, packed: true, parts: parts}, nil
}

// packedParts finds the marks of a compressed archive.
func packedParts(f storage.File) ([]archivePart, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	mark := packMark()
	starts := []int64{0}
	buf := make([]byte, 256<<10)
	for at := int64(0); at < st.Size; at += int64(len(buf) - len(mark) + 1) {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), st.Size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for from := 0; ; {
			i := bytes.Index(buf[from:n], mark)
			if i < 0 {
				break
			}
			if from += i; at+int64(from) > starts[len(starts)-1] {
				starts = append(starts, at+int64(from))
			}
			from++
		}
	}
	parts := make([]archivePart, len(starts))
	for i, from := range starts {
		parts[i] = archivePart{from, st.Size}
		if i > 0 {
			parts[i-1].to = from
		}
	}
	return parts, nil
}

func (a *archiveFile) Close() error { return a.f.Close() }

// partText reads the text of one part. What a crash cut off ends where it ends.
type partText struct {
	raw  *io.SectionReader
	d    *zstd.Decoder // nil: it is plain
	fail error         // of the file itself
	name string
}

func (a *archiveFile) text(p archivePart) (*partText, error) {
	t := &partText{raw: io.NewSectionReader(a.f, p.from, p.to-p.from), name: a.f.Name()}
	if !a.packed {
		return t, nil
	}
	var err error
	t.d, err = zstd.NewReader(partBytes{t}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxArchiveWindow))
	return t, err
}

// partBytes are the bytes that a decoder gets: it remembers the file's errors,
// which a decoder would make its own.
type partBytes struct{ t *partText }

func (b partBytes) Read(p []byte) (int, error) {
	n, err := b.t.raw.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.t.fail = err
	}
	return n, err
}

func (t *partText) Read(p []byte) (int, error) {
	if t.d == nil {
		return t.raw.Read(p)
	}
	n, err := t.d.Read(p)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case t.fail != nil:
		return n, t.fail
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.EOF
	}
	return n, fmt.Errorf("%s: %w: %v", t.name, ErrArchive, err)
}

// skip goes to a place of the text.
func (t *partText) skip(to int64) error {
	if t.d == nil {
		_, err := t.raw.Seek(to, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, t, to)
	return err
}

func (t *partText) Close() error {
	if t.d != nil {
		t.d.Close()
	}
	return nil
}

// OpenArchive opens the archive of the transcript at path to read its text, be
// it compressed or not. The caller closes it. Errors: fs.ErrNotExist if there
// is none; ErrArchive, from reading, if it is damaged.
func OpenArchive(fsys storage.FS, path string) (io.ReadCloser, error) {
	a, err := openArchive(fsys, path)
	if err != nil {
		return nil, err
	}
	return &archiveText{a: a}, nil
}

// archiveText is the text of all parts.
type archiveText struct {
	a    *archiveFile
	next int
	part *partText
}

func (t *archiveText) Read(p []byte) (int, error) {
	for {
		if t.part == nil {
			if t.next == len(t.a.parts) {
				return 0, io.EOF
			}
			part, err := t.a.text(t.a.parts[t.next])
			if err != nil {
				return 0, err
			}
			t.part, t.next = part, t.next+1
		}
		n, err := t.part.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		err = t.part.Close()
		if t.part = nil; n > 0 || err != nil {
			return n, err
		}
	}
}

func (t *archiveText) closePart() {
	if t.part != nil {
		_ = t.part.Close() // was only read
	}
}

func (t *archiveText) Close() error {
	t.closePart()
	return t.a.Close()
}

// textLines yields the lines of a text with their offsets, of which the first
// is at. A last line without a line end is none: an archive is written whole.
// So is one past the limit, and all that follow it. *failed is the error that
// ended the reading.
func textLines(ctx context.Context, r io.Reader, at int64, failed *error) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		room := make([]byte, 256<<10)
		from, to, searched := 0, 0, 0
		for *failed = ctx.Err(); *failed == nil; *failed = ctx.Err() {
			if i := bytes.IndexByte(room[from+searched:to], '\n'); i >= 0 {
				n := searched + i
				if !yield(at, room[from:from+n:from+n]) {
					return
				}
				at += int64(n) + 1
				from, searched = from+n+1, 0
				continue
			}
			if searched = to - from; int64(searched) > jsonl.DefaultMaxLine+archiveRoom {
				return
			}
			if to == len(room) {
				next := room
				if searched > len(room)/2 {
					next = make([]byte, 2*len(room))
				}
				to = copy(next, room[from:to])
				room, from = next, 0
			}
			n, err := r.Read(room[to:])
			if to += n; err != nil && n == 0 {
				if !errors.Is(err, io.EOF) {
					*failed = err
				}
				return
			}
		}
	}
}
