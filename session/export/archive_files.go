package export

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// belonging is a file of a session and its name below the session's directory.
type belonging struct{ path, name string }

// besides are the endings of the files beside a transcript that say what it
// doesn't. What is made from it, or about it in its place, is left out.
var besides = [...]string{".archive.ndjson", ".archive.ndjson.zst", ".psm.ndjson"}

// belongings are the files of a session, the transcript last.
func belongings(fsys storage.FS, transcript string) ([]belonging, error) {
	base := filepath.Base(transcript)
	stem := strings.TrimSuffix(transcript, ".jsonl")
	var files []belonging
	for _, end := range besides {
		info, err := fsys.Lstat(stem + end)
		if err == nil && info.Kind == storage.Regular {
			files = append(files, belonging{stem + end, filepath.Base(stem + end)})
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	files, err := below(fsys, files, stem, filepath.Base(stem), 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return append(files, belonging{transcript, base}), err
}

// below adds the files under a directory. Links and devices are no session's.
func below(fsys storage.FS, files []belonging, dir, name string, depth int) ([]belonging, error) {
	if info, err := fsys.Lstat(dir); err != nil || info.Kind != storage.Dir || depth > maxNameParts/2 {
		return files, err
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return files, err
	}
	for _, e := range entries {
		if isMade(e.Name) {
			continue
		}
		path, name := filepath.Join(dir, e.Name), name+"/"+e.Name
		switch e.Info.Kind {
		case storage.Regular:
			files = append(files, belonging{path, name})
		case storage.Dir:
			if files, err = below(fsys, files, path, name, depth+1); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

// isMade tells files that are made anew where they are missing, or speak of
// their place.
func isMade(name string) bool {
	_, temporary := storage.TempOf(name)
	for _, end := range []string{".lease", ".meta.json", ".leaf.json", ".psm.status.json"} {
		temporary = temporary || strings.HasSuffix(name, end)
	}
	return temporary
}

// namer makes names without secrets, each different from the others.
type namer struct {
	redact  func(string) (string, int)
	taken   map[string]bool
	secrets *int
}

func (n *namer) text(s string) string {
	if n.redact == nil {
		return s
	}
	s, found := n.redact(s)
	*n.secrets += found
	return s
}

func (n *namer) name(s string) string {
	made := n.text(s)
	if made != s {
		made = strings.NewReplacer("[", "_", "]", "_").Replace(made)
	}
	ext := filepath.Ext(made)
	for i, base := 2, strings.TrimSuffix(made, ext); n.taken[made]; i++ {
		made = fmt.Sprintf("%s-%d%s", base, i, ext)
	}
	n.taken[made] = true
	return made
}

const (
	spoolBytes = 16 << 20 // of a redacted file are kept, so that it need not be made twice
	chunkBytes = 4 << 20  // of a long text are redacted at a time
)

// redacted is a member without its secrets. Its size is known only once it was
// made, so a long one is made twice.
func (a *archiver) redacted(m member, f storage.File) (member, error) {
	read := func() io.Reader { return io.NewSectionReader(f, 0, m.size) }
	copyTo := func(w io.Writer, tell bool) error { return a.copyText(w, read(), tell) }
	switch {
	case strings.HasSuffix(m.name, ".ndjson.zst"):
		m.name = strings.TrimSuffix(m.name, ".zst")
		copyTo = func(w io.Writer, tell bool) error {
			z, err := zstd.NewReader(read(), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderConcurrency(1))
			if err != nil {
				return err
			}
			defer z.Close()
			return a.copyLines(w, z, tell)
		}
	case strings.HasSuffix(m.name, ".jsonl"), strings.HasSuffix(m.name, ".ndjson"):
		copyTo = func(w io.Writer, tell bool) error { return a.copyLines(w, read(), tell) }
	}
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

// copyLines redacts records line by line. tell says that what is found counts.
func (a *archiver) copyLines(w io.Writer, r io.Reader, tell bool) error {
	l := lineWriter{ctx: a.ctx, w: w, opt: LinesOptions{Redact: a.opt.Redact}, clean: newCleaner(a.opt.Redact), rep: &Report{}}
	damaged := 0
	opt := jsonl.ReadOptions{MaxLine: a.opt.MaxLine, Report: func(r jsonl.LineReport) {
		if r.Recovered == 0 {
			damaged++
		}
	}}
	for rec, err := range jsonl.Read(a.ctx, r, opt) {
		if err == nil {
			err = l.record(rec)
		}
		if err != nil {
			return err
		}
	}
	if tell {
		a.rep.Secrets += l.clean.secrets
		a.rep.Damaged += damaged
	}
	return nil
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
