package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const startBuffer = 64 << 10

// window is the part of a file that is in memory: from the line that is being
// read to as far as it took to see its end.
type window struct {
	src     io.Reader
	buf     []byte
	pos     int   // where the current line begins in buf
	origin  int64 // original offset of buf[pos]
	taken   int64 // UTF-8 bytes before buf[pos]; differs from origin in UTF-16 files
	line    int   // number of the current line
	maxLine int64
	utf16   bool
	eof     bool
	err     error
	size    int64      // where in the file src is
	ahead   *lookAhead // nil where the source can only be read in order
}

// rest is what is in memory from the current line on.
func (w *window) rest() []byte { return w.buf[w.pos:] }

// fill reads more; false means that there is no more or that it failed.
func (w *window) fill(ctx context.Context) bool {
	if w.eof || w.err != nil {
		return false
	}
	if w.err = ctx.Err(); w.err != nil {
		return false
	}
	if len(w.buf) == cap(w.buf) {
		w.room()
	}
	for range 100 {
		n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		if errors.Is(err, io.EOF) {
			w.eof = true
		} else if err != nil {
			w.err = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	w.err = io.ErrNoProgress
	return false
}

// room makes place at the end of buf: by moving what is left to the front, or
// by a larger buffer if that is little.
func (w *window) room() {
	left := len(w.buf) - w.pos
	to := w.buf[:0]
	if left >= cap(w.buf)/2 {
		to = make([]byte, 0, max(2*cap(w.buf), startBuffer))
	}
	w.buf = append(to, w.buf[w.pos:]...)
	w.pos = 0
}

// What span found.
type lineState uint8

const (
	lineWhole lineState = iota
	lineLong            // past the limit
	lineNone            // the file's end, or an error
)

// span looks for the end of the line that begins at byte from of the window:
// n bytes without the line end, and whether there is one.
func (w *window) span(ctx context.Context, from int) (n int, ended bool, state lineState) {
	bound := w.maxLine
	if w.utf16 {
		bound += bound / 2 // a UTF-16 unit takes up to three bytes
	}
	measured := w.ahead == nil || w.utf16
	for seen := from; ; {
		rest := w.rest()
		if i := bytes.IndexByte(rest[seen:], '\n'); i >= 0 {
			n, ended = seen+i-from, true
			break
		}
		seen = len(rest)
		if int64(seen-from) > bound {
			return 0, false, lineLong
		}
		if !measured && seen-from > measuredLine {
			if measured = true; !w.measure(ctx, seen-from) {
				return 0, false, lineLong
			}
		}
		if !w.fill(ctx) {
			if w.err != nil || seen == from {
				return 0, false, lineNone
			}
			n = seen - from
			break
		}
	}
	if w.width(w.rest()[from:from+n]) > w.maxLine {
		return n, ended, lineLong
	}
	return n, ended, lineWhole
}

// width is how many bytes of the file the text took.
func (w *window) width(b []byte) int64 {
	if w.utf16 {
		return utf16Width(b)
	}
	return int64(len(b))
}

// offset is where byte at of the window lies in the file.
func (w *window) offset(at int) int64 {
	o := w.origin + w.width(w.rest()[:at])
	if w.utf16 && w.eof && o > w.size {
		return w.size // an odd last byte
	}
	return o
}

// advance goes n bytes and lines line ends on.
func (w *window) advance(n, lines int) {
	w.origin = w.offset(n)
	w.taken += int64(n)
	w.pos += n
	w.line += lines
}

// skipLine goes past the current line without keeping it; false at the end.
func (w *window) skipLine(ctx context.Context) bool {
	for {
		rest := w.rest()
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			w.advance(i+1, 1)
			return true
		}
		w.advance(len(rest), 0)
		if !w.fill(ctx) {
			w.line++
			return false
		}
	}
}

// counter counts what is read through it.
type counter struct {
	src io.Reader
	n   *int64
}

// Read implements io.Reader.
func (c counter) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	*c.n += int64(n)
	return n, err
}

// start looks for a mark at the beginning of the file and drops it. The whole
// of a file that begins with UTF-16LE's is decoded.
func (w *window) start(ctx context.Context, asUTF16 bool) {
	if w.origin > 0 {
		if asUTF16 {
			w.decode()
		}
		return
	}
	for len(w.rest()) < 3 && w.fill(ctx) {
	}
	switch rest := w.rest(); {
	case bytes.HasPrefix(rest, []byte("\xff\xfe")):
		w.pos, w.origin = w.pos+2, 2
		w.decode()
	case bytes.HasPrefix(rest, []byte("\xef\xbb\xbf")):
		w.advance(3, 0)
	}
}

// decode reads everything from here on as UTF-16LE.
func (w *window) decode() {
	have := append([]byte(nil), w.rest()...)
	src := w.src
	if w.eof {
		src = bytes.NewReader(nil)
	}
	w.utf16, w.eof = true, false
	w.src = &utf16Reader{src: io.MultiReader(bytes.NewReader(have), src)}
	w.buf, w.pos = w.buf[:0], 0
}
