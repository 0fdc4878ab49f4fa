package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
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
	h, err := history.Open(ctx, x.fsys, path, history.Options{ReadOnly: true})
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
	err = p.read(ctx, h, had)
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
	if had != nil && rows == had.Rows {
		p.none = true
		return nil
	}
	if had != nil && rows.Count > had.Rows.Count {
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
		h, err := history.Open(ctx, p.x.fsys, p.x.home.HistoryDB(), history.Options{ReadOnly: true})
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
	var kept []Prompt
	if p.replace && !p.few {
		if err := w.prompts.RemoveFile(w.tx, historyFile); err != nil {
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
		rep.Prompts++
		if p.few {
			kept = append(kept, historyPrompt(&row))
			continue
		}
		w.prompts.Add(historyPrompt(&row))
		if err := w.prompts.SpillTo(w.tx); err != nil {
			return err
		}
	}
	if p.few {
		var err error
		if rep.Prompts, err = w.prompts.SetFile(w.tx, historyFile, kept); err != nil {
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
	p := Prompt{Source: SourceHistory, FileKey: historyFile, EntryID: strconv.FormatInt(row.ID, 10),
		Time: row.Time.UnixMilli(), Text: row.Text, Rowid: promptRowid(row.Time.UnixMilli(), uint32(row.ID))}
	if row.Cwd != nil {
		p.Cwd = *row.Cwd
	}
	return p
}
