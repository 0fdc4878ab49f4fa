package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// errStopped ends a check whose caller wants no more.
var errStopped = errors.New("stopped")

// Check compares the database with the files, all of them read again, and gives
// every difference: files that are not in, rows whose file is gone or has
// changed, rows that a reading of the file makes otherwise. An error pair is
// the last one. ErrNoIndex if there is no database.
func (x *Index) Check(ctx context.Context) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		op, err := x.begin(ctx)
		if err != nil {
			yield(Difference{}, err)
			return
		}
		defer op.done()
		if op.db == nil {
			yield(Difference{}, ErrNoIndex)
			return
		}
		c := &checker{x: x, ctx: ctx, db: op.db, yield: func(d Difference) error {
			if !yield(d, nil) {
				return errStopped
			}
			return nil
		}}
		err = c.run()
		if err != nil && x.ruined(ctx, op.db, err) && ctx.Err() == nil {
			err = c.yield(Difference{Path: x.home.IndexDB(), What: damagedIndex})
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Difference{}, fmt.Errorf("check index: %w", inWords(err)))
		}
	}
}

// damagedIndex is what is wrong with a database that can't be read to its end.
const damagedIndex = "is damaged; gjc-index reindex --full makes it anew"

type checker struct {
	x     *Index
	ctx   context.Context
	db    *migrations.DB
	yield func(Difference) error
}

func (c *checker) run() error {
	if err := c.integrity(); err != nil {
		return err
	}
	w, err := c.x.walk(c.ctx)
	if err != nil {
		return err
	}
	for _, scope := range sortedKeys(w.failed) {
		if err := c.yield(Difference{Path: w.path(scope, ""), What: w.failed[scope]}); err != nil {
			return err
		}
	}
	p, err := makePlan(c.ctx, c.db, w)
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for i := range p.jobs {
		j := &p.jobs[i]
		what := "has changed since it was indexed"
		switch j.why {
		case isNew:
			what = "is not in the index"
		case isGone:
			what = "is in the index and not on disk"
		case mayHave:
			continue // its rows are compared
		}
		changed[j.path] = true
		if err := c.yield(Difference{Path: j.path, What: what}); err != nil {
			return err
		}
	}
	all := everything(w)
	jobs := all.jobs[:0]
	for _, j := range all.jobs {
		if !changed[j.path] {
			jobs = append(jobs, j)
		}
	}
	if err := c.x.pipe(c.ctx, nil, jobs, c.file); err != nil {
		return err
	}
	return c.history()
}

// integrity asks SQLite about its own structures.
func (c *checker) integrity() error {
	if err := c.db.CheckSchema(c.ctx); err != nil {
		return err
	}
	var faults []string
	if err := c.db.SelectContext(c.ctx, &faults, `PRAGMA quick_check`); err != nil {
		return err
	}
	if len(faults) == 1 && faults[0] == "ok" {
		return nil
	}
	if err := c.yield(Difference{Path: c.x.home.IndexDB(), What: damagedIndex}); err != nil {
		return err
	}
	return errStopped // nothing that its rows say means anything now
}

// file compares the rows of one file with a reading of it.
func (c *checker) file(o *outcome) error {
	if o.reading == nil {
		return nil // it vanished since the walk
	}
	key, there, err := c.session(o)
	if err != nil || key == 0 {
		return err
	}
	r := o.reading
	var entries, patches, labels, usage, refs, packs, prompts [][]any
	for i := range r.rows.len() {
		e := r.rows.at(i)
		entries = append(entries, e.values(key)[1:])
		if e.use > 0 {
			usage = append(usage, r.use.at(int(e.use) - 1).values(key)[1:])
		}
		if p, ok := r.patches[int(e.seq)]; ok {
			patches = append(patches, p.values(key)[1:])
		}
	}
	for i := range r.labels {
		labels = append(labels, r.labels[i].values(key)[1:])
	}
	if pack := r.spent.pack(); pack != nil {
		packs = append(packs, []any{pack})
	}
	for _, sum := range r.sums() {
		refs = append(refs, []any{sum})
	}
	for i := range r.prompts {
		if r.prompts[i].text != "" { // as the writer of prompts has it
			prompts = append(prompts, r.prompts[i].values(r))
		}
	}
	slices.SortFunc(prompts, func(a, b []any) int { // id, line, time, workspace, text
		return cmp.Or(cmp.Compare(a[1].(int), b[1].(int)), cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[4].(string), b[4].(string)))
	})
	for i, t := range [len(checkedTables)]struct {
		what  string
		want  [][]any
		query string
	}{
		{"entry", entries, `SELECT seq, id, parent, parent_seq, run, type, role, time_ms, line, offset, size, state, gap
			FROM entries WHERE session = ? ORDER BY seq`},
		{"patch", patches, `SELECT seq, line, offset, size FROM patches WHERE session = ? ORDER BY seq`},
		{"label", labels, `SELECT seq, target, label, current FROM labels WHERE session = ? ORDER BY seq`},
		{"usage", usage, `SELECT seq, time_ms, provider, model, input, output, cache_read, cache_write, cost, premium, stop
			FROM usage WHERE session = ? ORDER BY seq`},
		{"usage pack", packs, `SELECT pack FROM usage_packs WHERE session = ?`},
		{"blob reference", refs, `SELECT sum FROM refs WHERE session = ? ORDER BY sum`},
		{"archived entry", withoutKey(o.archivedValues(key)), `SELECT seq, file, run, id, parent, type, role, time_ms, line, offset, size
			FROM archived WHERE session = ? ORDER BY seq`},
		{"changed file", withoutKey(r.touchedValues(key)), `SELECT seq, path, file, creates, writes, edits, deletes, renames, first, last, entry
			FROM touched WHERE session = ? ORDER BY seq`},
		{"open call", withoutKey(r.callValues(key)), `SELECT seq, id, tool, path FROM open_calls WHERE session = ? ORDER BY seq`},
		{"prompt", prompts, `
			SELECT p.entry, p.line, p.time_ms, d.cwd, t.text
			FROM prompts p LEFT JOIN prompt_cwds d ON d.id = p.cwd LEFT JOIN prompt_texts t ON t.key = p.text_at
			WHERE p.session = ? ORDER BY p.line, p.entry, t.text`},
	} {
		if len(t.want) == 0 && !there[i] {
			continue
		}
		if err := c.table(o.path, t.what, t.want, t.query, key); err != nil {
			return err
		}
	}
	return nil
}

// withoutKey are rows without the session's key, which comes first.
func withoutKey(rows [][]any) [][]any {
	for i := range rows {
		rows[i] = rows[i][1:]
	}
	return rows
}

// checkedTables are those whose rows a file's reading tells, and the column that
// names the file, in the order in which they are compared.
var checkedTables = [...][2]string{{"entries", "session"}, {"patches", "session"}, {"labels", "session"}, {"usage", "session"},
	{"usage_packs", "session"}, {"refs", "session"}, {"archived", "session"}, {"touched", "session"}, {"open_calls", "session"},
	{"prompts", "session"}}

// valueColumns are the columns of sessionValues.
const valueColumns = `at_offset, at_line, at_malformed, at_sum, state, reason, s.id, version, cwd, parent, child, created_ms, last_ms,
		active_ms, messages, entries, seconds, malformed, recovered, title, title_source, first_prompt`

// sessionQuery also says which tables have rows of the session: most files of a
// home of damaged ones have none, and need no further look.
var sessionQuery = func() string {
	q := "SELECT s.key"
	for _, t := range checkedTables {
		q += ", EXISTS (SELECT 1 FROM " + t[0] + " WHERE " + t[0] + "." + t[1] + " = s.key)"
	}
	return q + ", " + valueColumns + " FROM sessions s JOIN scopes c ON c.id = s.scope WHERE c.name = ? AND s.name = ?"
}()

// session compares a session's own row, and says which of checkedTables have
// rows of it; key is 0 if there is none.
func (c *checker) session(o *outcome) (key int64, there [len(checkedTables)]bool, err error) {
	scope, name, err := c.x.locate(o.path)
	if err != nil {
		return 0, there, err
	}
	rows, err := c.query(sessionQuery, scope, name)
	if err != nil {
		return 0, there, err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return 0, there, errors.Join(rows.Err(), c.yield(Difference{Path: o.path, What: "is not in the index"}))
	}
	got, err := rows.SliceScan()
	if err != nil {
		return 0, there, err
	}
	key, _ = got[0].(int64)
	for i := range there {
		n, _ := got[1+i].(int64)
		there[i] = n != 0
	}
	if want := o.sessionValues(); rowText(want) != rowText(got[1+len(there):]) {
		return key, there, c.yield(Difference{Path: o.path, What: "session row differs from the file"})
	}
	return key, there, nil
}

// query runs a statement that is prepared once: a check asks the same of each
// file.
func (c *checker) query(text string, args ...any) (*sqlx.Rows, error) {
	stmt, err := c.db.Prepared(c.ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryxContext(c.ctx, args...)
}

// table compares rows, both in file order.
func (c *checker) table(path, what string, want [][]any, query string, key int64) error {
	rows, err := c.query(query, key)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	at := 0
	for ; rows.Next(); at++ {
		got, err := rows.SliceScan()
		if err != nil {
			return err
		}
		if at < len(want) && rowText(want[at]) != rowText(got) {
			if err := c.yield(Difference{Path: path, What: fmt.Sprintf("%s %d differs from the file", what, at)}); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if at != len(want) {
		return c.yield(Difference{Path: path, What: fmt.Sprintf("%d %s rows, the file has %d", at, what, len(want))})
	}
	return nil
}

// history compares the rows of history.db.
func (c *checker) history() error {
	p, err := c.x.wholeHistory(c.ctx)
	if err != nil || p == nil {
		return err
	}
	var want [][]any
	for row, err := range p.rows(c.ctx) {
		if err != nil {
			return err
		}
		prompt := historyPrompt(&row)
		want = append(want, []any{prompt.Row, prompt.Time, prompt.Cwd, textSum(prompt.Text)})
	}
	return c.table(c.x.home.HistoryDB(), "prompt", want,
		`SELECT p.text_at, p.time_ms, d.cwd, p.sum FROM prompts p LEFT JOIN prompt_cwds d ON d.id = p.cwd
		WHERE coalesce(p.session, 0) = ? ORDER BY p.text_at`, historyFile)
}
