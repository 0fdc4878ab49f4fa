package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/migrations"
)

// historyFile is the key that the rows of history.db have for their file.
const historyFile = 0

// historyState is what the database knows of history.db.
type historyState struct {
	Stamp history.Stamp
	Racy  bool // it may change again without its stamp telling
	Rows  history.Fingerprint
}

// historyPlan is what has to be done about the rows of history.db.
type historyPlan struct {
	state   historyState
	replace bool // rows are all that there are
	rows    []history.Prompt
}

// planHistory compares history.db with what is known of it; nil if it is as it
// was, or can't be read now.
func (x *Index) planHistory(ctx context.Context, db *migrations.DB) (*historyPlan, error) {
	var had historyState
	var text string
	err := db.GetContext(ctx, &text, `SELECT value FROM meta WHERE name = 'history'`)
	if err == nil {
		err = json.Unmarshal([]byte(text), &had)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	stamp, err := history.StampOf(x.fsys, x.home.HistoryDB())
	if err != nil {
		x.note("history can't be read: " + reasonOf(err))
		return nil, nil
	}
	if stamp == had.Stamp && !had.Racy {
		return nil, nil
	}
	return x.readHistory(ctx, &had)
}

// wholeHistory reads all rows of history.db.
func (x *Index) wholeHistory(ctx context.Context) (*historyPlan, error) {
	return x.readHistory(ctx, nil)
}

// readHistory reads the rows that were added since had, or all.
func (x *Index) readHistory(ctx context.Context, had *historyState) (p *historyPlan, err error) {
	path := x.home.HistoryDB()
	p = &historyPlan{}
	now := x.opt.Now().UnixNano()
	h, err := history.Open(ctx, x.fsys, path, history.Options{ReadOnly: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.replace = true
		return p, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		x.note("history can't be read: " + reasonOf(err))
		return nil, nil
	}
	err = p.read(ctx, h, had)
	err = errors.Join(err, h.Close())
	if err == nil {
		p.state.Stamp, err = history.StampOf(x.fsys, path)
	}
	if err != nil {
		if ctx.Err() == nil {
			x.note("history can't be read: " + reasonOf(err))
			return nil, nil
		}
		return nil, err
	}
	p.state.Racy = p.state.Stamp.Newest() > now-int64(x.tick())
	return p, nil
}

// read takes the rows; only the new ones if the others are as they were.
func (p *historyPlan) read(ctx context.Context, h *history.Store, had *historyState) error {
	rows, err := h.Fingerprint(ctx)
	if err != nil {
		return err
	}
	p.state.Rows = rows
	if had != nil && rows == had.Rows {
		return nil
	}
	if had != nil && rows.Count > had.Rows.Count {
		sum := had.Rows
		for row, err := range h.Rows(ctx, had.Rows.MaxID) {
			if err != nil {
				return err
			}
			p.rows = append(p.rows, row)
			sum.Count++
			sum.MaxID = row.ID
		}
		if sum == rows {
			return nil
		}
	}
	p.replace, p.rows = true, nil
	for row, err := range h.Rows(ctx, 0) {
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row)
	}
	return nil
}

// write carries the plan out.
func (p *historyPlan) write(ctx context.Context, w *writer, rep *Report) error {
	rows := make([]Prompt, len(p.rows))
	for i := range p.rows {
		rows[i] = historyPrompt(&p.rows[i])
	}
	rep.Prompts = len(rows)
	if p.replace {
		var err error
		if rep.Prompts, err = w.prompts.SetFile(w.tx, historyFile, rows); err != nil {
			return err
		}
	} else {
		for _, row := range rows {
			w.prompts.Add(row)
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
	p := Prompt{Source: SourceHistory, FileKey: historyFile, EntryID: strconv.FormatInt(row.ID, 10),
		Time: row.Time.UnixMilli(), Text: row.Text, Rowid: promptRowid(row.Time.UnixMilli(), uint32(row.ID))}
	if row.Cwd != nil {
		p.Cwd = *row.Cwd
	}
	return p
}
