package export

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// LinesOptions say how the lines of a session file are written.
type LinesOptions struct {
	MaxLine int64 // see jsonl.ReadOptions

	// Redact takes secrets out of a text and counts them; nil takes none out.
	Redact func(text string) (clean string, secrets int)

	// Suspect reports whether a record's JSON may hold a secret: one that it
	// says false of is taken as it is, unread. nil says true of all.
	Suspect func(json []byte) bool

	Inline bool             // put images and evicted content in their places
	Blobs  jsonl.BlobGetter // for Inline
}

// WriteLines writes the session file at path as a session file: every record,
// patches and all branches, each on one line, in the file's order. Lines that
// yield no record are left out and counted in damaged. The file is streamed.
//
// Errors: fs.ErrNotExist, storage.ErrUnsafe, jsonl.ErrNotTranscript, w's.
func WriteLines(ctx context.Context, w io.Writer, fsys storage.FS, path string, opt LinesOptions) (rep Report, damaged int, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return rep, 0, err
	}
	defer f.Close()
	return copyLines(ctx, w, f, path, opt)
}

// copyLines is WriteLines for what r yields; path is for errors.
func copyLines(ctx context.Context, w io.Writer, r io.Reader, path string, opt LinesOptions) (rep Report, damaged int, err error) {
	l := lineWriter{ctx: ctx, w: w, opt: opt, clean: newCleaner(opt.Redact), rep: &rep}
	headed := false
	read := jsonl.ReadOptions{MaxLine: opt.MaxLine, Report: func(r jsonl.LineReport) {
		if r.Recovered == 0 {
			damaged++
		}
	}}
	for rec, err := range jsonl.Read(ctx, r, read) {
		if err != nil {
			return rep, damaged, err
		}
		switch f := rec.Fields; {
		case f.Type.Equal("session") && f.ID.Ok():
			headed = true
		case f.Type.Equal("title"):
		case !headed:
			return rep, damaged, fmt.Errorf("export %s: %w", path, jsonl.ErrNotTranscript)
		default:
			rep.Entries++
		}
		if err := l.record(rec); err != nil {
			return rep, damaged, err
		}
	}
	if !headed {
		return rep, damaged, fmt.Errorf("export %s: %w", path, jsonl.ErrNotTranscript)
	}
	rep.Shown, rep.Secrets = rep.Entries, l.clean.secrets
	return rep, damaged, nil
}

type lineWriter struct {
	ctx   context.Context
	w     io.Writer
	opt   LinesOptions
	clean *cleaner
	rep   *Report
	buf   []byte
}

func (l *lineWriter) record(rec jsonl.Record) error {
	line, _, err := l.line(rec)
	if err != nil {
		return err
	}
	_, err = l.w.Write(line)
	return err
}

// line is the line that a record becomes, valid until the next; same says that
// it is the record's own bytes and a line end.
func (l *lineWriter) line(rec jsonl.Record) (line []byte, same bool, err error) {
	inline := l.opt.Inline && (len(rec.Fields.Refs) > 0 || bytes.Contains(rec.Raw, []byte(`"evictedContent"`)))
	oneLine := bytes.IndexByte(rec.Raw, '\n') < 0
	clean := l.opt.Redact == nil || l.opt.Suspect != nil && !l.opt.Suspect(rec.Raw)
	if clean && !inline && oneLine {
		l.buf = append(append(l.buf[:0], rec.Raw...), '\n')
		return l.buf, true, nil
	}
	v, _, err := jsonl.Parse(rec.Raw)
	if err != nil {
		return nil, false, fmt.Errorf("line %d: %w", rec.Line, err)
	}
	if inline {
		made, missing, err := resolve(l.ctx, l.opt.Blobs, v.Obj())
		if err != nil {
			return nil, false, err
		}
		v = made
		l.rep.Missing += missing
	}
	before := l.clean.secrets
	v = l.clean.value(v)
	if same = !inline && l.clean.secrets == before && oneLine; same {
		l.buf = append(append(l.buf[:0], rec.Raw...), '\n') // as it stands, byte for byte
	} else {
		l.buf = append(jsonl.AppendJSON(l.buf[:0], v), '\n')
	}
	return l.buf, same, nil
}
