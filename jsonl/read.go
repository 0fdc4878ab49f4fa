package jsonl

import (
	"bytes"
	"context"
	"io"
	"iter"
)

// Record is one object of a transcript as Read finds it.
type Record struct {
	Line        int     // 1-based physical line where the value begins
	EndLine     int     // and where it ends; with Terminated the line at End is the next one
	Offset, End int64   // original bytes: where the value begins; just after its line end, or the file's end
	Raw         []byte  // the value's bytes as UTF-8; valid until the next record
	Fields      *Fields // filled; valid until the next record
	Recovered   bool    // taken from a damaged line
	Terminated  bool    // a line end follows; false for all but the last record of a line
}

// ReadOptions says how Read reads. The zero value reads a whole file.
type ReadOptions struct {
	MaxLine   int64            // longest line in original bytes, line end not counted; 0 is DefaultMaxLine
	Offset    int64            // where in the file r begins: 0, or the End of a Terminated record
	FirstLine int              // the number of the line at Offset; 0 is 1
	UTF16     bool             // with an Offset: the file is UTF-16LE, as ReadEnd.UTF16 said
	Report    func(LineReport) // is told of each damaged line, before its records come
	Buffer    []byte           // memory to work in, or nil; may be given again after the reading
	End       *ReadEnd         // is filled in when the whole was read
}

// ReadEnd is where a reading ended.
type ReadEnd struct {
	Size       int64 // the file's length in original bytes
	Line       int   // the number of the last line; 0 for an empty file
	Terminated bool  // the file ends in a line end, or is empty
	UTF16      bool  // the file is UTF-16LE
}

// Read yields the records of a session file leniently, in file order. A value
// may span lines. A line that yields no object is reported and skipped;
// complete records that stand on a damaged line, or behind another object, are
// found (Recovered). Objects of any shape are records if they begin a line;
// scalars, arrays and null are malformed lines. A record's Raw and Fields are
// valid until the next one.
//
// Time is linear in the file's size whatever it holds. Memory is bounded by
// the longest line, or the longest value over several lines, up to MaxLine; of
// a line past MaxLine little is kept if r can also be read at any place (is an
// io.ReaderAt and an io.Seeker).
// The only errors are those of r and ctx. Source: behaviour part 2, decision 3.
func Read(ctx context.Context, r io.Reader, opt ReadOptions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		rd := newReader(ctx, r, opt)
		stopped := false
		take := func(rec Record, err error) bool {
			stopped = !yield(rec, err)
			return !stopped
		}
		for rd.next(take) {
		}
		if rd.err != nil && !stopped {
			yield(Record{}, rd.err)
		}
	}
}

type reader struct {
	window
	ctx    context.Context
	opt    ReadOptions
	walker walker
	notes  []note // what a failed attempt learned about lines still to come
	fields Fields
	found  []extent
	ended  bool // the last line passed had a line end
}

// extent is a value's place in the window.
type extent struct{ from, to int }

func newReader(ctx context.Context, r io.Reader, opt ReadOptions) *reader {
	rd := &reader{ctx: ctx, opt: opt, ended: true}
	rd.origin, rd.taken = opt.Offset, opt.Offset
	rd.line = max(opt.FirstLine, 1)
	if rd.maxLine = opt.MaxLine; rd.maxLine <= 0 {
		rd.maxLine = DefaultMaxLine
	}
	rd.buf = opt.Buffer[:0]
	rd.size = opt.Offset
	rd.src = counter{src: r, n: &rd.size}
	rd.ahead = aheadOf(r, opt.Offset)
	rd.start(ctx, opt.UTF16)
	return rd
}

// next takes the next line, or value over several lines; false ends the reading.
func (r *reader) next(yield func(Record, error) bool) bool {
	n, ended, state := r.span(r.ctx, 0)
	switch state {
	case lineNone:
		r.finish()
		return false
	case lineLong:
		r.report(LineReport{Line: r.line, Reason: TooLong})
		r.ended = r.skipLine(r.ctx)
		return r.err == nil
	}
	r.ended = ended
	line := r.rest()[:n]
	if n > 0 && line[0] == '{' && r.fields.Scan(line) {
		return r.one(yield, n, ended)
	}
	first := 0
	for first < n && isSpace(line[first]) {
		first++
	}
	if first == n {
		r.pass(n, ended, 1)
		return true
	}
	return r.slow(yield, n, ended, first)
}

// one yields a line that is one object.
func (r *reader) one(yield func(Record, error) bool, n int, ended bool) bool {
	raw := bytes.TrimRight(r.rest()[:n], " \t\r")
	rec := Record{
		Line: r.line, EndLine: r.line, Offset: r.origin, Raw: raw, Fields: &r.fields, Terminated: ended,
	}
	r.pass(n, ended, 1)
	rec.End = r.origin
	return yield(rec, nil)
}

// pass goes past a line of n bytes and its line end; lines is how many
// physical lines that were. The window's bytes stay until the next fill.
func (r *reader) pass(n int, ended bool, lines int) {
	if ended {
		n++
	}
	r.advance(n, lines)
}

// finish fills in where the reading ended.
func (r *reader) finish() {
	if r.opt.End == nil || r.err != nil {
		return
	}
	*r.opt.End = ReadEnd{Size: r.origin, Line: r.line - 1, Terminated: r.ended, UTF16: r.utf16}
}

func (r *reader) report(l LineReport) {
	if r.opt.Report != nil {
		r.opt.Report(l)
	}
}

// slow takes a line that is not plainly one object: n bytes, first of them no
// white space.
func (r *reader) slow(yield func(Record, error) bool, n int, ended bool, first int) bool {
	r.found = r.found[:0]
	to, last, ok := r.attempt(n, ended, first)
	if r.err != nil {
		return false
	}
	if !ok {
		r.recover(r.rest()[:n], first)
		r.reportFailed(n, ended, first)
		return r.yieldFound(yield, group{lineEnd: n, ended: ended, lines: 1, damaged: true})
	}
	lines := last - r.line + 1
	lineEnd := n
	if lines > 1 {
		lineStart := bytes.LastIndexByte(r.rest()[:to], '\n') + 1
		var m int
		m, ended, _ = r.span(r.ctx, lineStart)
		lineEnd = lineStart + m
		r.ended = ended
	}
	object := r.rest()[first] == '{'
	if object {
		r.found = append(r.found, extent{first, to})
	}
	r.recover(r.rest()[:lineEnd], to)
	g := group{lineEnd: lineEnd, ended: ended, lines: lines, own: object}
	g.damaged = r.reportRest(to, last, g)
	return r.yieldFound(yield, g)
}

// reportFailed reports a line whose value failed.
func (r *reader) reportFailed(n int, ended bool, first int) {
	if len(r.found) > 0 {
		r.report(LineReport{Line: r.line, Reason: Recovered, Recovered: len(r.found)})
		return
	}
	reason := NotJSON
	switch {
	case len(bytes.Trim(r.rest()[first:n], "\x00 \t\r")) == 0:
		reason = OnlyNUL
	case !ended:
		reason = TruncatedTail
	}
	r.report(LineReport{Line: r.line, Reason: reason})
}

// reportRest reports what is odd about a value that ended at byte to of the
// window, on line last, and about the rest of that line: text that holds no
// record is ignored, as the original does, but NULs are damage.
func (r *reader) reportRest(to, last int, g group) (damaged bool) {
	rest := r.rest()[to:g.lineEnd]
	if !g.own && (len(r.found) == 0 || last > r.line) {
		reason := NotJSON
		switch {
		case len(bytes.Trim(rest, " \t\r")) == 0 || last > r.line:
			reason = NotObject
		case !g.ended:
			reason = TruncatedTail
		}
		r.report(LineReport{Line: r.line, Reason: reason})
	}
	damaged = len(r.found) > 1 || (!g.own && len(r.found) > 0) || (g.own && bytes.IndexByte(rest, 0) >= 0)
	if damaged {
		r.report(LineReport{Line: last, Reason: Recovered, Recovered: len(r.found)})
	}
	return damaged
}

// group is one or more physical lines whose values r.found holds.
type group struct {
	lineEnd int  // in the window
	ended   bool // a line end follows
	lines   int
	own     bool // the first value found is the one that begins the first line
	damaged bool
}

// yieldFound yields the values found on the lines of a group and goes past them.
func (r *reader) yieldFound(yield func(Record, error) bool, g group) bool {
	text, first := r.rest(), r.line
	places := make([][2]int64, len(r.found))
	for i, x := range r.found {
		places[i] = [2]int64{r.offset(x.from), r.offset(x.to)}
	}
	r.pass(g.lineEnd, g.ended, g.lines)
	for i, x := range r.found {
		last := first + g.lines - 1
		rec := Record{
			Line: last, EndLine: last, Offset: places[i][0], End: places[i][1],
			Raw: text[x.from:x.to], Fields: &r.fields, Recovered: g.damaged,
		}
		if i == 0 && g.own {
			rec.Line = first
		}
		if i == len(r.found)-1 {
			rec.End, rec.Terminated = r.origin, g.ended
		}
		r.fields.read(rec.Raw)
		if !yield(rec, nil) {
			return false
		}
	}
	return true
}
