package export

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

const (
	spoolBytes = 16 << 20 // of a redacted file are kept, so that it need not be made twice
	chunkBytes = 4 << 20  // of a long text are redacted at a time
)

// redacted is a member without its secrets. Its size is known only once it was
// read through. What stays of a file is copied from it later; what does not is
// kept until then, or made twice if it is much.
func (a *archiver) redacted(m member, f storage.File, path string) (member, error) {
	read := func() io.Reader { return io.NewSectionReader(f, 0, m.size) }
	isArchive := strings.HasSuffix(strings.TrimSuffix(m.name, ".zst"), ".archive.ndjson")
	switch {
	case strings.HasSuffix(m.name, packedEnding):
		m.name = strings.TrimSuffix(m.name, ".zst")
		return a.spooled(m, func(w io.Writer, tell bool) error {
			r, err := a.openPacked(path)
			if err != nil {
				return err
			}
			_, err = a.eachLine(r, isArchive, tell, writeLines(w))
			return errors.Join(err, r.Close())
		})
	case strings.HasSuffix(m.name, ".jsonl"), strings.HasSuffix(m.name, ".ndjson"):
		return a.pieced(m, f, isArchive)
	}
	return a.spooled(m, func(w io.Writer, tell bool) error { return a.copyText(w, read(), tell) })
}

// spooled is a member that copyTo writes. tell says that what is found counts.
func (a *archiver) spooled(m member, copyTo func(w io.Writer, tell bool) error) (member, error) {
	var s spool
	s.kept.Grow(int(min(m.size, spoolBytes)) + 512)
	if err := copyTo(&s, true); err != nil {
		return m, err
	}
	m.size = s.size
	if kept := s.kept; !s.over {
		m.write = func(w io.Writer) error { _, err := w.Write(kept.Bytes()); return err }
	} else {
		m.write = func(w io.Writer) error { return copyTo(w, false) }
	}
	return m, nil
}

// pieced is a member of records, most of which stay as they are.
func (a *archiver) pieced(m member, f storage.File, isArchive bool) (member, error) {
	size := m.size
	each := func(tell bool, yield lineFunc) (jsonl.ReadEnd, error) {
		return a.eachLine(io.NewSectionReader(f, 0, size), isArchive, tell, yield)
	}
	var p pieces
	end, err := each(true, p.add)
	if err != nil {
		return m, err
	}
	m.size = p.size
	m.write = func(w io.Writer) error { return p.write(w, f, a.buf) }
	if p.over || end.UTF16 {
		p.list = nil
		m.write = func(w io.Writer) error {
			_, err := each(false, writeLines(w))
			return err
		}
	}
	return m, nil
}

// pieces are what a file becomes: places of it, and lines that it does not
// have.
type pieces struct {
	list []piece
	size int64 // of all
	made int   // bytes of lines that were made
	over bool  // that was too much to keep
}

type piece struct {
	from, to int64  // of the file
	made     []byte // or, if not nil, a line
}

// add takes the line that a record became.
func (p *pieces) add(rec jsonl.Record, line []byte, same bool) error {
	p.size += int64(len(line))
	if p.over {
		return nil
	}
	if same && rec.Terminated && rec.End-rec.Offset == int64(len(line)) {
		if n := len(p.list) - 1; n >= 0 && p.list[n].made == nil && p.list[n].to == rec.Offset {
			p.list[n].to = rec.End
			return nil
		}
		p.list = append(p.list, piece{from: rec.Offset, to: rec.End})
		return nil
	}
	if p.made += len(line) + 64; p.made > spoolBytes {
		p.over, p.list = true, nil
		return nil
	}
	p.list = append(p.list, piece{made: bytes.Clone(line)})
	return nil
}

// write writes them; buf is memory to copy through.
func (p *pieces) write(w io.Writer, f storage.File, buf []byte) error {
	for _, x := range p.list {
		if x.made != nil {
			if _, err := w.Write(x.made); err != nil {
				return err
			}
			continue
		}
		if err := copySection(w, f, x.from, x.to, buf); err != nil {
			return err
		}
	}
	return nil
}

// copySection writes the bytes from one place of a file to another.
func copySection(w io.Writer, f io.ReaderAt, from, to int64, buf []byte) error {
	for from < to {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// lineFunc takes the line that a record became; same says that it is as it was.
type lineFunc func(rec jsonl.Record, line []byte, same bool) error

func writeLines(w io.Writer) lineFunc {
	return func(_ jsonl.Record, line []byte, _ bool) error {
		_, err := w.Write(line)
		return err
	}
}

// eachLine redacts records line by line. tell says that what is found counts.
// It is used by one goroutine at a time with tell, and by another without.
func (a *archiver) eachLine(r io.Reader, isArchive, tell bool, yield lineFunc) (end jsonl.ReadEnd, err error) {
	l := lineWriter{ctx: a.ctx, opt: LinesOptions{Redact: a.opt.Redact, Suspect: a.opt.Suspect}, clean: newCleaner(a.opt.Redact), rep: &Report{}}
	damaged := 0
	opt := jsonl.ReadOptions{MaxLine: a.opt.MaxLine, End: &end, Report: func(r jsonl.LineReport) {
		if r.Recovered == 0 {
			damaged++
		}
	}}
	if tell {
		opt.Buffer = a.window
	}
	var runs archiveSums
	for rec, err := range jsonl.Read(a.ctx, r, opt) {
		if err != nil {
			return end, err
		}
		line, same, err := l.line(rec)
		if err == nil && isArchive {
			line, same, err = runs.line(line, same)
		}
		if err == nil {
			err = yield(rec, line, same)
		}
		if err != nil {
			return end, err
		}
	}
	if tell {
		a.rep.Secrets += l.clean.secrets
		a.rep.Damaged += damaged
	}
	return end, nil
}

// copyText redacts a text as a whole, or a very long one in pieces of whole
// lines; what is no text stays as it is.
func (a *archiver) copyText(w io.Writer, r io.Reader, tell bool) error {
	buf := make([]byte, 0, 64<<10)
	for {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		piece, err := readPiece(r, buf)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		cut := len(piece)
		if !end {
			cut = pieceEnd(piece)
		}
		text := piece[:cut]
		if utf8.Valid(text) {
			clean, n := a.opt.Redact(string(text))
			if n > 0 {
				text = []byte(clean)
			}
			if tell {
				a.rep.Secrets += n
			}
		}
		if _, err := w.Write(text); err != nil || end {
			return err
		}
		buf = append(piece[:0], piece[cut:]...)
	}
}

// readPiece fills a piece up to chunkBytes; io.EOF if that is the last.
func readPiece(r io.Reader, piece []byte) ([]byte, error) {
	for len(piece) < chunkBytes {
		if len(piece) == cap(piece) {
			piece = append(piece, 0)[:len(piece)]
		}
		n, err := r.Read(piece[len(piece):min(cap(piece), chunkBytes)])
		piece = piece[:len(piece)+n]
		if err != nil {
			return piece, err
		}
	}
	return piece, nil
}

// pieceEnd is where a piece is best cut: at an empty line, at a line's end, at
// a character's.
func pieceEnd(p []byte) int {
	half := len(p) / 2
	if i := bytes.LastIndex(p[half:], []byte("\n\n")); i >= 0 {
		return half + i + 2
	}
	if i := bytes.LastIndexByte(p[half:], '\n'); i >= 0 {
		return half + i + 1
	}
	end := len(p)
	for end > half && !utf8.RuneStart(p[end-1]) {
		end--
	}
	return max(end-1, 1)
}

// tells reports whether data is a text with a secret in it.
func (a *archiver) tells(data []byte) bool {
	if a.opt.Redact == nil || !utf8.Valid(data) {
		return false
	}
	_, n := a.opt.Redact(string(data))
	return n > 0
}

// spool counts what is written and keeps it if it isn't much.
type spool struct {
	kept bytes.Buffer
	size int64
	over bool
}

// Write takes p.
func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.over = s.over || s.size > spoolBytes; s.over {
		s.kept = bytes.Buffer{}
		return len(p), nil
	}
	return s.kept.Write(p)
}
