package session

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// writeRun folds the checkpoints and appends a run to the archive, synced. A
// run of the same bytes that is there already, since a kill came after it, is
// used again.
func (j *archiveJob) writeRun(ctx context.Context) (err error) {
	if j.opt.DryRun {
		return j.run(ctx, nil, 0)
	}
	f, created, err := j.openArchive()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	runs, err := archiveRuns(ctx, f)
	if err != nil {
		return err
	}
	if n := len(runs); n > 0 && runs[n-1].sum == j.scan.sum && runs[n-1].size == j.scan.size && runs[n-1].moved == j.plan.Moved {
		return j.again(ctx, &runs[n-1])
	}
	w := storage.NewLineWriter(f)
	if err := closeLine(f, w); err != nil {
		return err
	}
	if err := j.run(ctx, w, len(runs)+1); err != nil {
		return err
	}
	if err := w.Sync(); err != nil {
		return err
	}
	if created {
		return j.st.fsys.SyncDir(filepath.Dir(j.path))
	}
	return nil
}

func (j *archiveJob) openArchive() (f storage.File, created bool, err error) {
	name := ArchivePath(j.path)
	f, err = j.st.fsys.Append(name)
	if !missing(err) {
		return f, false, err
	}
	if f, err = j.st.fsys.Create(name); err != nil {
		return nil, false, err
	}
	if err = f.Close(); err != nil {
		return nil, false, err
	}
	f, err = j.st.fsys.Append(name)
	return f, true, err
}

// closeLine ends a line that a crash cut off.
func closeLine(f storage.File, w *storage.LineWriter) error {
	st, err := f.Stat()
	if err != nil || st.Size == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], st.Size-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] != '\n' {
		return w.WriteLine(nil)
	}
	return nil
}

// again makes the checkpoints of a run that is there.
func (j *archiveJob) again(ctx context.Context, r *archiveRun) error {
	if err := j.run(ctx, nil, 0); err != nil {
		return err
	}
	if len(j.made) != len(r.checkpoints) {
		return nil
	}
	for i, e := range j.made { // as the run names them
		o := e.Value().Clone()
		o.Set("id", jsonl.StringValue(r.checkpoints[i]))
		j.made[i] = jsonl.NewEntry(o)
	}
	return nil
}

// run goes through the transcript once: each line is written to w, if that is
// not nil, and each entry folded.
func (j *archiveJob) run(ctx context.Context, w *storage.LineWriter, number int) error {
	id := j.scan.header.ID()
	if w != nil {
		head := archiveHead(archiveBegin, id, number, jsonl.Member{Key: "time", Value: jsonl.StringValue(j.st.timestamp())})
		if err := w.WriteLine(head[:len(head)-1]); err != nil {
			return err
		}
	}
	p := &lineCopy{j: j, w: w, r: bufio.NewReaderSize(io.NewSectionReader(j.file, 0, j.scan.size), 1<<20), fold: j.plan.Fold(id)}
	tail, err := p.all(ctx)
	if err != nil {
		return err
	}
	if err := j.makeCheckpoints(ctx, p.fold); err != nil || w == nil {
		return err
	}
	ids := make([]jsonl.Value, len(j.made))
	for i, e := range j.made {
		id, _ := e.ID()
		ids[i] = jsonl.StringValue(id)
	}
	end := archiveHead(archiveEnd, id, number,
		jsonl.Member{Key: "size", Value: jsonl.NumberValue(float64(j.scan.size))},
		jsonl.Member{Key: "sha256", Value: jsonl.StringValue(j.scan.sum)},
		jsonl.Member{Key: "lines", Value: jsonl.NumberValue(float64(len(j.scan.lines)))},
		jsonl.Member{Key: "moved", Value: jsonl.NumberValue(float64(j.plan.Moved))},
		jsonl.Member{Key: "tail", Value: jsonl.StringValue(tail)},
		jsonl.Member{Key: "checkpoints", Value: jsonl.ArrayValue(ids...)})
	return w.WriteLine(end[:len(end)-1])
}

func (j *archiveJob) makeCheckpoints(ctx context.Context, fold *checkpoint.ArchiveFold) error {
	j.made = nil
	used := map[string]bool{}
	for _, d := range fold.Checkpoints() {
		id := j.st.newEntryID(func(id string) bool {
			known := func(n checkpoint.Node) bool { return n.ID == id }
			return used[id] || slices.ContainsFunc(j.scan.nodes, known)
		})
		used[id] = true
		e := jsonl.NewEntry(jsonl.DataEntry(jsonl.Base{ID: id, Timestamp: j.st.timestamp()}, d))
		j.made = append(j.made, e)
	}
	if len(j.made) == 0 || j.opt.DryRun {
		return nil
	}
	first, err := j.st.seq.reserve(ctx, len(j.made), filepath.Dir(j.path))
	for i, e := range j.made {
		setEventID(e, first+jsonl.EventID(i))
	}
	return err
}

// lineCopy copies the lines of a transcript to an archive and folds them.
type lineCopy struct {
	j    *archiveJob
	w    *storage.LineWriter
	r    *bufio.Reader
	fold *checkpoint.ArchiveFold

	maker  jsonl.EntryMaker
	fields jsonl.Fields
	buf    []byte
	out    []byte
	at     int64
}

// all copies all lines; tail is the white space after the last one.
func (p *lineCopy) all(ctx context.Context) (tail string, err error) {
	lines := p.j.scan.lines
	line := ArchivedLine{}
	before, number := "", 1
	for i := range lines {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if i == 0 {
			if before, err = p.gap(lines[0].offset); err != nil {
				return "", err
			}
		}
		number += strings.Count(before, "\n")
		l := &lines[i]
		if cap(p.buf) < int(l.size) {
			p.buf = make([]byte, 0, max(int(l.size), 2*cap(p.buf)))
		}
		p.buf = p.buf[:l.size]
		if _, err := io.ReadFull(p.r, p.buf); err != nil {
			return "", err
		}
		p.at += int64(l.size)
		end := p.j.scan.size
		if i+1 < len(lines) {
			end = lines[i+1].offset
		}
		gap, err := p.gap(end)
		if err != nil {
			return "", err
		}
		after, rest, found := strings.Cut(gap, "\n")
		if found {
			after += "\n"
		}
		moved := l.node >= 0 && p.j.plan.Moves[l.node]
		line = ArchivedLine{Line: number, Moved: moved, Before: before, After: after, Record: p.buf}
		if err := p.take(l, &line); err != nil {
			return "", err
		}
		before = rest
		number++
	}
	return before, nil
}

// gap reads the white space up to an offset.
func (p *lineCopy) gap(to int64) (string, error) {
	if to == p.at+1 {
		b, err := p.r.ReadByte()
		p.at = to
		if err == nil && b == '\n' {
			return "\n", nil
		}
		if err != nil {
			return "", err
		}
		return blank(string(b))
	}
	b := make([]byte, to-p.at)
	_, err := io.ReadFull(p.r, b)
	p.at = to
	if err != nil {
		return "", err
	}
	return blank(string(b))
}

// blank refuses text around records that an archive can't keep as it is.
func blank(gap string) (string, error) {
	if strings.Trim(gap, " \t\r\n\ufeff") != "" {
		return "", notArchivable("text stands behind a record")
	}
	return gap, nil
}

// take writes one line and folds its entry.
func (p *lineCopy) take(l *scanLine, line *ArchivedLine) error {
	if p.w != nil {
		p.out = line.append(p.out[:0])
		if err := p.w.WriteLine(p.out[:len(p.out)-1]); err != nil {
			return err
		}
	}
	if l.node < 0 {
		return nil
	}
	rec := jsonl.Record{Line: line.Line, Offset: l.offset, End: l.offset + int64(l.size), Raw: p.buf, Fields: &p.fields}
	if !p.fields.Scan(p.buf) {
		v, _, err := jsonl.Parse(p.buf)
		if err != nil {
			return err
		}
		p.fields.Of(p.buf, v)
	}
	e := p.maker.Entry(&rec)
	if message, patched := p.j.scan.patches[l.node]; patched {
		e.SetMessage(message)
	}
	p.fold.Add(int(l.node), e)
	return nil
}
