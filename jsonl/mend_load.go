package jsonl

import (
	"context"
	"hash/maphash"
	"io"
	"math"
)

// load reads the file, with a header that is made where it has no valid one.
func (m *mender) load(ctx context.Context, r io.ReaderAt, size int64) error {
	l := &loader{t: &Transcript{State: StateEmpty}, seed: maphash.MakeSeed(), mend: true}
	err := m.read(ctx, r, size, l, func(rec *Record) bool { return l.add(rec) })
	if err != nil {
		return err
	}
	header := l.t.Header
	t, err := l.finish(l.end)
	switch {
	case err == nil:
		m.t = t
	case t.State == StateNewerVersion && l.wholeVersion(header):
		return err
	case t.State == StateEmpty:
		return err
	default:
		if err := m.loadWithout(ctx, r, size); err != nil {
			return err
		}
	}
	return m.completeHeader()
}

// read gives the records of the file to take, until it answers false.
func (m *mender) read(ctx context.Context, r io.ReaderAt, size int64, l *loader, take func(*Record) bool) error {
	opt := ReadOptions{MaxLine: m.opt.MaxLine, Report: l.report, End: &l.end}
	for rec, err := range Read(ctx, io.NewSectionReader(r, 0, size), opt) {
		if err != nil {
			return err
		}
		if !take(&rec) {
			break
		}
	}
	return nil
}

// wholeVersion tells the version of a newer program from one that no program
// can have.
func (l *loader) wholeVersion(h *Header) bool {
	v, _ := h.Version()
	return v == math.Trunc(v) && !math.IsInf(v, 0)
}

// loadWithout reads a file whose header is not the first record, or is invalid,
// or is missing. The first session record there is stays the header, as far as
// it can be used.
func (m *mender) loadWithout(ctx context.Context, r io.ReaderAt, size int64) error {
	var found *Obj
	line, ids := 0, false
	look := &loader{t: &Transcript{}}
	err := m.read(ctx, r, size, look, func(rec *Record) bool {
		if found == nil && rec.Fields.Type.Equal("session") {
			if v, _, err := Parse(rec.Raw); err == nil {
				found, line = v.obj, rec.Line
				return true
			}
		}
		ids = ids || rec.Fields.ID.Ok()
		return true
	})
	if err != nil {
		return err
	}
	usable := found != nil && usableHeader(found)
	if !usable && !m.opt.Rebuild {
		return ErrNoHeader
	}
	l := &loader{t: &Transcript{State: StateOK, HeaderLine: line}, seed: maphash.MakeSeed(), mend: true}
	l.begin(m.madeHeader(found, ids))
	err = m.read(ctx, r, size, l, func(rec *Record) bool {
		switch {
		case rec.Line == line && rec.Fields.Type.Equal("session"):
			line = -1 // it is the header
		case rec.Fields.Type.Equal("title") && len(l.t.Records) == 0 && rec.Fields.IDKind == Absent:
			l.t.Leading = append(l.t.Leading, l.keep.entry(rec))
		default:
			l.add(rec)
		}
		return true
	})
	if err != nil {
		return err
	}
	m.t, _ = l.finish(l.end) // its state is ok
	if usable {
		m.note(m.t.HeaderLine, MendMoved, "")
	} else {
		m.note(m.t.HeaderLine, MendHeader, "")
	}
	return nil
}

// begin takes a header that was made.
func (l *loader) begin(o *Obj) {
	l.t.Header = NewHeader(o)
	l.t.Stored = 1
	if v, ok := l.t.Header.Version(); ok {
		l.t.Stored = versionInt(v)
		l.patches = v >= 4
	}
}

// usableHeader reports whether a session record can be a header.
func usableHeader(o *Obj) bool {
	return o.Get("id").Is(String) && usableVersion(o.Get("version"))
}

func usableVersion(v Value) bool {
	return v.Is(Absent) || v.Is(Number) && v.Num() <= CurrentVersion && v.Num() == math.Trunc(v.Num())
}

// madeHeader is a header of what the file's own says and what is known. Without
// a version that counts, a file whose records have ids is of the current one.
func (m *mender) madeHeader(found *Obj, ids bool) *Obj {
	o := NewObj(Member{"type", StringValue("session")})
	if found != nil {
		o = found.Clone()
	}
	if found == nil || !usableVersion(found.Get("version")) {
		o.Delete("version")
		if ids {
			o.Set("version", NumberValue(CurrentVersion))
		}
	}
	return o
}

// completeHeader gives the header what the strict reader asks of it.
func (m *mender) completeHeader() error {
	h := m.t.Header
	o := h.Value().Clone()
	created := m.opt.Timestamp
	if created == "" {
		for _, e := range m.t.Records {
			if created = e.Timestamp(); created != "" {
				break
			}
		}
	}
	done := false
	for _, m := range []Member{{"id", StringValue(m.opt.ID)}, {"timestamp", StringValue(created)}, {"cwd", StringValue(m.opt.Cwd)}} {
		if o.Get(m.Key).Is(String) {
			continue
		}
		if m.Key == "id" && m.Value.Str() == "" {
			return ErrNoHeader
		}
		o.Set(m.Key, m.Value)
		done = true
	}
	if !done {
		return nil
	}
	h.SetValue(o)
	if m.out.Counts[MendHeader] == 0 {
		m.note(m.t.HeaderLine, MendCompleted, "")
	}
	return nil
}
