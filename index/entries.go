package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// locate splits the path of a session file into scope and name.
func (x *Index) locate(path string) (scope, name string, err error) {
	rel, err := filepath.Rel(x.root(), path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", "", fmt.Errorf("session %s: not in this home: %w", path, fs.ErrNotExist)
	}
	rel = filepath.ToSlash(rel)
	if i := strings.IndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:], nil
	}
	return "", rel, nil
}

// placed is what is known of a session's file when its entries are asked for.
type placed struct {
	Key     int64  `db:"key"`
	State   State  `db:"state"`
	Version int    `db:"version"`
	Entries int    `db:"entries"`
	Seconds int    `db:"seconds"`
	Inode   int64  `db:"inode"`
	Size    int64  `db:"size"`
	ModTime int64  `db:"mtime_ns"`
	Change  int64  `db:"ctime_ns"`
	ID      string `db:"id"`
}

// place finds the session file at path in the database; fs.ErrNotExist if it
// is not there.
func (x *Index) place(ctx context.Context, db *migrations.DB, path string) (placed, error) {
	var p placed
	scope, name, err := x.locate(path)
	if err != nil {
		return p, err
	}
	if db == nil {
		return p, fmt.Errorf("session %s: not in the index: %w", path, fs.ErrNotExist)
	}
	err = db.GetContext(ctx, &p, `
		SELECT s.key, s.state, s.version, s.entries, s.seconds, s.inode, s.size, s.mtime_ns, s.ctime_ns, coalesce(s.id, '') AS id
		FROM sessions s JOIN scopes c ON c.id = s.scope WHERE c.name = ? AND s.name = ?`, scope, name)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("session %s: not in the index: %w", path, fs.ErrNotExist)
	}
	return p, err
}

// fresh reports whether the file is as it was when its rows were made.
func (p *placed) fresh(info storage.Info) bool {
	return uint64(p.Inode) == info.Inode && p.Size == info.Size && p.ModTime == info.ModTime && p.Change == info.ChangeTime
}

// Entries gives the entries of the session file at path in file order, as of
// the last Refresh. fs.ErrNotExist if that file is not in the database. An
// error pair is the last one.
func (x *Index) Entries(ctx context.Context, path string) iter.Seq2[EntryRow, error] {
	return func(yield func(EntryRow, error) bool) {
		op, err := x.begin(ctx)
		if err != nil {
			yield(EntryRow{}, err)
			return
		}
		defer op.done()
		p, err := x.place(ctx, op.db, path)
		if err != nil {
			yield(EntryRow{}, err)
			return
		}
		rows, err := op.db.QueryContext(ctx, `
			SELECT seq, id, parent, parent_seq, type, role, time_ms, line, offset, size
			FROM entries WHERE session = ? ORDER BY seq`, p.Key)
		if err != nil {
			yield(EntryRow{}, fmt.Errorf("read entries: %w", inWords(err)))
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				yield(EntryRow{}, fmt.Errorf("read entries: %w", inWords(err)))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(EntryRow{}, fmt.Errorf("read entries: %w", inWords(err)))
		}
	}
}

func scanEntry(rows *sql.Rows) (EntryRow, error) {
	var e EntryRow
	var id, parent, role sql.NullString
	var parentSeq, ms sql.NullInt64
	err := rows.Scan(&e.Seq, &id, &parent, &parentSeq, &e.Type, &role, &ms, &e.Line, &e.Offset, &e.Size)
	e.ID, e.Parent, e.Role = id.String, parent.String, role.String
	e.ParentSeq = noParent
	if parentSeq.Valid {
		e.ParentSeq = int(parentSeq.Int64)
	}
	e.Time = timeAt(fromNull(ms))
	return e, err
}

// Labels gives the label entries of a session in file order. fs.ErrNotExist if
// there is no such session file.
func (x *Index) Labels(ctx context.Context, path string) (labels []LabelRow, err error) {
	err = x.retrying(ctx, func(db *migrations.DB) (err error) {
		if db == nil || x.unstored().isStale(path) {
			labels, err = x.labelsOfFile(ctx, path)
		} else {
			labels, err = x.storedLabels(ctx, db, path)
		}
		return err
	})
	return labels, err
}

// labelsOfFile reads the file itself.
func (x *Index) labelsOfFile(ctx context.Context, path string) ([]LabelRow, error) {
	if _, _, err := x.locate(path); err != nil {
		return nil, err
	}
	if _, err := x.fsys.Lstat(path); err != nil {
		return nil, fmt.Errorf("read labels of %s: %w", path, inWords(err))
	}
	var labels []LabelRow
	err := x.pipe(ctx, nil, []job{{why: isNew, path: path}}, func(o *outcome) error {
		if o.reading == nil {
			return nil
		}
		for _, l := range o.reading.labels {
			labels = append(labels, LabelRow{Seq: l.seq, Target: l.target, Label: l.label, Current: !l.overtaken})
		}
		return nil
	})
	return labels, err
}

func (x *Index) storedLabels(ctx context.Context, db *migrations.DB, path string) ([]LabelRow, error) {
	p, err := x.place(ctx, db, path)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Seq     int            `db:"seq"`
		Target  string         `db:"target"`
		Label   sql.NullString `db:"label"`
		Current bool           `db:"current"`
	}
	err = db.SelectContext(ctx, &rows, `SELECT seq, target, label, current FROM labels WHERE session = ? ORDER BY seq`, p.Key)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	labels := make([]LabelRow, len(rows))
	for i, r := range rows {
		labels[i] = LabelRow{Seq: r.Seq, Target: r.Target, Label: r.Label.String, Current: r.Current}
	}
	return labels, nil
}

// Record reads one entry of a session file by its place: the bytes of that
// line, and of the patch that holds for it. errors.Is(err, ErrStale) if the
// file is not as it was when it was indexed.
func (x *Index) Record(ctx context.Context, path string, seq int) (*jsonl.Obj, error) {
	op, err := x.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer op.done()
	p, err := x.place(ctx, op.db, path)
	if err != nil {
		return nil, err
	}
	lines, err := x.openLines(path, &p)
	if err != nil {
		return nil, err
	}
	defer lines.close()
	list, err := readPlaces(ctx, op.db, lineColumns+`WHERE e.session = ? AND e.seq = ?`, p.Key, seq)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("entry %d of %s: %w", seq, path, fs.ErrNotExist)
	}
	return lines.record(&list[0])
}
