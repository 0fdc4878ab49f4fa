package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// futureAfter is how far after now a record's time may lie and still count.
const futureAfter = 24 * time.Hour

// sessionRow is a row of sessions as it is read for a list.
type sessionRow struct {
	Key       int64          `db:"key"`
	Scope     string         `db:"scope"`
	Name      string         `db:"name"`
	Size      int64          `db:"size"`
	ModTime   int64          `db:"mtime_ns"`
	State     State          `db:"state"`
	Reason    sql.NullString `db:"reason"`
	ID        sql.NullString `db:"id"`
	Version   int            `db:"version"`
	Cwd       sql.NullString `db:"cwd"`
	Parent    sql.NullString `db:"parent"`
	Child     bool           `db:"child"`
	Created   sql.NullInt64  `db:"created_ms"`
	Last      sql.NullInt64  `db:"last_ms"`
	Messages  int            `db:"messages"`
	Entries   int            `db:"entries"`
	Malformed int            `db:"malformed"`
	Recovered int            `db:"recovered"`
	Title     sql.NullString `db:"title"`
	Source    sql.NullString `db:"title_source"`
	Prompt    sql.NullString `db:"first_prompt"`
}

// sessionColumns are those of sessionRow. A child's parent is the session whose
// own directory it lies in: its name up to the last slash, as a file.
const sessionColumns = `
	s.key, c.name AS scope, s.name, s.size, s.mtime_ns, s.state, s.reason, s.id, s.version, s.cwd,
	CASE s.child WHEN 1 THEN coalesce((
		SELECT p.id FROM sessions p
		WHERE p.scope = s.scope AND p.name = rtrim(rtrim(s.name, replace(s.name, '/', '')), '/') || '.jsonl'), s.parent)
	ELSE s.parent END AS parent,
	s.child, s.created_ms, s.last_ms, s.messages, s.entries + s.seconds AS entries, s.malformed, s.recovered,
	s.title, s.title_source, s.first_prompt`

// activeSQL is the time of last activity in ms; its argument is the latest
// time that counts.
const activeSQL = `CASE WHEN s.last_ms IS NULL OR s.last_ms > ? THEN s.mtime_ns / 1000000 ELSE s.last_ms END`

// Sessions gives the rows that f selects, in its order, and how many there are
// without its limit and offset. An error pair is the last one. Files that are
// on disk and not in the database are among the rows, read from their
// beginnings (Row.Estimated).
func (x *Index) Sessions(ctx context.Context, f Filter) (iter.Seq2[Row, error], int, error) {
	list := &listing{x: x, filter: f, latest: x.opt.Now().Add(futureAfter).UnixMilli(), missing: map[string]bool{}}
	var rows []Row
	var total int
	err := x.retrying(ctx, func(db *migrations.DB) (err error) {
		rows, total, err = list.run(ctx, db)
		return err
	})
	if err != nil && ctx.Err() == nil {
		x.note("index can't be read now (" + reasonOf(err) + "): sessions are read from the files")
		rows, total, err = list.fromFiles(ctx)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list sessions: %w", inWords(err))
	}
	return func(yield func(Row, error) bool) {
		for i := range rows {
			if err := ctx.Err(); err != nil {
				yield(Row{}, err)
				return
			}
			list.finish(&rows[i])
			if !yield(rows[i], nil) {
				return
			}
		}
	}, total, nil
}

// listing answers one Filter.
type listing struct {
	x       *Index
	filter  Filter
	latest  int64           // Unix ms; a record's time after it doesn't count
	missing map[string]bool // whether a workspace is gone
}

func (l *listing) run(ctx context.Context, db *migrations.DB) ([]Row, int, error) {
	p := l.x.unstored()
	if db == nil && (p == nil || !p.all) {
		return l.fromFiles(ctx)
	}
	if !p.sessions() && db != nil {
		return l.stored(ctx, db)
	}
	return l.merged(ctx, db, p)
}

// fromFiles answers from the disk alone.
func (l *listing) fromFiles(ctx context.Context) ([]Row, int, error) {
	w, err := l.x.walk(ctx)
	if err != nil {
		return nil, 0, err
	}
	if l.x.sources.Load() == nil {
		if err := l.x.findSources(ctx, nil, w); err != nil {
			return nil, 0, err
		}
	}
	return l.merged(ctx, nil, &pending{walk: w, all: true})
}

// stored answers from the database alone.
func (l *listing) stored(ctx context.Context, db *migrations.DB) ([]Row, int, error) {
	where, args, err := l.where(ctx, db)
	if err != nil {
		return nil, 0, err
	}
	var total int
	if l.filter.Limit > 0 || l.filter.Offset > 0 {
		if total, err = l.count(ctx, db, where, args); err != nil {
			return nil, 0, err
		}
	}
	where, args, err = l.narrowed(ctx, db, where, args)
	if err != nil {
		return nil, 0, err
	}
	key, keyArgs, direction := l.order()
	limit := -1
	if l.filter.Limit > 0 {
		limit = l.filter.Limit
	}
	// Only keys are sorted: rows are wide.
	args = append(append(keyArgs, args...), limit, max(l.filter.Offset, 0))
	tie := direction + `, scope, name`
	rows, err := l.query(ctx, db, `
		(SELECT s.key, `+key+` AS place, c.name AS scope, s.name AS name FROM sessions s JOIN scopes c ON c.id = s.scope
		 WHERE `+where+` ORDER BY place `+tie+` LIMIT ? OFFSET ?) page
		CROSS JOIN sessions s ON s.key = page.key`, `ORDER BY page.place `+direction+`, page.scope, page.name`, args...)
	if l.filter.Limit <= 0 && l.filter.Offset <= 0 {
		total = len(rows)
	}
	return rows, total, err
}

// count is how many rows there are without limit and offset.
func (l *listing) count(ctx context.Context, db *migrations.DB, where string, args []any) (total int, err error) {
	f := l.filter
	f.Sort, f.Reverse, f.Limit, f.Offset = "", false, 0, 0
	if f == (Filter{}) && len(args) == 0 { // no source is hidden
		// Nearly all rows: the pages of the smallest index are fewer to look at. The
		// + keeps SQLite from another index than that of the few bad ones.
		err = db.GetContext(ctx, &total, `
			SELECT (SELECT count(*) FROM sessions) - (SELECT count(*) FROM sessions WHERE child = 1) -
			       (SELECT count(*) FROM sessions WHERE (state <> 'ok' OR malformed > 0) AND state <> 'ok' AND +child = 0)`)
		return total, err
	}
	err = db.GetContext(ctx, &total, `SELECT count(*) FROM sessions s WHERE `+where, args...)
	return total, err
}

// narrowed adds what the rows of the first page have in common where they are
// the last active of all: so many are active since then that no other row is
// among them. It spares sorting all rows.
func (l *listing) narrowed(ctx context.Context, db *migrations.DB, where string, args []any) (string, []any, error) {
	f := &l.filter
	byActive := f.Sort == "" || f.Sort == SortActive
	if !byActive || f.Reverse || f.Limit <= 0 || f.Children || f.Damaged != DamagedOmit || f.Cwd != "" || f.Project != "" || f.ref != "" {
		return where, args, nil
	}
	var since int64
	err := db.GetContext(ctx, &since, `
		SELECT s.last_ms FROM sessions s WHERE `+where+` AND s.last_ms <= ?
		ORDER BY s.last_ms DESC LIMIT 1 OFFSET ?`, append(slices.Clone(args), l.latest, max(f.Offset, 0)+f.Limit-1)...)
	if errors.Is(err, sql.ErrNoRows) {
		return where, args, nil
	}
	// Two ranges of one index; an OR would look through all of it.
	both := append(append(slices.Clone(args), since), args...)
	return `s.key IN (
		SELECT s.key FROM sessions s WHERE ` + where + ` AND s.last_ms >= ? UNION ALL
		SELECT s.key FROM sessions s WHERE ` + where + ` AND s.last_ms IS NULL)`, both, err
}

// query reads the rows of table, which names sessions as s.
func (l *listing) query(ctx context.Context, db *migrations.DB, table, rest string, args ...any) ([]Row, error) {
	found, err := db.QueryxContext(ctx, `SELECT `+sessionColumns+` FROM `+table+` JOIN scopes c ON c.id = s.scope `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	var rows []Row
	for found.Next() {
		var r sessionRow
		err := found.Scan(&r.Key, &r.Scope, &r.Name, &r.Size, &r.ModTime, &r.State, &r.Reason, &r.ID, &r.Version, &r.Cwd,
			&r.Parent, &r.Child, &r.Created, &r.Last, &r.Messages, &r.Entries, &r.Malformed, &r.Recovered,
			&r.Title, &r.Source, &r.Prompt)
		if err != nil {
			return nil, err
		}
		rows = append(rows, l.row(&r))
	}
	return rows, found.Err()
}

// where is the condition of the filter and its arguments.
func (l *listing) where(ctx context.Context, db *migrations.DB) (string, []any, error) {
	f := &l.filter
	conds, args := []string{"1"}, []any{}
	add := func(cond string, values ...any) {
		conds = append(conds, cond)
		args = append(args, values...)
	}
	switch f.Damaged {
	case DamagedOmit:
		add("s.state = 'ok'")
		hidden, err := l.x.sourceKeys(ctx, db)
		if err != nil {
			return "", nil, err
		}
		if len(hidden) > 0 {
			add("s.key NOT IN (SELECT value FROM json_each(?))", jsonList(hidden))
		}
	case DamagedLost:
		add("(s.state <> 'ok' OR s.malformed > 0) AND s.state NOT IN ('ok', 'empty')") // the first half names an index
	case DamagedOnly:
		add("(s.state <> 'ok' OR s.malformed > 0) AND s.state <> 'empty'")
	}
	if !f.Children {
		add("s.child = 0")
	}
	if f.Cwd != "" {
		add("s.cwd = ?", f.Cwd)
	}
	if f.ref != "" {
		add("(instr(lower(s.id), ?) = 1 OR instr(lower(s.name), ?) > 0)", f.ref, f.ref)
	}
	if f.Project != "" {
		var all []string
		if err := db.SelectContext(ctx, &all, `SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL`); err != nil {
			return "", nil, err
		}
		project := l.x.opt.Project(f.Project)
		all = slices.DeleteFunc(all, func(cwd string) bool { return l.x.opt.Project(cwd) != project })
		if len(all) == 0 {
			add("0")
		} else {
			add("s.cwd IN (SELECT value FROM json_each(?))", jsonList(all))
		}
	}
	if !f.Since.IsZero() {
		add(activeSQL+" >= ?", l.latest, f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		add(activeSQL+" < ?", l.latest, f.Until.UnixMilli())
	}
	return strings.Join(conds, " AND "), args, nil
}

// order is what rows are sorted by, its arguments, and the direction; equal
// rows are ordered by path.
func (l *listing) order() (key string, args []any, direction string) {
	direction = "DESC"
	if l.filter.Reverse != (l.filter.Sort == SortTitle) {
		direction = "ASC"
	}
	switch l.filter.Sort {
	case SortCreated:
		return "s.created_ms", nil, direction
	case SortModified:
		return "s.mtime_ns", nil, direction
	case SortTitle:
		return "lower(coalesce(nullif(s.title, ''), substr(s.first_prompt, 1, 200), ''))", nil, direction
	case SortMessages:
		return "s.messages", nil, direction
	case SortSize:
		return "s.size", nil, direction
	}
	return activeSQL, []any{l.latest}, direction
}

// row makes a Row of what was read; finish adds what costs a look at the disk.
func (l *listing) row(r *sessionRow) Row {
	row := Row{
		ID: r.ID.String, Path: filepath.Join(l.x.root(), r.Scope, filepath.FromSlash(r.Name)), Scope: r.Scope,
		Cwd: r.Cwd.String, Title: r.Title.String, HasTitle: r.Title.Valid, TitleSource: r.Source.String,
		FirstPrompt: r.Prompt.String, Created: timeAt(fromNull(r.Created)), Modified: time.Unix(0, r.ModTime).UTC(),
		Messages: r.Messages, Entries: r.Entries, Size: r.Size, Version: r.Version, Parent: r.Parent.String, Child: r.Child,
		State: r.State, Malformed: r.Malformed,
	}
	row.Active = time.UnixMilli(r.ModTime / 1e6).UTC()
	if r.Last.Valid && r.Last.Int64 <= l.latest {
		row.Active = timeAt(fromNull(r.Last))
	}
	row.Damage = damageText(r.State, r.Reason.String, r.Malformed, r.Recovered)
	return row
}

func (l *listing) finish(row *Row) {
	if row.Cwd == "" {
		return
	}
	row.Project = l.x.opt.Project(row.Cwd)
	gone, known := l.missing[row.Cwd]
	if !known {
		_, err := l.x.fsys.Lstat(row.Cwd)
		gone = err != nil
		l.missing[row.Cwd] = gone
	}
	row.CwdMissing = gone
}

// damageText says what is wrong with a file; "" if nothing is.
func damageText(state State, reason string, malformed, recovered int) string {
	switch {
	case state != StateOK && reason != "":
		return string(state) + ": " + reason
	case state != StateOK:
		return string(state)
	case malformed == 1:
		return "1 malformed line"
	case malformed > 1:
		return fmt.Sprintf("%d malformed lines", malformed)
	case recovered == 1:
		return "1 recovered line"
	case recovered > 1:
		return fmt.Sprintf("%d recovered lines", recovered)
	}
	return ""
}
