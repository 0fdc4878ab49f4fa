package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

const (
	chunkBytes = 256 << 10 // read at once; stays in the processor's cache
	// keptBytes is the longest buffer a worker keeps for its next file.
	keptBytes = 4 << 20
)

// errOdd is a line that only the lenient reader can judge.
var errOdd = errors.New("line is no record")

// scanWorker searches one file after the other.
type scanWorker struct {
	*scan
	buf    []byte
	fields jsonl.Fields
	text   []byte // to decode in
	folded []byte
	hits   []*textHit // of the file
}

// file searches one file.
func (w *scanWorker) file(ctx context.Context, file *ScanFile) error {
	if !file.Newest.IsZero() && w.tooOld(file.Newest.UnixMilli()) {
		return nil
	}
	f, err := w.fsys.Open(file.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	w.hits = w.hits[:0]
	err = w.lines(ctx, f, file)
	if err == nil && len(w.hits) > 0 {
		err = w.unlessPatched(f)
	}
	if errors.Is(err, errOdd) {
		err = w.lenient(ctx, io.NewSectionReader(f, 0, math.MaxInt64), file)
	}
	if file.Archived {
		err = errors.Join(err, w.archive(ctx, f, file))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.top.add(w.hits)
	return err
}

func (w *scanWorker) tooOld(ms int64) bool {
	return ms < w.top.oldest.Load()
}

// lines goes through the file in chunks of whole lines.
func (w *scanWorker) lines(ctx context.Context, f storage.File, file *ScanFile) error {
	if w.buf == nil || cap(w.buf) > keptBytes {
		w.buf = make([]byte, chunkBytes)
	}
	held, line, first := 0, 1, true
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Read(w.buf[held:])
		held += n
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if first && held >= 2 {
			if w.buf[0] == 0xFF && w.buf[1] == 0xFE {
				return errOdd // UTF-16
			}
			first = false
		}
		whole := held
		if !end {
			if held < len(w.buf) && n > 0 && held < chunkBytes {
				continue
			}
			whole = bytes.LastIndexByte(w.buf[:held], '\n') + 1
		}
		if err := w.chunk(w.buf[:whole], line, file); err != nil || end {
			return err
		}
		line += bytes.Count(w.buf[:whole], []byte{'\n'})
		held = copy(w.buf, w.buf[whole:held])
		if held == len(w.buf) {
			if int64(held) > w.opt.MaxLine {
				return errOdd // the lenient reader passes over it
			}
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
	}
}

// chunk judges the lines of data that may match; line is the first one's
// number.
func (w *scanWorker) chunk(data []byte, line int, file *ScanFile) error {
	c := newCursors()
	counted := 0
	for pos := 0; pos < len(data); {
		at := w.filter.next(data, pos, &c)
		if at >= len(data) {
			break
		}
		start := pos + bytes.LastIndexByte(data[pos:at], '\n') + 1
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i
		}
		pos = end + 1
		text := bytes.TrimRight(data[start:end], " \t\r")
		if len(bytes.TrimLeft(text, " \t\r")) == 0 {
			continue
		}
		if text[0] != '{' || int64(end-start) > w.opt.MaxLine || !w.fields.Scan(text) {
			return errOdd
		}
		line += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		if w.fields.Type.Equal("entry_patch") {
			return errOdd
		}
		if h := w.judge(&w.fields, text, placeOf(&w.fields, line), file); h != nil {
			w.hits = append(w.hits, h)
		}
	}
	return nil
}

// unlessPatched gives errOdd if the file may have patches: what they replace
// is no longer said.
func (w *scanWorker) unlessPatched(f storage.File) error {
	const patch = `entry_patch`
	mark := jsonl.NewFinder([]byte(patch))
	for off, held := int64(0), 0; ; {
		n, err := f.ReadAt(w.buf[held:], off)
		off += int64(n)
		if mark.Index(w.buf[:held+n]) >= 0 {
			return errOdd
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		held = copy(w.buf, w.buf[max(0, held+n-len(patch)):held+n])
	}
}
