package index

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
)

// Path is the path of a session file to one of its leaves, of which any part can
// be read without the rest. It is for one goroutine and holds the file open
// until Close.
type Path struct {
	x     *Index
	file  string
	key   int64
	lines *lines
	spans []span
	len   int
}

// Path finds the path of the session file at path to the entry with an id (""
// is the last entry), with holes bridged.
//
// Errors: ErrStale for a file that the index doesn't have as it is, or that can't
// be read by lines; fs.ErrNotExist for one that it doesn't have, or a leaf that
// the file doesn't have.
func (x *Index) Path(ctx context.Context, path, leaf string) (*Path, error) {
	p := &Path{x: x, file: path}
	err := x.retrying(ctx, func(db *migrations.DB) error {
		at, err := x.place(ctx, db, path)
		if err != nil {
			return err
		}
		if p.lines, err = x.openLines(path, &at); err != nil {
			return err
		}
		w := &pathWalk{ctx: ctx, db: db, key: at.Key, lines: p.lines}
		if err = w.walk(leaf, at.Entries-1, true); err != nil {
			p.lines.close()
			return err
		}
		p.key, p.spans = at.Key, w.spans
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("path of %s: %w", path, err)
	}
	for _, s := range p.spans {
		p.len += s.to - s.from + 1
	}
	return p, nil
}

// Close gives the file up.
func (p *Path) Close() error { p.lines.close(); return nil }

// Len is how many entries the path has.
func (p *Path) Len() int { return p.len }

// Entries reads the entries from one place of the path, counted from 0, to
// before another, patches applied. ErrStale if the file was written anew since.
func (p *Path) Entries(ctx context.Context, from, to int) ([]*jsonl.Entry, error) {
	var out []*jsonl.Entry
	err := p.x.retrying(ctx, func(db *migrations.DB) error {
		out = out[:0]
		at := 0
		for _, s := range p.spans {
			n := s.to - s.from + 1
			first, end := max(from, at), min(to, at+n)
			if first < end {
				list, err := readPlaces(ctx, db, lineColumns+`WHERE e.session = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq`,
					p.key, s.from+first-at, s.from+end-1-at)
				if err != nil {
					return err
				}
				if len(list) != end-first {
					return fmt.Errorf("entries of %s: %w", p.file, ErrStale)
				}
				if out, err = p.read(out, list); err != nil {
					return err
				}
			}
			at += n
		}
		return nil
	})
	return out, err
}

func (p *Path) read(out []*jsonl.Entry, list []lineAt) ([]*jsonl.Entry, error) {
	for i := range list {
		e, err := p.lines.entry(&list[i])
		if err != nil {
			return out, err
		}
		if id, _ := e.ID(); jsonl.Display(id) != list[i].ID {
			return out, fmt.Errorf("entries of %s: %w", p.file, ErrStale)
		}
		out = append(out, e)
	}
	return out, nil
}

// entry is a whole entry as it stands, parsed when it is asked.
func (l *lines) entry(at *lineAt) (*jsonl.Entry, error) {
	if at.PatchSize > 0 {
		o, err := l.record(at)
		if err != nil {
			return nil, err
		}
		return jsonl.NewEntry(o), nil
	}
	if int64(cap(l.buf)) < at.Size {
		l.buf = make([]byte, at.Size)
	}
	buf := l.buf[:at.Size]
	if _, err := l.f.ReadAt(buf, at.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	all := jsonl.ParseText(string(buf))
	if len(all) != 1 {
		return nil, fmt.Errorf("line at byte %d: %w", at.Offset, ErrStale)
	}
	return all[0], nil
}

// Before is the place of the last message of a role before another place of the
// path; 0 if there is none.
func (p *Path) Before(ctx context.Context, place int, role string) (int, error) {
	found := 0
	err := p.x.retrying(ctx, func(db *migrations.DB) error {
		w := &pathWalk{ctx: ctx, db: db, key: p.key}
		end := p.len
		for i := len(p.spans) - 1; i >= 0; i-- {
			s := p.spans[i]
			at := end - (s.to - s.from + 1) // where the piece begins
			end = at
			if at >= place {
				continue
			}
			seq, err := w.newest(`SELECT seq FROM entries WHERE session = ? AND seq BETWEEN ? AND ? AND role = ? AND type = 'message'
				ORDER BY seq DESC LIMIT 1`, p.key, s.from, min(s.to, s.from+place-1-at), role)
			if err != nil {
				return err
			}
			if seq >= 0 {
				found = at + seq - s.from
				return nil
			}
		}
		found = 0
		return nil
	})
	return found, err
}
