package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

// historyFile is the key that the rows of history.db have for their file.
const historyFile = 0

// historyState is what the database knows of history.db.
type historyState struct {
	Stamp history.Stamp
	Racy  bool // it may change again without its stamp telling
	Rows  history.Fingerprint
	// NoneDeleted says that no text was deleted from it on purpose, so that
	// searches need not look.
	NoneDeleted bool
}

// historyPlan is what has to be done about the rows of history.db.
type historyPlan struct {
	x       *Index
	state   historyState
	replace bool  // drop all rows first
	since   int64 // rows with a higher id are to be added
	none    bool  // there are none to be added
	few     bool  // with replace: most rows are there already and stay
	inode   uint64
}

// planHistory compares history.db with what is known of it; nil if it is as it
// was, or can't be read now.
func (x *Index) planHistory(ctx context.Context, db *migrations.DB) (*historyPlan, error) {
	had, err := storedHistory(ctx, db)
	if err != nil {
		return nil, err
	}
	stamp, err := history.StampOf(x.fsys, x.home.HistoryDB())
	if err != nil {
		x.noHistory(err)
		return nil, nil
	}
	if stamp == had.Stamp && !had.Racy {
		return nil, nil
	}
	return x.readHistory(ctx, &had)
}

// storedHistory is what the database knows of history.db; the zero value if
// nothing.
func storedHistory(ctx context.Context, db *migrations.DB) (had historyState, err error) {
	var text string
	err = db.GetContext(ctx, &text, `SELECT value FROM meta WHERE name = 'history'`)
	if errors.Is(err, sql.ErrNoRows) {
		return had, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &had)
	}
	return had, err
}

// wholeHistory reads all rows of history.db.
func (x *Index) wholeHistory(ctx context.Context) (*historyPlan, error) {
	return x.readHistory(ctx, nil)
}

// readHistory reads the rows that were added since had, or all.
func (x *Index) readHistory(ctx context.Context, had *historyState) (p *historyPlan, err error) {
	path := x.home.HistoryDB()
	p = &historyPlan{x: x}
	now := x.opt.Now().UnixNano()
	h, err := x.openHistory(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.replace, p.none = true, true
		return p, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		x.noHistory(err)
		return nil, nil
	}
	stamp, err := history.StampOf(x.fsys, path)
	if p.inode = stamp.Inode; err == nil {
		err = p.read(ctx, h, had)
	}
	err = errors.Join(err, h.Close())
	if err == nil {
		p.state.Stamp, err = history.StampOf(x.fsys, path)
	}
	if err != nil {
		if ctx.Err() == nil {
			x.noHistory(err)
			return nil, nil
		}
		return nil, err
	}
	p.state.Racy = p.state.Stamp.Newest() > now-int64(x.tick())
	return p, nil
}

// read says which rows are to be taken; only the new ones if the others are as
// they were.
func (p *historyPlan) read(ctx context.Context, h *history.Store, had *historyState) error {
	rows, err := h.Fingerprint(ctx)
	if err != nil {
		return err
	}
	p.state.Rows = rows
	deleted, err := h.Tombstones(ctx)
	if err != nil {
		return err
	}
	p.state.NoneDeleted = len(deleted) == 0
	another := had != nil && had.Stamp.Inode != p.inode // its rows may have the ids of others
	if had != nil && rows == had.Rows && !another {
		p.none = true
		return nil
	}
	if had != nil && rows.Count > had.Rows.Count && !another {
		sum := had.Rows
		for row, err := range h.Rows(ctx, had.Rows.MaxID) {
			if err != nil {
				return err
			}
			sum.Count++
			sum.MaxID = row.ID
		}
		if sum == rows {
			p.since = had.Rows.MaxID
			return nil
		}
	}
	p.replace, p.few = true, had != nil && had.Rows.Count > 0
	return nil
}

// rows reads the rows to be added: they may be too many to keep.
func (p *historyPlan) rows(ctx context.Context) iter.Seq2[history.Prompt, error] {
	return func(yield func(history.Prompt, error) bool) {
		if p.none {
			return
		}
		h, err := p.x.openHistory(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(history.Prompt{}, err)
			return
		}
		defer func() { _ = h.Close() }() // read only
		for row, err := range h.Rows(ctx, p.since) {
			if err == nil && row.ID > p.state.Rows.MaxID {
				return // added since; the next refresh takes it
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// write carries the plan out. Of a history.db that can't be read to its end,
// what could be read is taken, and the next refresh tries again.
func (p *historyPlan) write(ctx context.Context, w *writer, rep *Report) error {
	var had *hadRows
	if p.replace {
		var err error
		if p.few {
			had, err = w.prompts.hadHistory(w.tx)
		} else {
			err = w.prompts.RemoveFile(w.tx, historyFile)
		}
		if err != nil {
			return err
		}
	}
	for row, err := range p.rows(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.x.noHistory(err)
			p.state = historyState{}
			break
		}
		prompt := historyPrompt(&row)
		if had.has(&prompt) {
			continue
		}
		rep.Prompts++
		w.prompts.Add(prompt)
		if err := w.prompts.SpillTo(w.tx); err != nil {
			return err
		}
	}
	if had != nil {
		gone := had.rest()
		rep.Prompts += len(gone)
		const remove = `DELETE FROM prompts WHERE id IN (SELECT value FROM json_each(?))`
		if err := w.prompts.removeRows(w.tx, remove, jsonList(gone)); err != nil {
			return err
		}
	}
	text, err := json.Marshal(p.state)
	if err != nil {
		return err
	}
	return setMeta(ctx, w.tx, "history", string(text))
}

// historyPrompt is a row of history.db as a prompt.
func historyPrompt(row *history.Prompt) Prompt {
	p := Prompt{Source: SourceHistory, FileKey: historyFile, Row: row.ID, Time: row.Time.UnixMilli(), Text: row.Text}
	if row.Cwd != nil {
		p.Cwd = *row.Cwd
	}
	return p
}

// hadRows are the rows of history.db that the database has, in the order of
// their ids there.
type hadRows struct {
	w    *promptWriter
	list []hadRow
	at   int
	gone []int64 // ids in prompts
}

type hadRow struct {
	id, row, time, sum int64
	cwd                int32
}

// hadHistory reads what the database has of history.db.
func (w *promptWriter) hadHistory(tx *sqlx.Tx) (*hadRows, error) {
	rows, err := tx.Query(`
		SELECT p.id, p.text_at, p.time_ms, p.sum, c.cwd FROM prompts p JOIN prompt_cwds c ON c.id = p.cwd
		WHERE p.session IS NULL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	had := &hadRows{w: w}
	for rows.Next() {
		var r hadRow
		var cwd string
		if err := rows.Scan(&r.id, &r.row, &r.time, &r.sum, &cwd); err != nil {
			return nil, err
		}
		r.cwd = w.cwds.named(cwd)
		had.list = append(had.list, r)
	}
	slices.SortFunc(had.list, func(a, b hadRow) int { return cmp.Compare(a.row, b.row) })
	return had, rows.Err()
}

// has reports whether a row is there as it is now; false for nil. Rows must come
// in the order of their ids.
func (h *hadRows) has(p *Prompt) bool {
	if h == nil {
		return false
	}
	for ; h.at < len(h.list) && h.list[h.at].row <= p.Row; h.at++ {
		r := &h.list[h.at]
		if r.row == p.Row && r.time == p.Time && r.cwd == h.w.cwds.named(p.Cwd) && r.sum == textSum(p.Text) {
			h.at++
			return true
		}
		h.gone = append(h.gone, r.id)
	}
	return false
}

// rest gives the ids in prompts of the rows that are there no more.
func (h *hadRows) rest() []int64 {
	for ; h.at < len(h.list); h.at++ {
		h.gone = append(h.gone, h.list[h.at].id)
	}
	return h.gone
}
