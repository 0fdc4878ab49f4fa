package session

import (
	"bufio"
	"context"
	"hash/crc32"
	"io"
	"strings"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// To copy a transcript's lines to an archive is three things: reading and
// wrapping them, writing them, and folding their entries. They are done beside
// one another, a piece of the transcript at a time.

const (
	pieceSize  = 256 << 10 // from how many bytes on a piece is handed on
	pieceCount = 4
)

// piece is a part of what goes to an archive.
type piece struct {
	out   []byte       // lines of the archive
	texts []byte       // records, as far as they are folded
	folds []foldedLine // where they lie
	users atomic.Int32 // who is not done with it
}

// foldedLine is a record that is folded.
type foldedLine struct {
	node, line, from, to int // from and to: in the piece's texts
}

// stage does something with pieces, on a goroutine of its own.
type stage struct {
	pieces chan *piece
	done   chan struct{}
}

// newStage begins a stage; each piece goes to free after its last user. The
// first error ends all through fail; the other pieces are let pass.
func newStage(free chan *piece, fail context.CancelCauseFunc, do func(*piece) error) *stage {
	s := &stage{pieces: make(chan *piece, pieceCount), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		failed := false
		for p := range s.pieces {
			if !failed {
				if err := do(p); err != nil {
					failed = true
					fail(err)
				}
			}
			if p.users.Add(-1) == 0 {
				free <- p
			}
		}
	}()
	return s
}

func (s *stage) end() {
	close(s.pieces)
	<-s.done
}

// copyLines copies all lines to w, if that is not nil, and folds their entries.
// tail is the white space after the last one.
func (j *archiveJob) copyLines(ctx context.Context, w io.Writer, fold *checkpoint.ArchiveFold) (tail string, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	free := make(chan *piece, pieceCount)
	for range pieceCount {
		free <- &piece{}
	}
	f := &lineFold{j: j, fold: fold}
	stages := []*stage{newStage(free, fail, f.piece)}
	if w != nil {
		stages = append(stages, newStage(free, fail, func(p *piece) error {
			_, err := w.Write(p.out)
			return err
		}))
	}
	c := &lineCopy{ctx: ctx, j: j, r: bufio.NewReaderSize(io.NewSectionReader(j.file, 0, j.scan.size), pieceSize),
		wraps: w != nil, free: free, stages: stages, table: castagnoli()}
	tail, err = c.all()
	for _, s := range stages {
		s.end()
	}
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if err == nil && c.crc != j.scan.crc {
		err = jsonl.ErrGrown // it was written into: these are not the bytes that the plan is for
	}
	return tail, err
}

// lineCopy reads the lines of a transcript and wraps them.
type lineCopy struct {
	ctx    context.Context // that of copyLines, in which it lives
	j      *archiveJob
	r      *bufio.Reader
	wraps  bool
	free   chan *piece
	stages []*stage
	table  *crc32.Table

	p    *piece
	buf  []byte
	at   int64
	crc  uint32
	line ArchivedLine
}

// all goes through all lines; tail is the white space after the last one.
func (c *lineCopy) all() (tail string, err error) {
	c.take()
	lines := c.j.scan.lines
	before, number := "", 1
	for i := range lines {
		if i == 0 {
			if before, err = c.gap(lines[0].offset); err != nil {
				return "", err
			}
		}
		if before != "" {
			number += strings.Count(before, "\n")
		}
		l := &lines[i]
		if cap(c.buf) < int(l.size) {
			c.buf = make([]byte, 0, max(int(l.size), 2*cap(c.buf)))
		}
		c.buf = c.buf[:l.size]
		if err := c.read(c.buf); err != nil {
			return "", err
		}
		end := c.j.scan.size
		if i+1 < len(lines) {
			end = lines[i+1].offset
		}
		gap, err := c.gap(end)
		if err != nil {
			return "", err
		}
		after, rest := gap, ""
		if gap != "\n" {
			var found bool
			if after, rest, found = strings.Cut(gap, "\n"); found {
				after += "\n"
			}
		}
		moved := l.node >= 0 && c.j.plan.Moves[l.node]
		c.line = ArchivedLine{Line: number, Moved: moved, Before: before, After: after, Record: c.buf}
		if err := c.add(l); err != nil {
			return "", err
		}
		before = rest
		number++
	}
	c.hand()
	return before, nil
}

func (c *lineCopy) read(b []byte) error {
	_, err := io.ReadFull(c.r, b)
	c.at += int64(len(b))
	c.crc = crc32.Update(c.crc, c.table, b)
	return err
}

// gap reads the white space up to an offset. It refuses text around records
// that an archive can't keep as it is.
func (c *lineCopy) gap(to int64) (string, error) {
	if to == c.at {
		return "", nil
	}
	var one [1]byte
	b := one[:]
	if n := to - c.at; n > 1 {
		b = make([]byte, n)
	}
	if err := c.read(b); err != nil {
		return "", err
	}
	if len(b) == 1 && b[0] == '\n' {
		return "\n", nil
	}
	if strings.Trim(string(b), " \t\r\n\ufeff") != "" {
		return "", notArchivable("text stands behind a record")
	}
	return string(b), nil
}

// add puts a line into the piece.
func (c *lineCopy) add(l *scanLine) error {
	if c.wraps {
		c.p.out = c.line.append(c.p.out)
	}
	if l.node >= 0 && c.j.scan.nodes[l.node].Folds() {
		from := len(c.p.texts)
		c.p.texts = append(c.p.texts, c.buf[:l.textAt]...) // the long text says nothing to a fold
		c.p.texts = append(c.p.texts, c.buf[l.textAt+l.textLen:]...)
		c.p.folds = append(c.p.folds, foldedLine{int(l.node), c.line.Line, from, len(c.p.texts)})
	}
	if len(c.p.out) < pieceSize && len(c.p.texts) < pieceSize {
		return nil
	}
	c.hand()
	c.take()
	return context.Cause(c.ctx)
}

// take begins a piece.
func (c *lineCopy) take() {
	c.p = <-c.free
	if cap(c.p.out) > 4*pieceSize || cap(c.p.texts) > 4*pieceSize {
		c.p = &piece{} // a huge line is no reason to keep its room
	}
	c.p.out, c.p.texts, c.p.folds = c.p.out[:0], c.p.texts[:0], c.p.folds[:0]
}

// hand hands the piece on.
func (c *lineCopy) hand() {
	c.p.users.Store(int32(len(c.stages)))
	for _, s := range c.stages {
		s.pieces <- c.p
	}
}

// lineFold folds the entries of pieces.
type lineFold struct {
	j      *archiveJob
	fold   *checkpoint.ArchiveFold
	maker  jsonl.EntryMaker
	fields jsonl.Fields
}

func (f *lineFold) piece(p *piece) error {
	for i := range p.folds {
		l := &p.folds[i]
		raw := p.texts[l.from:l.to]
		if !f.fields.Scan(raw) {
			v, _, err := jsonl.Parse(raw)
			if err != nil {
				return err
			}
			f.fields.Of(raw, v)
		}
		e := f.maker.Entry(&jsonl.Record{Line: l.line, Raw: raw, Fields: &f.fields})
		if message, patched := f.j.scan.patches[int32(l.node)]; patched {
			e.SetMessage(message)
			f.fold.Add(l.node, e, nil)
			continue
		}
		f.fold.Add(l.node, e, &f.fields)
	}
	return nil
}
