package jsonl

import (
	"bytes"
	"context"
	"io"
)

// A line longer than this is measured before it is kept, where the source can
// be read at any place: one past the limit takes no memory then, and for any
// other there is room at once.
const measuredLine = 4 << 20

// measureChunk is how much is read at a time to find a line's end.
const measureChunk = 128 << 10

// lookAhead reads a source without moving it on.
type lookAhead struct {
	src  io.ReaderAt
	base int64 // where in it offset 0 of the file would be
}

// aheadOf is how to look ahead in r, which begins at byte offset of its file;
// nil if that can't be done.
func aheadOf(r io.Reader, offset int64) *lookAhead {
	at, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil
	}
	now, err := at.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	return &lookAhead{src: at, base: now - offset}
}

// toLineEnd is how many bytes stand between byte offset of the file and the
// next line end, or the file's end; more than limit if they are more. What
// can't be read ends the line: who reads it meets the error.
func (l *lookAhead) toLineEnd(ctx context.Context, offset, limit int64) int64 {
	chunk := make([]byte, measureChunk)
	for length := int64(0); ; {
		n, err := l.src.ReadAt(chunk, l.base+offset+length)
		if i := bytes.IndexByte(chunk[:n], '\n'); i >= 0 {
			return length + int64(i)
		}
		length += int64(n)
		if err != nil || n == 0 || length > limit || ctx.Err() != nil {
			return length
		}
	}
}

// measure looks for the end of a line of which have bytes are in memory. It
// reports false if the line is past the limit, and else makes room for it.
func (w *window) measure(ctx context.Context, have int) bool {
	rest := w.ahead.toLineEnd(ctx, w.size, w.maxLine-int64(have))
	if int64(have)+rest > w.maxLine {
		return false
	}
	if need := len(w.rest()) + int(rest) + 1; need > cap(w.buf)-w.pos {
		w.buf = append(make([]byte, 0, need+startBuffer), w.rest()...)
		w.pos = 0
	}
	return true
}
