package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// An archive file holds runs, one for each time that a transcript was archived.
// A run begins with a record that says so, holds every line that the transcript
// had then, and ends with a record that has the sum of the transcript's bytes.
// So a run can be read as the transcript that it was, and undoing it needs
// nothing else. A line is
//
//	{"line":17,"moved":true,"record":{…}}
//
// with the record as it stood, byte for byte, and "moved" if the transcript
// holds it no more. "before" and "after" are there where other white space than
// one line end stood around it. A run without an end was cut off and counts for
// nothing: its transcript is still whole. Archives are only ever appended to.

// archiveEnding ends the name of the file that holds what was archived of a
// transcript, in the place of .jsonl.
const archiveEnding = ".archive.ndjson"

// ArchivePath is the archive of the transcript at path.
func ArchivePath(path string) string { return stemOf(path) + archiveEnding }

// The types of the records around a run.
const (
	archiveBegin = "gjc-index/archive"
	archiveEnd   = "gjc-index/archive_end"
)

// ErrArchive is an archive that can't be read as one.
var ErrArchive = errors.New("archive is damaged")

// ArchivedLine is one line of a transcript as it was.
type ArchivedLine struct {
	Run, Line     int  // numbers from 1
	Moved         bool // the transcript holds it no more
	Before, After string
	Record        []byte // the record, valid until the next line
	Offset        int64  // of the record in the text of its part of the archive: all of it, or a compressed run

	// Checkpoints are the ids of the entries that stand in the transcript for
	// what a run moved. They come with a line without a record, the run's last.
	Checkpoints []string
}

// archiveRun is what a run's end says, and where it lies.
type archiveRun struct {
	number       int
	part         archivePart
	from, to     int64 // bytes of the part's text
	size         int64 // of the transcript as it was
	lines, moved int
	sum          string // SHA-256 of the transcript as it was, hexadecimal
	tail         string // white space after the last line
	checkpoints  []string
}

func (l *ArchivedLine) append(b []byte) []byte {
	b = append(b, `{"line":`...)
	b = strconv.AppendInt(b, int64(l.Line), 10)
	if l.Moved {
		b = append(b, `,"moved":true`...)
	}
	if l.Before != "" {
		b = jsonl.AppendJSON(append(b, `,"before":`...), jsonl.StringValue(l.Before))
	}
	if l.After != "\n" {
		b = jsonl.AppendJSON(append(b, `,"after":`...), jsonl.StringValue(l.After))
	}
	b = append(b, `,"record":`...)
	b = append(b, l.Record...)
	return append(b, "}\n"...)
}

// recordMark begins a line's record; what stands before it holds none.
var recordMark = []byte(`,"record":`)

// parseArchivedLine reads what append wrote.
func parseArchivedLine(line []byte) (l ArchivedLine, ok bool) {
	at := bytes.Index(line, recordMark)
	if at < 0 || !bytes.HasPrefix(line, []byte(`{"line":`)) || !bytes.HasSuffix(line, []byte("}")) {
		return l, false
	}
	v, err := jsonl.ParseString(string(line[:at]) + "}")
	if err != nil || !v.Get("line").Is(jsonl.Number) {
		return l, false
	}
	l.Line, l.Moved, l.Before, l.After = int(v.Get("line").Num()), v.Get("moved").Bool(), v.Get("before").Str(), "\n"
	if after := v.Get("after"); after.Is(jsonl.String) {
		l.After = after.Str()
	}
	l.Record = line[at+len(recordMark) : len(line)-1]
	l.Offset = int64(at + len(recordMark))
	return l, true
}

// archiveHead is the record before a run, or after it.
func archiveHead(kind, id string, run int, members ...jsonl.Member) []byte {
	o := jsonl.NewObj(
		jsonl.Member{Key: "type", Value: jsonl.StringValue(kind)},
		jsonl.Member{Key: "v", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "session", Value: jsonl.StringValue(id)},
		jsonl.Member{Key: "run", Value: jsonl.NumberValue(float64(run))},
	)
	for _, m := range members {
		o.Set(m.Key, m.Value)
	}
	return append(jsonl.AppendJSON(nil, jsonl.ObjectValue(o)), '\n')
}

// archiveRoom is what a line of an archive may be longer than the line that it
// holds, in bytes.
const archiveRoom = 1 << 20

// runs are the runs of an archive that have an end.
func (a *archiveFile) runs(ctx context.Context) ([]archiveRun, error) {
	var runs []archiveRun
	for _, part := range a.parts {
		var err error
		if runs, err = a.partRuns(ctx, part, runs); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func (a *archiveFile) partRuns(ctx context.Context, part archivePart, runs []archiveRun) ([]archiveRun, error) {
	text, err := a.text(part)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }() // was only read
	var failed error
	var open int64 = -1
	for at, line := range textLines(ctx, text, 0, &failed) {
		if bytes.HasPrefix(line, []byte(`{"line":`)) {
			continue
		}
		v, _, err := jsonl.Parse(line)
		switch {
		case err != nil: // a line that a crash cut off
			open = -1
		case v.Get("type").Str() == archiveBegin:
			open = at + int64(len(line)) + 1
		case v.Get("type").Str() == archiveEnd && open >= 0:
			r := archiveRun{number: len(runs) + 1, part: part, from: open, to: at, size: int64(v.Get("size").Num()), lines: int(v.Get("lines").Num()),
				moved: int(v.Get("moved").Num()), sum: v.Get("sha256").Str(), tail: v.Get("tail").Str()}
			for _, id := range v.Get("checkpoints").Items() {
				r.checkpoints = append(r.checkpoints, id.Str())
			}
			runs = append(runs, r)
			open = -1
		}
	}
	return runs, failed
}

// lines yields the lines of a run in their order.
func (a *archiveFile) lines(ctx context.Context, r *archiveRun) iter.Seq2[ArchivedLine, error] {
	return func(yield func(ArchivedLine, error) bool) {
		text, err := a.text(r.part)
		if err == nil {
			defer func() { _ = text.Close() }() // was only read
			err = text.skip(r.from)
		}
		if err != nil {
			yield(ArchivedLine{}, err)
			return
		}
		n := 0
		for at, line := range textLines(ctx, io.LimitReader(text, r.to-r.from), r.from, &err) {
			l, ok := parseArchivedLine(line)
			if !ok {
				yield(ArchivedLine{}, fmt.Errorf("%s: %w", a.f.Name(), ErrArchive))
				return
			}
			l.Run = r.number
			l.Offset += at
			n++
			if !yield(l, nil) {
				return
			}
		}
		if err == nil && n != r.lines {
			err = fmt.Errorf("%s: %w: a run has %d lines, not %d", a.f.Name(), ErrArchive, n, r.lines)
		}
		if err != nil {
			yield(ArchivedLine{}, err)
		}
	}
}

// ReadArchive yields the lines of the archive of the transcript at path, the
// oldest run first, each in the transcript's order: moved lines and those that
// the transcript kept. Where there is no archive it yields nothing. A record
// that comes again in a later run, or stands in the transcript, is the same.
func ReadArchive(ctx context.Context, fsys storage.FS, path string) iter.Seq2[ArchivedLine, error] {
	return func(yield func(ArchivedLine, error) bool) {
		a, err := openArchive(fsys, path)
		if missing(err) {
			return
		}
		if err != nil {
			yield(ArchivedLine{}, err)
			return
		}
		defer func() { _ = a.Close() }() // was only read
		runs, err := a.runs(ctx)
		if err != nil {
			yield(ArchivedLine{}, err)
			return
		}
		for i := range runs {
			for l, err := range a.lines(ctx, &runs[i]) {
				if !yield(l, err) || err != nil {
					return
				}
			}
			if !yield(ArchivedLine{Run: runs[i].number, Checkpoints: runs[i].checkpoints}, nil) {
				return
			}
		}
	}
}

// copyArchive gives a transcript that is about to be a copy of another its
// archive: without it what was archived would be missing from the copy.
func (s *Store) copyArchive(ctx context.Context, from, to string) error {
	a, err := openArchive(s.fsys, from)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }() // was only read
	name := ArchivePath(to)
	if a.packed {
		name = PackedArchivePath(to)
	}
	return storage.Publish(ctx, s.fsys, name, newFileMode, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(a.f, 0, a.parts[len(a.parts)-1].to))
		return err
	})
}
