package index

import (
	"cmp"
	"database/sql"
	"slices"

	"github.com/jmoiron/sqlx"
)

// Places of prompts.
//
// The ids of prompts ascend with time, so that the newest come first without a
// sort, and lie close to each other, so that the lists of FTS5 are short. Nearly
// all prompts are newer than those before and are given ids after the last one.
// One that comes late is put between its neighbours; if no id is left there, the
// prompts around are given ids further apart, as few of them as will do. Where
// very many come late, all are numbered anew.

const (
	bulkStride = 2 // what a build leaves between ids
	liveStride = 8 // what comes later leaves more: there most late ones belong
	// manyLate late prompts are too many to be placed one by one, if they are
	// more than this part of all.
	manyLate, lateShare = 64, 8
	// staleMost is how many prompts there may be in FTS5 alone.
	staleMost = 1000
	// manyPrompts are worth a large buffer of FTS5.
	manyPrompts = 10_000
)

// compare orders prompts by time; those of one time by what depends on the files
// alone.
func (d *doc) compare(e *doc) int {
	if c := cmp.Compare(d.time, e.time); c != 0 {
		return c
	}
	switch {
	case d.who == nil && e.who == nil:
		return cmp.Compare(d.textAt, e.textAt)
	case d.who == nil:
		return -1
	case e.who == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(d.who.session, e.who.session), cmp.Compare(d.line, e.line), cmp.Compare(d.who.entry, e.who.entry))
}

// placing gives the prompts of a writer their places, in one transaction.
type placing struct {
	w   *promptWriter
	tx  *sqlx.Tx
	now map[int64]*doc // prompts placed or moved, by the ids they have in the table
	at  map[*doc]int64 // those ids
}

// place puts the queue into the table, and gives the prompts whose words FTS5
// does not have, or not under their ids, in the order of ids.
func (w *promptWriter) place(tx *sqlx.Tx) ([]*doc, error) {
	queue := make([]*doc, len(w.queue))
	for i := range w.queue {
		queue[i] = &w.queue[i]
	}
	slices.SortFunc(queue, (*doc).compare)
	anew, err := w.tooStale(tx)
	if err != nil {
		return nil, err
	}
	p := &placing{w: w, tx: tx, now: map[int64]*doc{}, at: map[*doc]int64{}}
	if anew {
		return p.renumber(queue)
	}
	if len(queue) == 0 {
		return nil, nil
	}
	last, err := p.row(`ORDER BY p.id DESC LIMIT 1`)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return p.renumber(queue)
	}
	late, _ := slices.BinarySearchFunc(queue, last, (*doc).compare)
	if late > manyLate {
		var all int
		if err := tx.Get(&all, `SELECT count(*) FROM prompts`); err != nil {
			return nil, err
		}
		if late > all/lateShare {
			return p.renumber(queue)
		}
	}
	if err := p.between(queue[:late]); err != nil {
		return nil, err
	}
	newer := queue[late:]
	if len(newer) > 0 && late > 0 {
		if last, err = p.row(`ORDER BY p.id DESC LIMIT 1`); err != nil {
			return nil, err
		}
	}
	for i, d := range newer {
		d.id = last.id + int64(i+1)*liveStride
	}
	if err := w.insertDocs(tx, newer); err != nil {
		return nil, err
	}
	return append(p.placed(), newer...), nil
}

// tooStale notes how many prompts removed FTS5 still has, and reports whether
// they are so many that it is to be made anew.
func (w *promptWriter) tooStale(tx *sqlx.Tx) (bool, error) {
	if w.stale == 0 {
		return false, nil
	}
	var stale, all int64
	err := tx.QueryRow(`
		SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'stale'), 0),
		       (SELECT count(*) FROM prompts)`).Scan(&stale, &all)
	if err != nil {
		return false, err
	}
	stale += w.stale
	_, err = tx.Exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('stale', CAST(? AS TEXT))`, stale)
	return stale > max(staleMost, all), err
}

// placed are the prompts that were placed or moved.
func (p *placing) placed() []*doc {
	docs := make([]*doc, 0, len(p.now))
	for _, d := range p.now {
		docs = append(docs, d)
	}
	slices.SortFunc(docs, func(a, b *doc) int { return cmp.Compare(a.id, b.id) })
	return docs
}

// renumber gives all prompts ids anew. What finds them is emptied.
func (p *placing) renumber(queue []*doc) ([]*doc, error) {
	old, err := p.list(`ORDER BY p.id`)
	if err != nil {
		return nil, err
	}
	all := queue
	if len(old) > 0 {
		all = append(old, queue...)
		slices.SortStableFunc(all, (*doc).compare)
	}
	for i, d := range all {
		d.id, d.indexed = int64(i)*bulkStride, false
	}
	p.w.removed, p.w.stale = nil, 0
	p.w.bulk = p.w.bulk || len(all) > manyPrompts
	if err := clearFinders(p.tx); err != nil {
		return nil, err
	}
	indexes, err := p.dropIndexes()
	if err != nil {
		return nil, err
	}
	if _, err := p.tx.Exec(`DELETE FROM prompts`); err != nil {
		return nil, err
	}
	if err := p.w.insertDocs(p.tx, all); err != nil {
		return nil, err
	}
	for _, statement := range indexes {
		if _, err := p.tx.Exec(statement); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// dropIndexes drops the indexes of prompts, which are smaller and sooner there if
// they are made of all rows at once, and gives the statements that make them.
func (p *placing) dropIndexes() ([]string, error) {
	var list []struct {
		Name string `db:"name"`
		SQL  string `db:"sql"`
	}
	err := p.tx.Select(&list, `
		SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'prompts' AND sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	var statements []string
	for _, index := range list {
		if _, err := p.tx.Exec(`DROP INDEX "` + index.Name + `"`); err != nil {
			return nil, err
		}
		statements = append(statements, index.SQL)
	}
	return statements, nil
}

// between puts late prompts, in order, among those that are there; one of these
// is newer than all of them.
func (p *placing) between(late []*doc) error {
	for len(late) > 0 {
		next, err := p.after(late[0])
		if err != nil {
			return err
		}
		n := 1
		for n < len(late) && late[n].compare(next) < 0 {
			n++
		}
		if err := p.before(next, late[:n]); err != nil {
			return err
		}
		late = late[n:]
	}
	return nil
}

// after is the first prompt in the table that comes after d. There is one.
func (p *placing) after(d *doc) (next *doc, err error) {
	var low, high int64
	if err := p.tx.QueryRow(`SELECT min(id), max(id) FROM prompts`).Scan(&low, &high); err != nil {
		return nil, err
	}
	for low <= high {
		middle := low + (high-low)/2
		row, err := p.row(`WHERE p.id >= ? ORDER BY p.id LIMIT 1`, middle)
		switch {
		case err != nil:
			return nil, err
		case row.compare(d) > 0:
			next, high = row, middle-1
		default:
			low = row.id + 1
		}
	}
	return next, nil
}

// before puts prompts right before one that is there.
func (p *placing) before(next *doc, docs []*doc) error {
	n := int64(len(docs))
	left, err := p.row(`WHERE p.id < ? ORDER BY p.id DESC LIMIT 1`, next.id)
	if err != nil {
		return err
	}
	if left == nil {
		for i, d := range docs {
			d.id = next.id - (n-int64(i))*liveStride
		}
		return p.move(docs)
	}
	if next.id-left.id-1 >= n {
		return p.move(spread(docs, left.id, next.id))
	}
	for around := max(8, len(docs)); ; around *= 2 {
		left, err := p.list(`WHERE p.id < ? ORDER BY p.id DESC LIMIT ?`, next.id, around+1)
		if err != nil {
			return err
		}
		right, err := p.list(`WHERE p.id >= ? ORDER BY p.id LIMIT ?`, next.id, around+1)
		if err != nil {
			return err
		}
		// Beyond the first and the last prompt all ids are free.
		low := left[len(left)-1].id
		high := right[len(right)-1].id
		all := int64(len(left) + len(docs) + len(right))
		if len(left) <= around {
			low -= all*liveStride + 1
		} else {
			left = left[:around]
		}
		if len(right) <= around {
			high += all*liveStride + 1
		} else {
			right = right[:around]
		}
		slices.Reverse(left)
		window := slices.Concat(left, docs, right)
		if n := int64(len(window)); high-low-1 >= n+n/4 {
			return p.move(spread(window, low, high))
		}
	}
}

// spread gives prompts ids between low and high, evenly.
func spread(docs []*doc, low, high int64) []*doc {
	step := (high - low) / int64(len(docs)+1)
	for i, d := range docs {
		d.id = low + int64(i+1)*step
	}
	return docs
}

// move puts prompts that have new ids into the table, away from the old ones.
func (p *placing) move(docs []*doc) error {
	var old []int64
	var moved []*doc
	for _, d := range docs {
		at, there := p.at[d]
		if !there {
			at, there = d.was, d.indexed
		}
		if there {
			if at == d.id {
				continue
			}
			old = append(old, at)
			delete(p.now, at)
		}
		moved = append(moved, d)
	}
	if len(old) > 0 {
		if _, err := p.tx.Exec(`DELETE FROM prompts WHERE id IN (SELECT value FROM json_each(?))`, jsonList(old)); err != nil {
			return err
		}
	}
	for _, d := range moved {
		p.now[d.id], p.at[d] = d, d.id
	}
	return p.w.insertDocs(p.tx, moved)
}

// row is the first prompt that list gives; nil if there is none.
func (p *placing) row(which string, args ...any) (*doc, error) {
	docs, err := p.list(which, args...)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], nil
}

// list gives prompts of the table. One that was placed or moved is the same as
// then.
func (p *placing) list(which string, args ...any) ([]*doc, error) {
	rows, err := p.tx.Query(`
		SELECT p.id, p.session, p.text_at, coalesce(p.entry, ''), coalesce(p.line, 0), p.time_ms, p.cwd, p.sum, coalesce(s.id, '')
		FROM prompts p LEFT JOIN sessions s ON s.key = p.session `+which, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var docs []*doc
	for rows.Next() {
		var session sql.NullInt64
		var who author
		var cwd int64
		d := &doc{indexed: true}
		if err := rows.Scan(&d.id, &session, &d.textAt, &who.entry, &d.line, &d.time, &cwd, &d.sum, &who.session); err != nil {
			return nil, err
		}
		if same := p.now[d.id]; same != nil {
			docs = append(docs, same)
			continue
		}
		d.was, d.cwd = d.id, p.w.cwds.stored(cwd)
		if session.Valid {
			d.file, d.who = session.Int64, &who
		}
		docs = append(docs, d)
	}
	return docs, rows.Err()
}
