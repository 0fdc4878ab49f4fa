package index

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
)

const (
	prefixBytes = 64 << 10 // read of the beginning of a file that is not indexed
	suffixBytes = 16 << 10 // and of its end
)

// merged answers from the database and, for what it doesn't hold, the disk.
func (l *listing) merged(ctx context.Context, db *migrations.DB, p *pending) ([]Row, int, error) {
	var rows []Row
	if db != nil && !p.all {
		where, args, err := l.where(ctx, db)
		if err != nil {
			return nil, 0, err
		}
		if len(p.gone) > 0 {
			where += " AND s.key NOT IN (?" + strings.Repeat(", ?", len(p.gone)-1) + ")"
			for key := range p.gone {
				args = append(args, key)
			}
		}
		if rows, err = l.query(ctx, db, "sessions s", "WHERE "+where, args...); err != nil {
			return nil, 0, err
		}
	}
	ex := newExtractor()
	for _, f := range p.files() {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if row, there := l.glimpse(ctx, ex, p.walk, &f); there && l.selects(&row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, l.compare)
	total := len(rows)
	rows = rows[min(max(l.filter.Offset, 0), len(rows)):]
	if l.filter.Limit > 0 {
		rows = rows[:min(l.filter.Limit, len(rows))]
	}
	return rows, total, nil
}

// glimpse is the row of a file by its beginning and its end; there is false if
// it has vanished.
func (l *listing) glimpse(ctx context.Context, ex *extractor, w *walk, p *pendingFile) (row Row, there bool) {
	w2 := &worker{x: l.x, ex: ex}
	o := outcome{job: job{file: p.file, path: w.path(p.scope, p.file.name)}, info: p.file.info}
	r := &reading{facts: facts{state: StateRefused, reason: p.file.refused}}
	if p.file.refused == "" {
		var err error
		if r, err = w2.glance(ctx, &o); err != nil {
			r = &reading{facts: facts{state: StateUnreadable, reason: reasonOf(err)}}
			if _, err := l.x.fsys.Lstat(o.path); err != nil {
				return Row{}, false
			}
		}
	}
	s := sessionRow{Scope: p.scope, Name: p.file.name, Size: o.info.Size, ModTime: o.info.ModTime, State: r.state,
		Version: r.version, Child: p.file.child(), Messages: r.messages, Entries: r.entries + r.seconds,
		Malformed: r.facts.malformed, Recovered: r.facts.recovered}
	s.Reason.String, s.ID.String, s.Cwd.String, s.Parent.String = r.reason, r.id, r.cwd, r.parent
	s.Created.Int64, s.Created.Valid = r.created.ms, r.created.known
	s.Last.Int64, s.Last.Valid = r.last.ms, r.last.known
	s.Title.String, s.Title.Valid = r.title, r.hasTitle
	s.Source.String, s.Prompt.String = r.titleSource, r.firstPrompt
	row = l.row(&s)
	row.Estimated = l.x.dir == ""
	return row, true
}

// glance reads the beginning of a file, and of a longer one the end, for the
// time of its last record and its title.
func (w *worker) glance(ctx context.Context, o *outcome) (*reading, error) {
	f, err := w.x.fsys.Open(o.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	if o.info, err = f.Stat(); err != nil {
		return nil, err
	}
	if w.x.dir != "" || o.info.Size <= prefixBytes {
		return w.ex.whole(ctx, f, o.info.Size, w.x.opt.MaxLine)
	}
	r, err := w.ex.whole(ctx, f, prefixBytes, w.x.opt.MaxLine)
	if err != nil {
		return r, err
	}
	// What the cut left of a record is no damage.
	r.facts.malformed = r.resume.malformed
	if r.state != StateOK {
		return r, nil
	}
	from := o.info.Size - suffixBytes
	tail := jsonl.ReadOptions{MaxLine: w.x.opt.MaxLine, Offset: from}
	first := true
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, from, suffixBytes), tail) {
		if err != nil {
			return r, err
		}
		if first && rec.Offset == from || rec.Recovered {
			first = false
			continue // its line began before
		}
		first = false
		if rec.Fields.Type.Equal("header_patch") {
			w.ex.r, w.ex.before = r, nil
			if err := w.ex.headerPatch(&rec); err != nil {
				return r, err
			}
			continue
		}
		if rec.Fields.Timestamp.Ok() {
			r.last = timeOf(rec.Fields.Timestamp)
		}
	}
	return r, nil
}

// selects is the filter's condition for a row that is not in the database.
func (l *listing) selects(row *Row) bool {
	f := &l.filter
	bad := row.State != StateOK
	nothing := row.State == StateEmpty
	switch {
	case f.Damaged == DamagedOmit && bad, f.Damaged == DamagedOnly && (!bad || nothing) && row.Malformed == 0,
		f.Damaged == DamagedLost && (!bad || nothing),
		!f.Children && row.Child,
		f.Cwd != "" && row.Cwd != f.Cwd,
		f.Project != "" && (row.Cwd == "" || l.x.opt.Project(row.Cwd) != l.x.opt.Project(f.Project)),
		!f.Since.IsZero() && row.Active.Before(f.Since),
		!f.Until.IsZero() && !row.Active.Before(f.Until):
		return false
	}
	return true
}

// compare is the filter's order for rows.
func (l *listing) compare(a, b Row) int {
	var c int
	switch l.filter.Sort {
	case SortCreated:
		c = b.Created.Compare(a.Created)
	case SortModified:
		c = b.Modified.Compare(a.Modified)
	case SortTitle:
		c = cmp.Compare(sortTitle(&a), sortTitle(&b))
	case SortMessages:
		c = cmp.Compare(b.Messages, a.Messages)
	case SortSize:
		c = cmp.Compare(b.Size, a.Size)
	default:
		c = b.Active.Compare(a.Active)
	}
	if l.filter.Reverse {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.Scope, b.Scope), cmp.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path)))
}

func sortTitle(r *Row) string {
	if r.Title != "" {
		return strings.ToLower(r.Title)
	}
	return strings.ToLower(r.FirstPrompt)
}
