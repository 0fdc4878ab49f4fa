package storage

import "errors"

// lineBuffer is how much a LineWriter gathers before it writes.
const lineBuffer = 64 << 10

// errOpenLine is a line that would end in its middle.
var errOpenLine = errors.New("write line: it holds a line end")

// LineWriter writes lines to a file through a buffer. The first error is kept
// and answers every later call, since after it the file's end is not known.
// For one goroutine.
type LineWriter struct {
	f   File
	buf []byte
	err error
}

// NewLineWriter returns a LineWriter that writes where f's next write lands.
// Close closes f.
func NewLineWriter(f File) *LineWriter { return &LineWriter{f: f} }

// WriteLine adds line and a line end. line itself must have none; it may be
// used again once WriteLine returns.
func (w *LineWriter) WriteLine(line []byte) error {
	if w.err != nil {
		return w.err
	}
	for _, c := range line {
		if c == '\n' {
			return w.fail(errOpenLine)
		}
	}
	if len(w.buf) > 0 && len(w.buf)+len(line)+1 > lineBuffer {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.buf = append(append(w.buf, line...), '\n')
	if len(w.buf) >= lineBuffer {
		return w.Flush()
	}
	return nil
}

// Flush writes what is buffered, in one write.
func (w *LineWriter) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	if _, err := w.f.Write(w.buf); err != nil {
		return w.fail(err)
	}
	if cap(w.buf) > 2*lineBuffer { // one huge line is no reason to keep its room
		w.buf = nil
	}
	w.buf = w.buf[:0]
	return nil
}

// Sync flushes and makes the file durable.
func (w *LineWriter) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.f.Sync(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Close flushes, without syncing, and closes the file whatever happened
// before. It answers the first error of the writer's life.
func (w *LineWriter) Close() error {
	err := w.Flush()
	if closeErr := w.f.Close(); err == nil && closeErr != nil {
		err = w.fail(closeErr)
	}
	return err
}

// Err is the first error, nil as long as all went well.
func (w *LineWriter) Err() error { return w.err }

func (w *LineWriter) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}
