package index

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/migrations"
)

// merged answers from the database and, for what it doesn't hold, the disk.
func (l *listing) merged(ctx context.Context, db *migrations.DB, p *pending) ([]Row, int, error) {
	var rows []Row
	if db != nil && !p.all {
		where, args, err := l.where(ctx, db)
		if err != nil {
			return nil, 0, err
		}
		if rows, err = l.query(ctx, db, "sessions s", "WHERE "+where, args...); err != nil {
			return nil, 0, err
		}
		rows = slices.DeleteFunc(rows, func(r Row) bool { return p.isStale(r.Path) })
	}
	d := &disk{l: l, walk: p.walk, files: map[string]pendingFile{}}
	found, err := d.rows(ctx, p.files())
	if err != nil {
		return nil, 0, err
	}
	if l.filter.Sort == SortMessages || l.filter.Damaged == DamagedOnly {
		if err := d.complete(ctx, found); err != nil { // what it is chosen or sorted by
			return nil, 0, err
		}
	}
	rows = append(rows, slices.DeleteFunc(found, func(r Row) bool { return !l.selects(&r) })...)
	if l.filter.Damaged == DamagedOmit {
		hidden, err := l.x.hiddenSources(ctx, db)
		if err != nil {
			return nil, 0, err
		}
		rows = l.x.hide(rows, hidden)
	}
	slices.SortFunc(rows, l.compare)
	total := len(rows)
	rows = rows[min(max(l.filter.Offset, 0), len(rows)):]
	if l.filter.Limit > 0 {
		rows = rows[:min(l.filter.Limit, len(rows))]
	}
	if !l.filter.brief {
		err = d.complete(ctx, rows)
	}
	if l.filter.Sort == SortMessages && slices.ContainsFunc(rows, func(r Row) bool { return r.Estimated }) {
		l.x.note("the largest sessions are ordered by the messages at their beginnings: without an index they are too much to read")
	}
	return rows, total, err
}

// disk makes the rows of files that are not in the database.
type disk struct {
	l     *listing
	walk  *walk
	files map[string]pendingFile // by path
}

// rows are those of the files that are still there.
func (d *disk) rows(ctx context.Context, files []pendingFile) ([]Row, error) {
	all, err := d.l.x.look(ctx, d.walk, files)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(all))
	for i := range all {
		if !all[i].gone {
			row := d.row(&files[i], &all[i])
			d.files[row.Path] = files[i]
			rows = append(rows, row)
		}
	}
	d.setParents(rows)
	return rows, nil
}

// setParents gives children the session whose own directory they lie in.
func (d *disk) setParents(rows []Row) {
	ids := map[string]string{}
	for i := range rows {
		if rows[i].ID != "" {
			ids[strings.TrimSuffix(rows[i].Path, ".jsonl")] = rows[i].ID
		}
	}
	for i := range rows {
		if id := ids[filepath.Dir(rows[i].Path)]; rows[i].Child && id != "" {
			rows[i].Parent = id
		}
	}
}

// complete reads the files of rows that are known by their beginnings only, as
// far as that is not too much.
func (d *disk) complete(ctx context.Context, rows []Row) error {
	var jobs []job
	for i := range rows {
		f, ours := d.files[rows[i].Path]
		if ours && rows[i].Estimated && d.l.x.looks.spend(rows[i].Size) {
			jobs = append(jobs, job{why: isNew, scope: i, file: f.file, path: rows[i].Path})
		}
	}
	out := make([]looked, len(rows))
	if err := d.l.x.lookAt(ctx, jobs, out); err != nil {
		return err
	}
	for _, j := range jobs {
		if f := d.files[j.path]; !out[j.scope].gone {
			parent := rows[j.scope].Parent
			rows[j.scope] = d.row(&f, &out[j.scope])
			rows[j.scope].Parent = parent
		}
	}
	return nil
}

func (d *disk) row(f *pendingFile, k *looked) Row {
	s := sessionRow{Scope: f.scope, Name: f.file.name, Size: k.info.Size, ModTime: k.info.ModTime, State: k.state,
		Version: k.version, Child: f.file.child(), Messages: k.messages, Entries: k.entries + k.seconds,
		Malformed: k.malformed, Recovered: k.recovered}
	s.Reason.String, s.ID.String, s.Cwd.String, s.Parent.String = k.reason, k.id, k.cwd, k.parent
	s.Created.Int64, s.Created.Valid = k.created.ms, k.created.known
	s.Last.Int64, s.Last.Valid = k.last.ms, k.last.known
	s.Title.String, s.Title.Valid = k.title, k.hasTitle
	s.Source.String, s.Prompt.String = k.titleSource, k.firstPrompt
	row := d.l.row(&s)
	row.Estimated = !k.whole
	return row
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
