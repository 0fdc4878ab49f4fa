package export

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// refFinder finds the references to blobs in what is written through it.
type refFinder struct {
	found map[string]bool
	tail  []byte
}

const (
	refStart = "blob:sha256:"
	refBytes = len(refStart) + 64
)

// Write looks through p.
func (r *refFinder) Write(p []byte) (int, error) {
	if len(r.tail) > 0 {
		more := min(len(p), refBytes-1)
		r.look(append(r.tail, p[:more]...))
	}
	r.look(p)
	if keep := refBytes - 1; len(p) >= keep {
		r.tail = append(r.tail[:0], p[len(p)-keep:]...)
	} else {
		r.tail = append(r.tail, p...)
		r.tail = append(r.tail[:0], r.tail[max(0, len(r.tail)-keep):]...)
	}
	return len(p), nil
}

func (r *refFinder) look(p []byte) {
	for {
		i := bytes.Index(p, []byte(refStart))
		if i < 0 || len(p) < i+refBytes {
			return
		}
		digits := string(p[i+len(refStart) : i+refBytes])
		if _, err := hex.DecodeString(digits); err == nil && strings.ToLower(digits) == digits {
			r.found[digits] = true
		}
		p = p[i+len(refStart):]
	}
}

// idFinder finds the highest event id in what is written through it, as bytes,
// so that a damaged line hides none.
type idFinder struct {
	highest jsonl.EventID
	tail    []byte
}

var (
	idStart = []byte(`"event_id":"`)
	idMark  = jsonl.NewFinder(idStart)
)

const (
	idDigits = 16
	idBytes  = len(`"event_id":"`) + idDigits
)

// Write looks through p.
func (f *idFinder) Write(p []byte) (int, error) {
	if len(f.tail) > 0 {
		f.look(append(f.tail, p[:min(len(p), idBytes-1)]...))
	}
	f.look(p)
	keep := idBytes - 1
	if len(p) >= keep {
		f.tail = append(f.tail[:0], p[len(p)-keep:]...)
		return len(p), nil
	}
	f.tail = append(f.tail, p...)
	f.tail = append(f.tail[:0], f.tail[max(0, len(f.tail)-keep):]...)
	return len(p), nil
}

func (f *idFinder) look(p []byte) {
	for {
		i := idMark.Index(p)
		if i < 0 || len(p) < i+idBytes {
			return
		}
		if id, ok := jsonl.ParseEventID(string(p[i+len(idStart) : i+idBytes])); ok {
			f.highest = max(f.highest, id)
		}
		p = p[i+len(idStart):]
	}
}

// packedEnding ends the names of files of records that are compressed.
const packedEnding = ".ndjson.zst"

// archiveOf is the transcript whose compressed archive lies at a path; "" if
// that is no archive's name.
func archiveOf(path string) string {
	stem, ok := strings.CutSuffix(path, ".archive"+packedEnding)
	if !ok {
		return ""
	}
	return stem + ".jsonl"
}

// isOld reports whether a file is a compressed archive beside a plain one, which
// counts then.
func (a *archiver) isOld(path string) bool {
	transcript := archiveOf(path)
	if transcript == "" {
		return false
	}
	_, err := a.fsys.Lstat(session.ArchivePath(transcript))
	return err == nil
}

// openPacked opens the text of a compressed file. An archive is read past what a
// crash has cut off.
func (a *archiver) openPacked(path string) (io.ReadCloser, error) {
	if transcript := archiveOf(path); transcript != "" && !a.isOld(path) {
		return session.OpenArchive(a.fsys, transcript)
	}
	f, err := a.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &packedFile{z, f}, nil
}

// packedFile is the text of a compressed file.
type packedFile struct {
	*zstd.Decoder
	f storage.File
}

// Close ends the reading.
func (p *packedFile) Close() error {
	p.Decoder.Close()
	return p.f.Close()
}

// unpacked writes the text of a compressed file, which is only looked through:
// what can't be read of it is passed over.
func (a *archiver) unpacked(path string, w io.Writer) error {
	r, err := a.openPacked(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, ctxReader{a.ctx, r})
	if a.ctx.Err() == nil {
		err = nil
	}
	return errors.Join(err, r.Close())
}

// unpacked writes what a compressed file holds. One that is damaged is written
// as far as it can be read: it is looked through, not restored from this.
func unpacked(r io.Reader, w io.Writer) error {
	kept := &errorReader{r: r}
	z, err := zstd.NewReader(kept, zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	_, _ = io.Copy(w, z) // its own errors are damage
	if kept.err == nil {
		_, err = io.Copy(io.Discard, kept) // the rest, for who sums it up
		kept.err = errors.Join(kept.err, err)
	}
	return kept.err
}

// errorReader keeps the error of what it reads.
type errorReader struct {
	r   io.Reader
	err error
}

// Read reads.
func (e *errorReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		e.err = err
	}
	return n, err
}

// ctxReader ends with the context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

// Read reads.
func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// headFinder finds the id of the header of a transcript that is written to it.
type headFinder struct {
	buf  []byte
	id   string // "" if there is none, or it stands far behind
	done bool
}

// mostBeforeHeader is how far a header is looked for, in bytes.
const mostBeforeHeader = 1 << 20

// Write looks at the first lines.
func (h *headFinder) Write(p []byte) (int, error) {
	size := len(p)
	for !h.done && len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		h.buf, p = append(h.buf, line...), rest
		if h.done = len(h.buf) > mostBeforeHeader; ended && !h.done {
			h.line()
		}
	}
	return size, nil
}

// line looks at the line that is there.
func (h *headFinder) line() {
	v, _, err := jsonl.Parse(h.buf)
	if err == nil && v.Get("type").Str() == "session" {
		h.id, h.done = v.Get("id").Str(), true
	}
	h.buf = h.buf[:0]
}

// header is the id; "" of a file without a header.
func (h *headFinder) header() string {
	if !h.done {
		h.line()
	}
	return h.id
}
